package trace_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/trace"
)

func TestTheOldestEventsGiveWay(t *testing.T) {
	rec := trace.NewRecorder(trace.Limits{Bytes: 10_000})
	for i := range 1000 {
		rec.Record(drivers.Event{Kind: drivers.EventConsole, Type: "log", Text: fmt.Sprintf("message %d.", i)})
	}
	require.Greater(t, rec.Dropped(), 900)
	require.Less(t, rec.Dropped(), 1000)

	path := filepath.Join(t.TempDir(), "j-1.zip")
	require.NoError(t, trace.Write(path, trace.Meta{}, rec, trace.NewRedactor(nil)))
	text := string(unzip(t, path)["trace.trace"])
	require.Contains(t, text, "message 999.")
	require.NotContains(t, text, "message 1.")
	require.Contains(t, text, "TRUNCATED")

	rec.Reset()
	require.Zero(t, rec.Dropped())
	require.NoError(t, trace.Write(path, trace.Meta{}, rec, trace.NewRedactor(nil)))
	require.NotContains(t, string(unzip(t, path)["trace.trace"]), "message")
}

func TestAHugeMessageCostsAHugeMessage(t *testing.T) {
	rec := trace.NewRecorder(trace.Limits{Bytes: 100_000})
	rec.Record(drivers.Event{Kind: drivers.EventConsole, Text: "first"})
	rec.Record(drivers.Event{Kind: drivers.EventConsole, Text: strings.Repeat("x", 50<<20)})
	require.Zero(t, rec.Dropped(), "it was cut, and the first is still there")
}

func TestPagesAndImagesThatDoNotFitAreCounted(t *testing.T) {
	rec := trace.NewRecorder(trace.Limits{HTMLBytes: 10, ImageBytes: 10})
	rec.AttachHTML("dom", "text/html", []byte("0123456789"))
	rec.AttachHTML("dom", "text/html", []byte("0"))
	rec.AttachScreenshot("end", "image/png", []byte("01234567890"))
	require.Equal(t, 2, rec.Dropped())
}

func TestTheRecorderIsSafeForConcurrentUse(t *testing.T) {
	rec := trace.NewRecorder(trace.Limits{Bytes: 50_000})
	path := filepath.Join(t.TempDir(), "j-1.zip")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				rec.Record(drivers.Event{Kind: drivers.EventRequest, RequestID: fmt.Sprint(i), URL: "https://shop.test/"})
				id := rec.Begin("click", nil)
				rec.Log("clicked")
				rec.End(id, nil)
			}
		})
	}
	require.NoError(t, trace.Write(path, trace.Meta{}, rec, trace.NewRedactor(nil)))
	rec.Reset()
	wg.Wait()
	require.NoError(t, trace.Write(path, trace.Meta{}, rec, trace.NewRedactor(nil)))
}

func TestSampledTakesItsShare(t *testing.T) {
	hits := 0
	for i := range 10_000 {
		id := fmt.Sprintf("price-a-%d", i)
		if trace.Sampled(id, 0.01) {
			hits++
			require.True(t, trace.Sampled(id, 0.5), "a larger share holds the smaller one")
		}
	}
	require.InDelta(t, 100, hits, 30) // three standard deviations of a binomial draw
	require.True(t, trace.Sampled("any", 1))
	require.False(t, trace.Sampled("any", 0))
}

func BenchmarkRecord(b *testing.B) {
	rec := trace.NewRecorder(trace.Limits{})
	e := drivers.Event{
		Kind: drivers.EventResponse, RequestID: "1000.1", URL: "https://shop.test/assets/app.js", Status: 200,
		Header: drivers.Header{"content-type": "text/javascript", "cache-control": "max-age=60", "server": "nginx"},
	}
	b.ReportAllocs()
	for b.Loop() {
		rec.Record(e)
	}
}
