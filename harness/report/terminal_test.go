package report_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/report"
)

func tableOf(t *testing.T, results []report.Result, o report.TableOptions) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Table(&b, results, o))
	return b.String()
}

func TestTheTableIsAlignedAndFits(t *testing.T) {
	f := filled(t, t.TempDir())
	require.Equal(t, strings.TrimLeft(`
JOB             IDENTITY  STATE   VERDICT               TRIES  EXITS          RECORDS    TIME
account-orders  acct-7    failed  script error              1  127.0.0.13           0   2.1 s
price-a-1       sku-a-1   useful  useful                    1  127.0.0.11           3   1.2 s
price-a-2       sku-a-2   useful  useful                    2  127.0.0.14 +1        3   4.8 s
price-a-3       sku-a-3   review  captcha · cloudflare      2  127.0.0.15 +1        0   7.3 s
price-a-10      sku-a-10  useful  useful                    2  127.0.0.11           3  12.9 s
stock-london    sku-uk    denied  no verdict                0  –                    0    0 ms
`, "\n"), tableOf(t, f.Results(), report.TableOptions{}))

	long := f.Results()
	long[0].Job = strings.Repeat("a very long job id ", 20)
	long[1].Identity = strings.Repeat("日本", 60)
	for line := range strings.Lines(tableOf(t, long, report.TableOptions{})) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 100)
	}
}

func TestColourNeverStandsAlone(t *testing.T) {
	results := filled(t, t.TempDir()).Results()
	plain, coloured := tableOf(t, results, report.TableOptions{}), tableOf(t, results, report.TableOptions{Color: true})
	require.Contains(t, coloured, "\x1b[32museful\x1b[0m")
	strip := strings.NewReplacer("\x1b[0m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[35m", "")
	require.Equal(t, plain, strip.Replace(coloured))
}

func TestRemoteTextCannotDrawOnTheTerminal(t *testing.T) {
	evil := report.Result{
		Job: "a\x1b[2J\x1b]0;title\x07b\r\nc\u202ed", State: report.Failed, Exits: []string{"\x1b[31mred"},
		Error: "\x9b31m\u0000", Verdict: verdict(classify.Captcha, "v\x1bc", 0),
	}
	text := tableOf(t, []report.Result{evil}, report.TableOptions{})
	var b bytes.Buffer
	p := report.NewPlain(&b, 1)
	p.JobDone(evil)
	p.Note("note \x1b[1m\n")
	p.Close()
	for _, out := range []string{text, b.String()} {
		require.Equal(t, 2, strings.Count(out, "\n"))
		require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\u0080-\u009f\u202e]", out)
	}
	require.Contains(t, text, "ab  c d")
}

func TestTheBlockTellsTheRun(t *testing.T) {
	dir := t.TempDir()
	f := filled(t, dir)
	s, err := f.Finish(report.Facts{Ended: begun.Add(21_400 * time.Millisecond), ExitCode: 1})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, f.Block(&b, s))
	require.Equal(t, strings.TrimLeft(`
OUTPUT    3 of 6 jobs useful, 9 records, 1 review, 1 failed, 1 denied
EFFORT    8 attempts, 0.89 per record, 5 exits, 348.8 KB (38.8 KB per record)
TIME      to useful output p50 4.8 s, p95 12.9 s; run 21.4 s
FAILURES  captcha 3 → again, new session ×2; review ×1 · rate limited 1 → waited, same session · script error 1 → stopped
REVIEW    1 job waits for a person: see DIR/report.html
FILES     DIR/report.html  records.jsonl  results.jsonl  events.jsonl  summary.json
`, "\n"), strings.ReplaceAll(b.String(), dir, "DIR"))
}

func TestPlainProgressTellsOfTroubleAndBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := report.NewPlain(&b, 12)
		jobs := sample()
		for _, j := range jobs[:3] {
			p.JobDone(j.result)
		}
		time.Sleep(95 * time.Second) //nolint:forbidigo // takes no real time in a bubble
		p.Note("breaker open for 127.0.0.12")
		p.Close()
		p.Close()
		require.Equal(t, strings.TrimLeft(`
review  price-a-3: captcha · cloudflare after 2 attempts (a second exit was refused: a person decides) traces/price-a-3-2.zip
00:00:10  3/12 jobs, 6 records (36/min), 1 review
00:00:20  3/12 jobs, 6 records (18/min), 1 review
00:00:30  3/12 jobs, 6 records (12/min), 1 review
00:00:40  3/12 jobs, 6 records (9/min), 1 review
00:00:50  3/12 jobs, 6 records (7/min), 1 review
00:01:00  3/12 jobs, 6 records (6/min), 1 review
00:01:30  3/12 jobs, 6 records (4/min), 1 review
breaker open for 127.0.0.12
`, "\n"), b.String())
	})
}

func TestLiveProgressRedrawsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		l := report.NewLive(&b, 6, 40)
		l.JobDone(sample()[0].result)
		time.Sleep(time.Second + time.Millisecond) //nolint:forbidigo // takes no real time in a bubble
		l.JobDone(sample()[4].result)
		l.Close()
		l.Close()
		out := b.String()
		require.Equal(t, 1, strings.Count(out, "\n"), "only what stays scrolls")
		require.Contains(t, out, "\r\x1b[Kfailed  account-orders: script error")
		require.True(t, strings.HasSuffix(out, "\r\x1b[K"), "nothing is left of the status line")
		require.Equal(t, 5+1+1+1, strings.Count(out, "\r\x1b[K"), "five a second, the line above, its redraw, the end")
		for drawn := range strings.SplitSeq(out, "\r\x1b[K") {
			if strings.HasPrefix(drawn, "00:") {
				require.Less(t, utf8.RuneCountInString(drawn), 40)
			}
		}
	})
}
