package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/chromedp"
	"github.com/limpet-dev/limpet/drivers/playwright"
	"github.com/limpet-dev/limpet/fixtures"
	"github.com/limpet-dev/limpet/harness"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/report"
)

// A world is a shop, a provider and one driver, as a user's machine has them.
type world struct {
	set    *fixtures.Set
	driver drivers.Driver
	config config.Config
	dir    string // for job files and output folders
	temp   string // where browsers keep their things
}

// eachDriver runs a test on both drivers: what is right on one is right on the other (field case FC05-08).
func eachDriver(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real browser")
	}
	for _, d := range []drivers.Driver{chromedp.New(), playwright.New(playwright.Config{DriverDir: "../drivers/playwright/node"})} {
		t.Run(d.Name(), func(t *testing.T) { test(t, newWorld(t, d)) })
	}
}

// newWorld starts the fixtures, and checks in the end that nothing of the browser is left.
func newWorld(t *testing.T, d drivers.Driver) *world {
	t.Helper()
	set, err := fixtures.Start(context.Background(), fixtures.Config{})
	require.NoError(t, err)
	w := &world{set: set, driver: d, dir: t.TempDir(), temp: t.TempDir()}
	files, err := set.WriteFiles(filepath.Join(w.dir, "config"))
	require.NoError(t, err)
	w.config, err = config.Load(t.Context(), config.Options{File: files.Config})
	require.NoError(t, err)
	w.config.Classify.InterstitialWait = 2 * time.Second
	t.Cleanup(func() {
		require.NoError(t, set.Close())
		left, err := os.ReadDir(w.temp)
		require.NoError(t, err)
		require.Empty(t, left, "folders left behind")
		require.Empty(t, processesWith(w.temp), "processes left behind")
	})
	return w
}

// processesWith lists the processes that have text in their command line.
func processesWith(text string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(raw), text) {
			found = append(found, filepath.Base(filepath.Dir(f))+" "+strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	return found
}

// load reads a job file from text.
func (w *world) load(t *testing.T, text string) []jobfile.Job {
	t.Helper()
	file := filepath.Join(w.dir, "jobs.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	p := w.set.Config()
	env := map[string]string{"SHOP_USER": p.ShopUser, "SHOP_PASS": p.ShopPass}
	jobs, err := jobfile.Load(jobfile.Options{Files: []string{file}, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	require.NoError(t, err)
	return jobs
}

// outcome is what a run left.
type outcome struct {
	ex      *harness.Execution
	out     string
	results map[string]report.Result
	records []report.Record
	events  []report.Event
}

// run works jobs and checks what always holds.
func (w *world) run(ctx context.Context, t *testing.T, concurrency int, jobs []jobfile.Job) outcome {
	t.Helper()
	out := t.TempDir()
	ex, err := harness.Execute(ctx, harness.Plan{
		Config: w.config, Driver: w.driver, Launch: w.launch(t), Jobs: jobs, Out: out, Concurrency: concurrency,
	}, func(harness.Totals, error) int { return 0 })
	require.NoError(t, err)
	require.NoError(t, ex.Folder.Close())
	tot := ex.Totals
	require.Equal(t, len(jobs), tot.Accepted)
	require.Equal(t, tot.Accepted, tot.Useful+tot.Failed+tot.Denied+tot.Review+tot.Cancelled, "accepted = terminal states")
	o := outcome{ex: ex, out: out, results: map[string]report.Result{}, records: lines[report.Record](t, out, "records.jsonl"), events: lines[report.Event](t, out, "events.jsonl")}
	for _, r := range lines[report.Result](t, out, "results.jsonl") {
		require.NotContains(t, o.results, r.Job, "one result a job")
		o.results[r.Job] = r
	}
	require.Len(t, o.results, len(jobs))
	for _, name := range []string{"summary.json", "report.html"} {
		require.FileExists(t, filepath.Join(out, name))
	}
	return o
}

func (w *world) launch(t *testing.T) drivers.LaunchOptions {
	t.Helper()
	spki, err := w.config.Browser.SPKI()
	require.NoError(t, err)
	return drivers.LaunchOptions{TempRoot: w.temp, TrustSPKI: spki}
}

// lines reads a JSONL file; every line must be whole.
func lines[T any](t *testing.T, dir, name string) []T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var all []T
	for line := range strings.Lines(string(raw)) {
		require.True(t, strings.HasSuffix(line, "\n"), "a torn line in %s: %q", name, line)
		var v T
		require.NoError(t, json.Unmarshal([]byte(line), &v), "%s: %s", name, line)
		all = append(all, v)
	}
	return all
}

// attempts are the attempt events of a job, in order.
func (o outcome) attempts(job string) []report.Event {
	var all []report.Event
	for _, e := range o.events {
		if e.Event == report.EventAttempt && e.Job == job {
			all = append(all, e)
		}
	}
	return all
}

// header is the part of a job file that tests share.
func header(extra string) string {
	return fmt.Sprintf(`version: 1
defaults:
  intent: { mode: windowed, country: DE, minutes: 10 }
  budget: { attempts: 3, route_changes: 2, elapsed: 60s, bytes: 200MB }
%s
jobs:
`, extra)
}

// product is a job that wants a product of the shop.
func product(id, who, url string) string {
	return fmt.Sprintf(`  - id: %s
    identity: { key: %s }
    steps: [{ goto: { url: "%s", timeout: 4s } }]
    expect:
      marker: "#name"
      geo: { currency: EUR }
      records: { each: main, fields: { name: "#name", price: { css: "#price", type: decimal } } }
`, id, who, url)
}
