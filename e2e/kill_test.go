package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/report"
)

// browserPID finds the main process of the browser that keeps its profile under temp: the one whose parent is no
// such process itself.
func browserPID(temp string) int {
	all := map[int]int{} // pid to parent
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		if !strings.Contains(string(raw), temp) || !strings.Contains(string(raw), "--user-data-dir") {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(f), "stat"))
		if err != nil {
			continue
		}
		all[pid], _ = strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
	}
	for pid, parent := range all {
		if _, child := all[parent]; !child {
			return pid
		}
	}
	return 0
}

// kill -9 of the browser in the middle of a job: the job succeeds on a new one, and nobody's health moved.
func TestAKilledBrowserCostsAnAttempt(t *testing.T) {
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		jobs := w.load(t, header("")+product("j", "ada", "https://shop.test/product/p-1?fault=slow&ms=3000&first=1&key=slow")+
			product("after", "ada", "https://shop.test/product/p-2"))
		killed := make(chan int, 1)
		go func() {
			// The page was asked for and has not come: this is the middle of the job.
			for len(w.set.Shop.Visits("slow")) == 0 {
				select {
				case <-t.Context().Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
			pid := browserPID(w.temp)
			if pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			killed <- pid
		}()
		o := w.run(t.Context(), t, 1, jobs)
		require.Positive(t, <-killed)
		r := o.results["j"]
		require.Equal(t, report.Useful, r.State, "%s", r.Error)
		require.Equal(t, 2, r.Attempts)
		require.Zero(t, r.RouteChanges)
		require.Len(t, r.Exits, 1, "the exit is as good as before")
		require.Equal(t, r.Exits, o.results["after"].Exits)
		first := o.attempts("j")[0]
		require.Equal(t, classify.BrowserCrashed, first.Verdict.Class)
		require.Equal(t, classify.BlameWorker, first.Verdict.Blamed)
		for _, e := range o.events {
			if e.Event == report.EventReport && e.Attempt == 1 && e.Job == "j" {
				require.Equal(t, "retry_browser", e.Decision)
				require.Equal(t, "worker", e.Outcome)
			}
		}
	})
}
