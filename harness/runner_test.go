package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/report"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/identity"
)

const good = `<html><body><h1 id="name">Lamp</h1></body></html>`

func page(url string, status int) *drivers.Response {
	return &drivers.Response{URL: url, Status: status, MIMEType: "text/html", Header: drivers.Header{}}
}

// job goes to one address and wants #name there.
func job(id, who, url string) jobfile.Job {
	return jobfile.Job{
		ID: id, Identity: identity.ID(who), Origin: "shop.test",
		Steps:  []jobfile.Step{{Verb: jobfile.Goto, URL: url}},
		Expect: classify.Expectation{Marker: "#name", Records: &classify.RecordsSpec{Each: "body", Fields: map[string]classify.FieldSpec{"name": {CSS: "#name"}}}},
		Intent: scheduler.Intent{Mode: scheduler.Windowed}, Trace: jobfile.Trace{Failed: true},
	}
}

// run executes jobs with the fake browser and checks what always holds.
func run(ctx context.Context, t *testing.T, d *fakeDriver, out string, concurrency int, jobs ...jobfile.Job) *harness.Execution {
	t.Helper()
	ex, err := harness.Execute(ctx, harness.Plan{
		Config: config.Default(), Driver: d, Jobs: jobs, Out: out, Concurrency: concurrency,
	}, func(harness.Totals, error) int { return 0 })
	require.NoError(t, err)
	require.NoError(t, ex.Folder.Close())
	tot := ex.Totals
	require.Equal(t, len(jobs), tot.Accepted)
	require.Equal(t, tot.Accepted, tot.Useful+tot.Failed+tot.Denied+tot.Review+tot.Cancelled, "accepted = terminal states")
	require.Zero(t, d.contexts, "every context is closed")
	return ex
}

func results(t *testing.T, out string) map[string]report.Result {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, "results.jsonl"))
	require.NoError(t, err)
	all := map[string]report.Result{}
	for line := range strings.Lines(string(raw)) {
		var r report.Result
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.NotContains(t, all, r.Job, "one result a job")
		all[r.Job] = r
	}
	return all
}

func TestEveryJobEndsOnce(t *testing.T) {
	d := &fakeDriver{visit: func(url string) (*drivers.Response, string, error) {
		if strings.HasSuffix(url, "/gone") {
			return page(url, 410), "gone", nil
		}
		return page(url, 200), good, nil
	}}
	var jobs []jobfile.Job
	for i := range 40 {
		url := "http://shop.test/ok"
		if i%4 == 0 {
			url = "http://shop.test/gone"
		}
		jobs = append(jobs, job(fmt.Sprint("j", i), fmt.Sprint("id-", i%5), url))
	}
	out := t.TempDir()
	ex := run(t.Context(), t, d, out, 4, jobs...)
	require.NoError(t, ex.Err)
	require.Equal(t, 30, ex.Totals.Useful)
	require.Equal(t, 10, ex.Totals.Failed)
	require.Len(t, results(t, out), 40)
	require.Equal(t, 1, d.launches)
}

func TestAPanicCostsItsOwnJob(t *testing.T) {
	d := &fakeDriver{visit: func(url string) (*drivers.Response, string, error) {
		if strings.HasSuffix(url, "/bug") {
			panic("a bug")
		}
		return page(url, 200), good, nil
	}}
	out := t.TempDir()
	ex := run(t.Context(), t, d, out, 2, job("bug", "a", "http://shop.test/bug"), job("after", "a", "http://shop.test/ok"), job("ok", "b", "http://shop.test/ok"))
	require.Equal(t, 2, ex.Totals.Useful)
	got := results(t, out)
	require.Equal(t, report.Failed, got["bug"].State)
	require.Contains(t, string(got["bug"].Error), "internal error")
}

func TestALostBrowserIsNobodysFaultButTheWorkers(t *testing.T) {
	var visits atomic.Int32
	d := &fakeDriver{}
	d.visit = func(url string) (*drivers.Response, string, error) {
		if visits.Add(1) == 1 {
			d.kill()
			return nil, "", &drivers.Error{Kind: drivers.BrowserLost, Op: "goto"}
		}
		return page(url, 200), good, nil
	}
	out := t.TempDir()
	ex := run(t.Context(), t, d, out, 1, job("j", "a", "http://shop.test/ok"))
	require.Equal(t, 1, ex.Totals.Useful)
	got := results(t, out)["j"]
	require.Equal(t, 2, got.Attempts)
	require.Zero(t, got.RouteChanges)
	require.Equal(t, 2, d.launches)
}

func TestAMachineWithoutABrowserStopsTheRun(t *testing.T) {
	d := &fakeDriver{failing: -1}
	_, err := harness.Execute(t.Context(), harness.Plan{Config: config.Default(), Driver: d, Jobs: []jobfile.Job{job("j", "a", "http://shop.test/")}, Out: t.TempDir()},
		func(harness.Totals, error) int { return 0 })
	require.ErrorAs(t, err, new(*harness.StartError))
}

func TestBrowsersThatStopStartingEndTheRun(t *testing.T) {
	d := &fakeDriver{}
	d.visit = func(string) (*drivers.Response, string, error) {
		d.kill()
		d.mu.Lock()
		d.failing = -1
		d.mu.Unlock()
		return nil, "", &drivers.Error{Kind: drivers.BrowserLost, Op: "goto"}
	}
	var jobs []jobfile.Job
	for i := range 20 {
		jobs = append(jobs, job(fmt.Sprint("j", i), fmt.Sprint("id-", i), "http://shop.test/ok"))
	}
	ex := run(t.Context(), t, d, t.TempDir(), 4, jobs...)
	require.ErrorIs(t, ex.Err, harness.ErrEngineLost)
	require.Positive(t, ex.Totals.Cancelled, "what was not tried runs again when the run is resumed")
}

func TestAnInterruptedRunIsResumed(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var visits atomic.Int32
	d := &fakeDriver{visit: func(url string) (*drivers.Response, string, error) {
		if visits.Add(1) == 3 {
			interrupt()
		}
		return page(url, 200), good, nil
	}}
	var jobs []jobfile.Job
	for i := range 10 {
		jobs = append(jobs, job(fmt.Sprint("j", i), "a", "http://shop.test/ok"))
	}
	out := t.TempDir()
	ex := run(ctx, t, d, out, 1, jobs...)
	require.ErrorIs(t, ex.Err, harness.ErrInterrupted)
	require.Positive(t, ex.Totals.Cancelled)
	done := ex.Totals.Useful

	again := run(t.Context(), t, d, out, 1, jobs...)
	require.NoError(t, again.Err)
	require.Equal(t, 10, again.Totals.Useful)
	require.Equal(t, int32(10), visits.Load(), "no finished job ran twice: %d were done", done)
	require.Len(t, results(t, out), 10)
}

func TestAScopeIsKeptBeforeAnyTraffic(t *testing.T) {
	d := &fakeDriver{visit: func(url string) (*drivers.Response, string, error) { return page(url, 200), good, nil }}
	outside := job("outside", "a", "http://other.test/")
	outside.Scope.Origins = []string{"shop.test"}
	expired := job("expired", "a", "http://shop.test/")
	expired.Scope.Expires = time.Now().Add(-time.Hour)
	led := job("led", "a", "http://shop.test/away")
	led.Scope.Origins = []string{"shop.test"}
	d.visit = func(url string) (*drivers.Response, string, error) {
		return page("http://elsewhere.test/", 200), good, nil
	}
	out := t.TempDir()
	ex := run(t.Context(), t, d, out, 1, outside, expired, led)
	require.Equal(t, 3, ex.Totals.Denied)
	for id, r := range results(t, out) {
		require.Equal(t, classify.PolicyDenied, r.Verdict.Class, id)
		require.Zero(t, r.Records, id)
	}
}

func TestEveryClassHasARuling(t *testing.T) {
	for _, c := range classify.All() {
		require.True(t, harness.HasRuling(c), string(c))
	}
}
