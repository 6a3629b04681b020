package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/limpet-dev/limpet/classify"
)

const (
	// maxJobRows bounds the table of jobs: a page of 2000 rows has 1.3 MB and still opens at once.
	maxJobRows = 2000
	// maxSignals is how many signals of a verdict are shown. They are sorted, strongest first.
	maxSignals = 3
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

// pageData is what the page shows.
type pageData struct {
	Summary Summary
	Results []Result
	Events  []Event
	Records []Record // the first ones
	redact  func(string) string
}

// renderPage is the page as one HTML document that loads nothing and runs nothing.
func renderPage(d pageData) ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"text": func(s any) string { return d.redact(visible(fmt.Sprint(s))) }, "words": func(s any) string { return words(fmt.Sprint(s)) },
		"grouped": grouped, "size": func(n int64) string { return size(float64(n)) }, "span": span,
		"decisions": decisionsText, "decision": decisionText, "join": strings.Join, "verdict": verdictText,
		"reasons": reasonsOf, "blamed": blamedText, "percent": percent, "signals": signalsOf, "count": count,
	}).Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(pageStyle))
	rows, left := jobRows(d.Results)
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Style":     template.CSS(pageStyle), //nolint:gosec // our own file
		"StyleHash": base64.StdEncoding.EncodeToString(sum[:]),
		"S":         d.Summary, "Headline": headline(d.Summary), "Origin": originLine(d.Summary), "Bar": stateBar(d.Summary),
		"Figures": figures(d.Summary), "Preview": previewOf(d.Records, d.Summary.Records),
		"Failures": failuresOf(d.Events), "Exits": exitTable(d.Events), "Rows": rows, "Left": left,
		"Diagnosis": diagnosisText(string(d.Summary.Diagnosis)),
	})
	return b.Bytes(), err
}

// headline is the run in one sentence.
func headline(s Summary) string {
	useful := s.Jobs[Useful]
	switch {
	case s.Accepted == 0:
		return "No job was run"
	case useful == s.Accepted && useful == 1:
		return "The job gave useful output"
	case useful == s.Accepted:
		return "All " + grouped(useful) + " jobs gave useful output"
	case useful == 0:
		return "No job gave useful output"
	default:
		return grouped(useful) + " of " + grouped(s.Accepted) + " jobs gave useful output"
	}
}

// originLine says where the numbers come from.
func originLine(s Summary) string {
	parts := []string{strings.Join(s.Run.Files, ", "), s.Run.Driver, s.Run.Browser}
	if !s.Run.Started.IsZero() {
		parts = append(parts, s.Run.Started.UTC().Format("2 January 2006, 15:04:05 UTC"))
	}
	parts = append(parts, "took "+span(s.WallMS), fmt.Sprintf("exit code %d", s.ExitCode))
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// A figure is one of the numbers at the top.
type figure struct{ Value, Name, Note string }

func figures(s Summary) []figure {
	share := "–"
	if s.Accepted > 0 {
		share = percent(float64(s.Jobs[Useful]) / float64(s.Accepted))
	}
	fs := []figure{
		{grouped(s.Records), "records", "accepted"},
		{share, "useful", fmt.Sprintf("%s of %s", grouped(s.Jobs[Useful]), count(s.Accepted, "job"))},
		{"–", "to useful output", "median"},
		{"–", "attempts per record", count(s.Attempts, "attempt")},
		{"–", "per record", size(float64(s.BytesUp+s.BytesDown)) + " in all"},
		{"–", "exit concentration", "no exit was seen"},
	}
	if s.P50MS != nil && s.P95MS != nil {
		fs[2] = figure{span(*s.P50MS), "to useful output", "median; 95 % within " + span(*s.P95MS)}
	}
	if s.AttemptsPerRecord != nil {
		fs[3].Value = fmt.Sprintf("%.2f", *s.AttemptsPerRecord)
	}
	if s.BytesPerRecord != nil {
		fs[4].Value = size(*s.BytesPerRecord)
	}
	if s.ExitConcentration != nil {
		fs[5].Value = fmt.Sprintf("%.2f", *s.ExitConcentration)
		fs[5].Note = fmt.Sprintf("%s; even would be %.2f", count(s.Exits, "exit"), 1/float64(max(s.Exits, 1)))
	}
	if s.CostPerRecord != nil {
		fs = append(fs, figure{fmt.Sprintf("%.5f", *s.CostPerRecord), "cost per record", string(s.Currency)})
	}
	return fs
}

// A segment is a part of the bar of states, in thousandths of its width.
type segment struct {
	State       State
	Count       int
	From, Width int
}

func stateBar(s Summary) []segment {
	var bar []segment
	at, seen := 0, 0
	for _, state := range States() {
		n := s.Jobs[state]
		if n == 0 || s.Accepted == 0 {
			continue
		}
		seen += n
		end := seen * 1000 / s.Accepted
		bar = append(bar, segment{State: state, Count: n, From: at, Width: end - at})
		at = end
	}
	return bar
}

// jobRows are the rows of the table of jobs. When there are too many, those that were not useful stay.
func jobRows(results []Result) (rows []Result, left int) {
	if len(results) <= maxJobRows {
		return results, 0
	}
	rows = slices.Clone(results)
	slices.SortStableFunc(rows, func(a, b Result) int {
		return cmp.Compare(boolInt(a.State == Useful), boolInt(b.State == Useful))
	})
	rows = rows[:maxJobRows]
	sortResults(rows)
	return rows, len(results) - maxJobRows
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func signalsOf(r Result) []classify.Signal {
	if r.Verdict == nil {
		return nil
	}
	return r.Verdict.Signals[:min(len(r.Verdict.Signals), maxSignals)]
}

// reasonsOf is why a job ended as it did: what was decided, then what went wrong.
func reasonsOf(r Result) []string {
	var all []string
	for _, s := range []string{r.Reason, string(r.Error)} {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// blamedText is whom a verdict blames, in words.
func blamedText(b classify.Blamed) string {
	if b == classify.BlameExitOrigin {
		return "exit at this origin"
	}
	return words(string(b))
}

// percent is a share of 1. Only all is 100 % and only nothing is 0 %.
func percent(share float64) string {
	switch p := share * 100; {
	case p > 0 && p < 0.1:
		return "< 0.1 %"
	case p < 100 && p > 99.9:
		return "> 99.9 %"
	case p == float64(int(p)):
		return fmt.Sprintf("%.0f %%", p)
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}
