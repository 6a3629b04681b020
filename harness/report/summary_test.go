package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/report"
)

func sampleSummary(facts report.Facts) report.Summary {
	var results []report.Result
	var events []report.Event
	for _, j := range sample() {
		results = append(results, j.result)
		events = append(events, eventsOf(j)...)
	}
	return report.Summarize(results, events, facts)
}

func TestSummarizePutsTheRunIntoNumbers(t *testing.T) {
	s := sampleSummary(report.Facts{
		Accepted: 7, Ended: begun.Add(20 * time.Second), Run: report.Run{Started: begun},
		Prices: map[string]report.Price{"main": {PerGB: 4, Currency: "USD"}},
	})
	require.Equal(t, map[report.State]int{report.Useful: 3, report.Review: 1, report.Failed: 1, report.Denied: 1, report.Cancelled: 0}, s.Jobs)
	require.Equal(t, 7, s.Accepted)
	require.Equal(t, 6, s.Terminal)
	require.Equal(t, 9, s.Records)
	require.Equal(t, 8, s.Attempts)
	require.EqualValues(t, 20_000, s.WallMS)
	require.InDelta(t, 8*43_600/9.0, *s.BytesPerRecord, 0.001)
	require.InDelta(t, 8/9.0, *s.AttemptsPerRecord, 0.001)
	require.EqualValues(t, 4810, *s.P50MS)
	require.EqualValues(t, 12_900, *s.P95MS)
	require.InDelta(t, 3/8.0, s.Rates[classify.Captcha], 0.001)
	require.InDelta(t, 3/8.0, s.Rates[classify.Useful], 0.001)
	require.InDelta(t, (9+4+1+1+1)/64.0, *s.ExitConcentration, 0.001) // 3, 2, 1, 1, 1 of 8 attempts
	require.Equal(t, 5, s.Exits)
	require.InDelta(t, 8*43_600/1e9*4/9, *s.CostPerRecord, 1e-12)
	require.Equal(t, report.Nullable("USD"), s.Currency)
}

func TestSummarizeSaysNothingItDoesNotKnow(t *testing.T) {
	s := report.Summarize(nil, nil, report.Facts{})
	b, err := json.Marshal(s)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(b, &fields))
	for name := range strings.FieldsSeq("bytes_per_record attempts_per_record p50_ms p95_ms exit_concentration cost_per_record diagnosis") {
		require.Contains(t, fields, name)
		require.Nil(t, fields[name], name)
	}
	require.Len(t, fields["jobs"], 5, "every state is named")

	require.Nil(t, sampleSummary(report.Facts{}).CostPerRecord, "no price")
	require.Nil(t, sampleSummary(report.Facts{Prices: map[string]report.Price{"other": {PerGB: 1}}}).CostPerRecord)
}

func TestFinishWritesTheSummaryAndThePage(t *testing.T) {
	dir := t.TempDir()
	f := filled(t, dir)
	s, err := f.Finish(report.Facts{ExitCode: 1})
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	require.NoError(t, err)
	var read report.Summary
	require.NoError(t, json.Unmarshal(b, &read))
	require.Equal(t, s.Jobs, read.Jobs)
	require.Equal(t, 1, read.ExitCode)
	require.FileExists(t, filepath.Join(dir, "report.html"))
	_, err = f.Finish(report.Facts{})
	require.NoError(t, err, "a resumed run finishes again")
}
