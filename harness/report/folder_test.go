package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/report"
)

func open(t *testing.T, dir string) *report.Folder {
	t.Helper()
	f, err := report.Open(dir, report.Run{Hash: "h1", Files: []string{"shop.yaml"}, Driver: "chromedp", Started: begun}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// filled is a folder in which the sample run has ended.
func filled(t *testing.T, dir string) *report.Folder {
	t.Helper()
	f := open(t, dir)
	for _, j := range sample() {
		for _, e := range eventsOf(j) {
			require.NoError(t, f.Event(e))
		}
		require.NoError(t, f.Commit(j.result, j.records...))
	}
	return f
}

func lines(t *testing.T, dir, name string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	var all []map[string]any
	for l := range bytes.Lines(b) {
		require.True(t, bytes.HasSuffix(l, []byte("\n")), "whole lines")
		var v map[string]any
		require.NoError(t, json.Unmarshal(l, &v))
		all = append(all, v)
	}
	return all
}

func TestLinesHaveTheFieldsThatScriptsUse(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir)
	for name, fields := range map[string]string{
		"records.jsonl": "job identity origin url record attempt at",
		"results.jsonl": "job identity origin state verdict decision attempts route_changes records bytes_up bytes_down elapsed_ms exits trace error",
		"events.jsonl": "event at job attempt identity origin lease exit provider segment outcome verdict decision requested_country " +
			"observed_country status bytes_up bytes_down duration_ms",
	} {
		for _, line := range lines(t, dir, name) {
			for field := range strings.FieldsSeq(fields) {
				require.Contains(t, line, field, name)
			}
		}
	}
	results := lines(t, dir, "results.jsonl")
	byJob := map[any]map[string]any{}
	for _, r := range results {
		byJob[r["job"]] = r
	}
	require.Nil(t, byJob["price-a-1"]["trace"])
	require.Nil(t, byJob["price-a-1"]["error"])
	require.Equal(t, "traces/price-a-3-2.zip", byJob["price-a-3"]["trace"])
	require.Nil(t, byJob["stock-london"]["verdict"])
	require.Equal(t, []any{}, byJob["stock-london"]["exits"])
	verdict := byJob["price-a-3"]["verdict"].(map[string]any)
	for field := range strings.FieldsSeq("stage class vendor blamed confidence signals status final_url") {
		require.Contains(t, verdict, field)
	}
}

func TestACrashedRunIsResumedWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	f := filled(t, dir)
	require.NoError(t, f.Commit(report.Result{Job: "cut-short", State: report.Cancelled}))
	require.NoError(t, f.Close())
	// A crash between the records and the result of one job, and in the middle of a line.
	appendTo(t, dir, "records.jsonl", `{"job":"orphan","record":{"a":1}}`+"\n"+`{"job":"orph`)
	appendTo(t, dir, "results.jsonl", `{"job":"orphan","sta`)
	appendTo(t, dir, "events.jsonl", "\x00\x00\x00\n")
	const before = 9 // three useful jobs of three records

	again := open(t, dir)
	require.True(t, again.Resumed())
	done := again.Done()
	require.Len(t, done, 6)
	require.NotContains(t, done, "orphan")
	require.NotContains(t, done, "cut-short", "a cancelled job runs again")
	require.Equal(t, []string{"127.0.0.12", "127.0.0.15"}, done["price-a-3"].Exits)
	require.Equal(t, classify.Captcha, done["price-a-3"].Verdict.Class)
	require.Len(t, lines(t, dir, "records.jsonl"), before)
	require.Len(t, lines(t, dir, "results.jsonl"), 6)

	require.NoError(t, again.Commit(report.Result{Job: "cut-short", State: report.Useful, Records: 1}, report.Record{Job: "cut-short"}))
	require.Len(t, lines(t, dir, "results.jsonl"), 7)
	require.Len(t, lines(t, dir, "records.jsonl"), before+1)
}

func appendTo(t *testing.T, dir, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestAFolderOfAnotherRunIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, filled(t, dir).Close())
	before, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)

	_, err = report.Open(dir, report.Run{Hash: "h2"}, nil)
	var other *report.OtherRunError
	require.ErrorAs(t, err, &other)
	require.Equal(t, []string{"shop.yaml"}, other.Other.Files)
	require.ErrorContains(t, err, "--out")
	after, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	require.Equal(t, before, after)

	require.NoError(t, os.Remove(filepath.Join(dir, "run.json")))
	_, err = report.Open(dir, report.Run{Hash: "h1"}, nil)
	require.ErrorAs(t, err, &other, "results that say no run are somebody's all the same")
}

func TestAFolderInUseIsRefused(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	_, err := report.Open(dir, report.Run{Hash: "h1"}, nil)
	var used *report.InUseError
	require.ErrorAs(t, err, &used)
	require.NotEmpty(t, used.PID)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close(), "closing twice is fine")
	again := open(t, dir)
	require.NoError(t, again.Close())
	require.ErrorIs(t, again.Event(report.Event{}), os.ErrClosed)
}

func TestAFolderThatIsNoneIsSaidSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	_, err := report.Open(file, report.Run{Hash: "h"}, nil)
	require.ErrorContains(t, err, "is no folder")
	_, err = report.Open(filepath.Join(file, "deeper"), report.Run{Hash: "h"}, nil)
	require.ErrorContains(t, err, "is no folder")
	_, err = report.Open("/proc/limpet", report.Run{Hash: "h"}, nil)
	require.Error(t, err)
}

// A limit on the size of files makes a write end in its middle, as a full disk does, without a disk to fill.
func TestAWriteThatEndsInTheMiddleLeavesWholeLines(t *testing.T) {
	dir := t.TempDir()
	f := filled(t, dir)
	records, results := lines(t, dir, "records.jsonl"), lines(t, dir, "results.jsonl")
	info, err := os.Stat(filepath.Join(dir, "records.jsonl"))
	require.NoError(t, err)

	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit := syscall.Rlimit{Cur: uint64(info.Size()) + 20, Max: before.Max}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	err = f.Commit(report.Result{Job: "late", State: report.Useful, Records: 1}, report.Record{Job: "late", URL: strings.Repeat("x", 100)})
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))

	require.ErrorContains(t, err, "no space left")
	require.Equal(t, records, lines(t, dir, "records.jsonl"))
	require.Equal(t, results, lines(t, dir, "results.jsonl"))
	require.NotContains(t, f.Done(), "late")
	require.NoError(t, f.Commit(report.Result{Job: "late", State: report.Useful}), "there is room again")
}

func TestJobsAreCommittedFromManyGoroutines(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	var wg sync.WaitGroup
	for id := range strings.SplitSeq("abcdefghijklmnop", "") {
		wg.Go(func() {
			for range 20 {
				if err := f.Event(report.Event{Event: report.EventLease, Job: id}); err != nil {
					t.Error(err)
				}
			}
			if err := f.Commit(report.Result{Job: id, State: report.Useful, Records: 2}, report.Record{Job: id}, report.Record{Job: id}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, lines(t, dir, "results.jsonl"), 16)
	require.Len(t, lines(t, dir, "records.jsonl"), 32)
	require.Len(t, lines(t, dir, "events.jsonl"), 320)
	require.ErrorContains(t, f.Commit(report.Result{Job: "a", State: report.Failed}), "has ended before")
}

func TestEveryStringIsRedacted(t *testing.T) {
	dir := t.TempDir()
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	f, err := report.Open(dir, report.Run{Hash: "h", Files: []string{"a.yaml"}}, redact)
	require.NoError(t, err)
	v := verdict(classify.Captcha, "hunter2", 403, classify.Signal{Rule: "r", Where: "title hunter2"})
	require.NoError(t, f.Event(report.Event{Event: report.EventAttempt, Job: "j", Exit: "hunter2", Verdict: v, Reason: `"hunter2"`}))
	require.NoError(t, f.Commit(
		report.Result{Job: "j", Origin: "hunter2", State: report.Failed, Verdict: v, Exits: []string{"hunter2"}, Error: "says \"hunter2\" <b>", Records: 1},
		report.Record{Job: "j", URL: "http://x/?a=hunter2", Record: classify.Record{"hunter2": []any{"hunter2", 12.50}}}))
	_, err = f.Finish(report.Facts{})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 7)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		require.NotContains(t, string(b), "hunter2", e.Name())
	}
	require.Equal(t, `says "[redacted]" <b>`, lines(t, dir, "results.jsonl")[0]["error"])
}

func TestTracePathsAreSafeAndDistinct(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	abs, rel := f.TracePath("price-a-1", 2)
	require.Equal(t, "traces/price-a-1-2.zip", rel)
	require.Equal(t, filepath.Join(dir, "traces", "price-a-1-2.zip"), abs)
	var seen []string
	for _, id := range []string{"../../etc/passwd", "..", "a/b", "a_b", "a b", "-rf", "", "å", strings.Repeat("x", 500), strings.Repeat("x", 501)} {
		abs, rel := f.TracePath(id, 1)
		require.True(t, filepath.IsLocal(rel), id)
		require.Equal(t, "traces", filepath.Dir(rel), id)
		require.Less(t, len(filepath.Base(abs)), 200)
		require.NotContains(t, seen, rel)
		seen = append(seen, rel)
	}
	require.Len(t, slices.Compact(seen), 10)
}

func TestATracePathInsideTheFolderBecomesRelative(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	abs, rel := f.TracePath("j", 1)
	require.NoError(t, f.Commit(report.Result{Job: "j", State: report.Failed, Trace: report.Nullable(abs)}))
	require.Equal(t, rel, lines(t, dir, "results.jsonl")[0]["trace"])
}
