package report

import (
	"fmt"
)

// Finish writes summary.json and report.html from what the folder holds, and answers the summary. facts.Run may
// be zero: the folder knows it. It may be called again.
func (f *Folder) Finish(facts Facts) (Summary, error) {
	facts.Run = f.run
	results := f.Results()
	events, err := f.Events()
	if err != nil {
		return Summary{}, explain(f.dir, err)
	}
	records, err := f.Records(previewRows)
	if err != nil {
		return Summary{}, explain(f.dir, err)
	}
	s := Summarize(results, events, facts)
	b, err := encodeIndented(s, f.redact)
	if err != nil {
		return s, fmt.Errorf("%s: %w", summaryFile, err)
	}
	if err := writeWhole(f.Path(summaryFile), b); err != nil {
		return s, explain(f.dir, err)
	}
	page, err := renderPage(pageData{Summary: s, Results: results, Events: events, Records: records, redact: f.redact})
	if err != nil {
		return s, fmt.Errorf("%s: %w", pageFile, err)
	}
	return s, explain(f.dir, writeWhole(f.Path(pageFile), page))
}
