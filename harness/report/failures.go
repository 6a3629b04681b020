package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/limpet-dev/limpet/classify"
)

// A failure is a class of verdicts that were not useful, with what was decided on them.
type failure struct {
	Class     classify.Class
	Stage     classify.Stage
	Blamed    classify.Blamed
	Vendors   []string // sorted
	Attempts  int
	Jobs      []string // distinct, as people count
	Decisions []tallied
	Reason    string // of the last decision, in words
}

// tallied is a word and how often it was said.
type tallied struct {
	Word  string
	Count int
}

// failuresOf groups the attempts that were not useful by class, most frequent first.
func failuresOf(events []Event) []failure {
	type key struct {
		job     string
		attempt int
	}
	decided := map[key]Event{}
	for _, e := range events {
		if e.Event == EventReport {
			decided[key{e.Job, e.Attempt}] = e
		}
	}
	byClass := map[classify.Class]*failure{}
	said := map[classify.Class]map[string]int{}
	for _, e := range events {
		if e.Event != EventAttempt || e.Verdict == nil || e.Verdict.OK() {
			continue
		}
		v := e.Verdict
		f := byClass[v.Class]
		if f == nil {
			f = &failure{Class: v.Class, Stage: v.Stage, Blamed: v.Blamed}
			byClass[v.Class], said[v.Class] = f, map[string]int{}
		}
		f.Attempts++
		f.Jobs = append(f.Jobs, e.Job)
		if v.Vendor != nil && *v.Vendor != "" {
			f.Vendors = append(f.Vendors, *v.Vendor)
		}
		if d, ok := decided[key{e.Job, e.Attempt}]; ok {
			said[v.Class][d.Decision]++
			f.Reason = d.Reason
		}
	}
	for class, f := range byClass {
		slices.SortFunc(f.Jobs, natural)
		f.Jobs = slices.Compact(f.Jobs)
		slices.Sort(f.Vendors)
		f.Vendors = slices.Compact(f.Vendors)
		f.Decisions = ranked(said[class])
	}
	return slices.SortedFunc(maps.Values(deref(byClass)), func(a, b failure) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), strings.Compare(string(a.Class), string(b.Class)))
	})
}

func deref[K comparable, V any](m map[K]*V) map[K]V {
	out := make(map[K]V, len(m))
	for k, v := range m {
		out[k] = *v
	}
	return out
}

// ranked sorts words by how often they were said, then by the alphabet.
func ranked(counts map[string]int) []tallied {
	out := make([]tallied, 0, len(counts))
	for w, n := range counts {
		out = append(out, tallied{w, n})
	}
	slices.SortFunc(out, func(a, b tallied) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Word, b.Word))
	})
	return out
}

// decisionText is what a decision means for the job, in words.
func decisionText(action string) string {
	switch action {
	case "done":
		return "done"
	case "wait":
		return "waited, same session"
	case "retry_same":
		return "again, same session"
	case "retry_new":
		return "again, new session"
	case "retry_browser":
		return "again, new browser"
	case "stop":
		return "stopped"
	case "deny":
		return "denied"
	case "review":
		return "review"
	case "stop_run":
		return "run stopped"
	case "cancel":
		return "cancelled"
	case "":
		return "undecided"
	default:
		return words(action)
	}
}
