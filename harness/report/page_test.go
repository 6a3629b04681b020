package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/report"
)

func pageOf(t *testing.T, f *report.Folder) string {
	t.Helper()
	_, err := f.Finish(report.Facts{ExitCode: 1, Ended: begun.Add(21_400_000_000), Diagnosis: "pattern"})
	require.NoError(t, err)
	b, err := os.ReadFile(f.Path("report.html"))
	require.NoError(t, err)
	return string(b)
}

func TestThePageSaysWhatAPersonNeeds(t *testing.T) {
	page := pageOf(t, filled(t, t.TempDir()))
	for _, text := range []string{
		"3 of 6 jobs gave useful output", "shop.yaml · chromedp", "exit code 1", "Diagnosis",
		"Oak table 1", "captcha", "cloudflare", "a second exit was refused: a person decides",
		"again, new session ×2; review", "127.0.0.12", "cloudflare.chl_opt",
		`href="traces/price-a-3-2.zip"`, "no element matches button[type=submit]", "it is not weakened to its country",
	} {
		require.True(t, strings.Contains(page, text), text) //nolint:testifylint // Contains would print the whole page
	}
	require.Less(t, strings.Index(page, "price-a-2</span>"), strings.Index(page, "price-a-10</span>"), "jobs as people count")
}

func TestThePageLoadsAndRunsNothing(t *testing.T) {
	page := pageOf(t, filled(t, t.TempDir()))
	require.NotContains(t, page, "<script")
	require.NotRegexp(t, `(?i)\b(src|srcset)\s*=|url\(|@import|\bstyle\s*=|\son\w+\s*=|href="(https?:|//)`, page)
	// The policy lets in the style as it stands in the page, byte by byte.
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)[1]
	sum := sha256.Sum256([]byte(style))
	policy := html.UnescapeString(regexp.MustCompile(`content="(default-src[^"]*)"`).FindStringSubmatch(page)[1])
	require.Contains(t, policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	require.Greater(t, len(style), 2000)
}

func TestRemoteTextIsEscapedEverywhere(t *testing.T) {
	const evil = `<script>alert(1)</script>"'&` + "\x1b[31m\u202e"
	f := open(t, t.TempDir())
	v := verdict(classify.Captcha, evil, 403, classify.Signal{Rule: evil, Weight: 1, Where: evil})
	e := report.Event{
		Event: report.EventAttempt, Job: evil, Attempt: 1, Origin: evil, Exit: evil, Provider: evil, Verdict: v, ObservedCountry: evil,
	}
	require.NoError(t, f.Event(e))
	e.Event, e.Decision, e.Reason = report.EventReport, evil, evil
	require.NoError(t, f.Event(e))
	require.NoError(t, f.Commit(report.Result{
		Job: evil, Identity: evil, Origin: evil, State: report.Failed, Verdict: v, Exits: []string{evil}, Reason: evil,
		Error: evil, Trace: "javascript:alert(1)", Records: 1,
	}, report.Record{Job: evil, Record: classify.Record{evil: evil}}))
	page := pageOf(t, f)
	for _, raw := range []string{"<script", "\x1b", "\u202e", `href="javascript:`} {
		require.Zero(t, strings.Count(page, raw), raw)
	}
	require.Greater(t, strings.Count(page, "&lt;script&gt;"), 10)
}

func TestALargeRunKeepsWhatWasNotUseful(t *testing.T) {
	f := open(t, t.TempDir())
	for i := range 2100 {
		require.NoError(t, f.Commit(report.Result{Job: fmt.Sprintf("job-%d", i), State: report.Useful}))
	}
	require.NoError(t, f.Commit(report.Result{Job: "the-last-one", State: report.Failed}))
	page := pageOf(t, f)
	require.Contains(t, page, "the-last-one")
	require.Contains(t, page, "101 more jobs in")
	require.Less(t, len(page), 3<<20)
}

func TestAnEmptyRunHasAPage(t *testing.T) {
	page := pageOf(t, open(t, t.TempDir()))
	require.Contains(t, page, "No job was run")
	require.Contains(t, page, "No record was accepted")
}

func TestThePageIsInTheFolder(t *testing.T) {
	dir := t.TempDir()
	pageOf(t, filled(t, dir))
	require.FileExists(t, filepath.Join(dir, "report.html"))
}
