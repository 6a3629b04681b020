package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers/chromedp"
	"github.com/limpet-dev/limpet/harness/report"
)

// binary builds the program once for all tests that run it.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "limpet-e2e-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "limpet")
	out, err := exec.Command("go", "build", "-o", path, "../cmd/limpet").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code) //nolint:forbidigo // the end of TestMain
}

// A process is a limpet that runs.
type process struct {
	*exec.Cmd

	errs *bytes.Buffer
	temp string
}

// start runs limpet against the world, as a process of its own.
func (w *world) start(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	p := &process{Cmd: exec.Command(path, args...), errs: &bytes.Buffer{}, temp: t.TempDir()}
	p.Stderr, p.Stdout = p.errs, &bytes.Buffer{}
	p.Env = append(os.Environ(), "TMPDIR="+p.temp) //nolint:forbidigo // of the process that a user starts
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// end waits for the process and answers its exit code.
func (p *process) end(t *testing.T) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.Wait() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("limpet does not end: %s", p.errs)
	}
	left, err := os.ReadDir(p.temp)
	require.NoError(t, err)
	require.Empty(t, left, "folders left behind")
	require.Empty(t, processesWith(p.temp), "processes left behind")
	return p.ProcessState.ExitCode()
}

// An interrupt keeps what is finished; the same command goes on where it stopped.
func TestAnInterruptedProcessResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real browser")
	}
	cases := map[string]struct {
		signal syscall.Signal
		code   int
	}{"Ctrl-C": {syscall.SIGINT, 130}, "SIGTERM": {syscall.SIGTERM, 143}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, chromedp.New())
			text := header("")
			for i := range 12 {
				text += product(fmt.Sprintf("j-%d", i), fmt.Sprintf("id-%d", i%2), fmt.Sprintf("https://shop.test/product/p-%d?fault=slow&ms=400", i))
			}
			w.load(t, text)
			out := filepath.Join(t.TempDir(), "out")
			args := []string{"run", filepath.Join(w.dir, "jobs.yaml"), "--config", filepath.Join(w.dir, "config", "limpet.yaml"), "--out", out}
			p := w.start(t, args...)
			require.Eventually(t, func() bool { return len(w.set.Shop.AllVisits()) > 8 }, time.Minute, 10*time.Millisecond)
			require.NoError(t, p.Process.Signal(c.signal))
			require.Equal(t, c.code, p.end(t), "%s", p.errs)
			done := 0
			for _, r := range lines[report.Result](t, out, "results.jsonl") {
				if r.State == report.Useful {
					done++
				}
			}
			require.Positive(t, done, "finished work is kept")
			require.Less(t, done, 12)

			p = w.start(t, args...)
			require.Equal(t, 0, p.end(t), "%s", p.errs)
			seen := map[string]bool{}
			for _, r := range lines[report.Result](t, out, "results.jsonl") {
				require.False(t, seen[r.Job], "one result a job")
				require.Equal(t, report.Useful, r.State)
				seen[r.Job] = true
			}
			require.Len(t, seen, 12)
			require.Len(t, lines[report.Record](t, out, "records.jsonl"), 12, "no record twice")
		})
	}
}

// A second signal does not wait for the page.
func TestASecondInterruptAborts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real browser")
	}
	w := newWorld(t, chromedp.New())
	w.load(t, header("")+`  - id: j
    identity: { key: ada }
    steps: [{ goto: { url: "https://shop.test/product/p-1?fault=never&key=k", timeout: 50s } }]
    expect: { marker: "#name" }
`)
	out := filepath.Join(t.TempDir(), "out")
	p := w.start(t, "run", filepath.Join(w.dir, "jobs.yaml"), "--config", filepath.Join(w.dir, "config", "limpet.yaml"), "--out", out)
	require.Eventually(t, func() bool { return len(w.set.Shop.Visits("k")) > 0 }, time.Minute, 10*time.Millisecond)
	began := time.Now()
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Eventually(t, func() bool {
		_ = p.Process.Signal(os.Interrupt) // until the first was taken, a second may fall together with it
		return p.Process.Signal(syscall.Signal(0)) != nil || time.Since(began) > 2*time.Second
	}, 30*time.Second, 200*time.Millisecond)
	require.Equal(t, 130, p.end(t), "%s", p.errs)
	require.Less(t, time.Since(began), 9*time.Second, "the grace of 10 s was not waited for")
	require.Equal(t, report.Cancelled, lines[report.Result](t, out, "results.jsonl")[0].State)
}

// kill -9 of limpet itself takes the browser along, and the folder can be resumed.
func TestAKilledProcessLeavesAResumableFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real browser")
	}
	w := newWorld(t, chromedp.New())
	text := header("")
	for i := range 8 {
		text += product(fmt.Sprintf("j-%d", i), "ada", fmt.Sprintf("https://shop.test/product/p-%d?fault=slow&ms=300", i))
	}
	w.load(t, text)
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"run", filepath.Join(w.dir, "jobs.yaml"), "--config", filepath.Join(w.dir, "config", "limpet.yaml"), "--out", out}
	p := w.start(t, args...)
	require.Eventually(t, func() bool { return len(w.set.Shop.AllVisits()) > 8 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, p.Process.Kill())
	_ = p.Wait()
	require.Eventually(t, func() bool { return len(processesWith(p.temp)) == 0 }, 30*time.Second, 50*time.Millisecond, "the browser outlives its parent")

	p = w.start(t, args...)
	require.Equal(t, 0, p.end(t), "%s", p.errs)
	require.Len(t, lines[report.Result](t, out, "results.jsonl"), 8)
	require.Len(t, lines[report.Record](t, out, "records.jsonl"), 8)
}
