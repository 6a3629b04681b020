package report

import (
	"fmt"

	"github.com/limpet-dev/limpet/classify"
)

// exitsByOrigin is which exit met which origin, and how that went.
type exitsByOrigin struct {
	Origins []originHead
	Rows    []exitRow
}

// An originHead says how the attempts at an origin spread over the exits.
type originHead struct {
	Name   string
	Spread string // "even over 4 exits", "mostly one exit"
}

type exitRow struct {
	Exit     string
	Provider string
	Country  string // observed; empty if unknown
	Bytes    int64
	Cells    []exitCell
}

type exitCell struct {
	Attempts, Useful int
	Bar              int       // useful share in hundredths
	Failed           []tallied // classes that were not useful, most frequent first
}

func exitTable(events []Event) exitsByOrigin {
	type pair struct{ exit, origin string }
	attempts := map[pair][]classify.Verdict{}
	rows := map[string]*exitRow{}
	origins := map[string]map[string]int{} // origin -> exit -> attempts
	for _, e := range events {
		if e.Event != EventAttempt || e.Verdict == nil || e.Exit == "" {
			continue
		}
		p := pair{e.Exit, e.Origin}
		attempts[p] = append(attempts[p], *e.Verdict)
		if rows[e.Exit] == nil {
			rows[e.Exit] = &exitRow{Exit: e.Exit, Provider: e.Provider}
		}
		rows[e.Exit].Bytes += e.BytesUp + e.BytesDown
		if e.ObservedCountry != "" {
			rows[e.Exit].Country = e.ObservedCountry
		}
		if origins[e.Origin] == nil {
			origins[e.Origin] = map[string]int{}
		}
		origins[e.Origin][e.Exit]++
	}
	var t exitsByOrigin
	names := sortedKeys(origins)
	for _, o := range names {
		t.Origins = append(t.Origins, originHead{Name: o, Spread: spread(origins[o])})
	}
	for _, exit := range sortedKeys(rows) {
		row := *rows[exit]
		for _, o := range names {
			row.Cells = append(row.Cells, exitCellOf(attempts[pair{exit, o}]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func exitCellOf(verdicts []classify.Verdict) exitCell {
	c := exitCell{Attempts: len(verdicts)}
	failed := map[string]int{}
	for _, v := range verdicts {
		if v.OK() {
			c.Useful++
		} else {
			failed[words(string(v.Class))]++
		}
	}
	if c.Attempts > 0 {
		c.Bar = c.Useful * 100 / c.Attempts
	}
	c.Failed = ranked(failed)
	return c
}

// spread says in words how attempts fall on exits. Twice the index of an even spread is where the busiest exits
// carry clearly more than their share.
func spread(byExit map[string]int) string {
	n, most, sum := 0, 0, 0.0
	for _, c := range byExit {
		n += c
		most = max(most, c)
	}
	for _, c := range byExit {
		share := float64(c) / float64(n)
		sum += share * share
	}
	busiest := percent(float64(most) / float64(n))
	switch exits := len(byExit); {
	case exits == 1:
		return "one exit"
	case sum > 2/float64(exits):
		return fmt.Sprintf("concentrated: busiest of %d exits %s", exits, busiest)
	default:
		return fmt.Sprintf("spread over %d exits, busiest %s", exits, busiest)
	}
}
