package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Block writes the run in a few lines: what came out, what it took, what went wrong, what waits for a person
// and where the files are. Each line stands alone, so that it can be searched for.
func (f *Folder) Block(w io.Writer, s Summary) error {
	events, err := f.Events()
	if err != nil {
		return err
	}
	var b strings.Builder
	line := func(head, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-9s %s\n", head, visible(text))
		}
	}
	line("OUTPUT", outputText(s))
	line("EFFORT", effortText(s))
	line("TIME", timeText(s))
	line("FAILURES", failuresText(failuresOf(events)))
	if s.Diagnosis != "" {
		line("DIAGNOSIS", diagnosisText(string(s.Diagnosis)))
	}
	if n := s.Jobs[Review]; n > 0 {
		verb := "wait"
		if n == 1 {
			verb = "waits"
		}
		line("REVIEW", fmt.Sprintf("%s %s for a person: see %s", count(n, "job"), verb, f.Path(pageFile)))
	}
	line("FILES", f.filesText())
	_, err = io.WriteString(w, b.String())
	return err
}

func outputText(s Summary) string {
	parts := []string{
		fmt.Sprintf("%s of %s useful", grouped(s.Jobs[Useful]), count(s.Accepted, "job")), count(s.Records, "record"),
	}
	for _, state := range States() {
		if n := s.Jobs[state]; n > 0 && state != Useful {
			parts = append(parts, grouped(n)+" "+string(state))
		}
	}
	if open := s.Accepted - s.Terminal; open > 0 {
		parts = append(parts, grouped(open)+" not ended")
	}
	return strings.Join(parts, ", ")
}

func effortText(s Summary) string {
	parts := []string{count(s.Attempts, "attempt")}
	if s.AttemptsPerRecord != nil {
		parts = append(parts, fmt.Sprintf("%.2f per record", *s.AttemptsPerRecord))
	}
	if s.Exits > 0 {
		parts = append(parts, count(s.Exits, "exit"))
	}
	traffic := size(float64(s.BytesUp + s.BytesDown))
	if s.BytesPerRecord != nil {
		traffic += " (" + size(*s.BytesPerRecord) + " per record)"
	}
	parts = append(parts, traffic)
	if s.CostPerRecord != nil {
		parts = append(parts, fmt.Sprintf("%.6f %s per record", *s.CostPerRecord, s.Currency))
	}
	return strings.Join(parts, ", ")
}

func timeText(s Summary) string {
	text := "run " + span(s.WallMS)
	if s.P50MS != nil && s.P95MS != nil {
		text = fmt.Sprintf("to useful output p50 %s, p95 %s; %s", span(*s.P50MS), span(*s.P95MS), text)
	}
	return text
}

func failuresText(failures []failure) string {
	parts := make([]string, 0, len(failures))
	for _, f := range failures {
		text := fmt.Sprintf("%s %d", words(string(f.Class)), f.Attempts)
		if len(f.Decisions) > 0 {
			text += " → " + decisionsText(f.Decisions)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// decisionsText names decisions, each with its number where there are several.
func decisionsText(ds []tallied) string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = decisionText(d.Word)
		if len(ds) > 1 {
			parts[i] += fmt.Sprintf(" ×%d", d.Count)
		}
	}
	return strings.Join(parts, "; ")
}

func diagnosisText(d string) string {
	if d == "pattern" {
		return "pattern: refusals spread over exits, so the requests are at fault, not the exits"
	}
	return d
}

// filesText names the page with its whole path and the others beside it.
func (f *Folder) filesText() string {
	parts := []string{f.Path(pageFile)}
	for _, name := range []string{recordsFile, resultsFile, eventsFile, summaryFile} {
		if _, err := os.Stat(f.Path(name)); err == nil {
			parts = append(parts, name)
		}
	}
	if traces, err := filepath.Glob(f.Path(tracesDir + "/*.zip")); err == nil && len(traces) > 0 {
		parts = append(parts, fmt.Sprintf("%s/ (%d)", tracesDir, len(traces)))
	}
	return strings.Join(parts, "  ")
}
