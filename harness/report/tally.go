package report

import (
	"fmt"
	"strings"
	"time"
)

// A tally counts jobs as they end. It is a pure state machine: its owner locks and says what time it is.
type tally struct {
	total   int
	ended   int
	states  map[State]int
	records int
	started time.Time
}

func newTally(total int, now time.Time) tally {
	return tally{total: total, states: map[State]int{}, started: now}
}

func (t *tally) add(r Result) {
	t.ended++
	t.states[r.State]++
	t.records += r.Records
}

// line is where the run stands at now: "00:04:12  612/1000 jobs, 7344 records (1749/min), 3 review, 36 failed".
func (t *tally) line(now time.Time) string {
	elapsed := now.Sub(t.started)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %d/%d jobs, %s", clock(elapsed), t.ended, t.total, count(t.records, "record"))
	if minutes := elapsed.Minutes(); t.records > 0 && minutes > 0 {
		fmt.Fprintf(&b, " (%.0f/min)", float64(t.records)/minutes)
	}
	for _, s := range States() {
		if n := t.states[s]; n > 0 && s != Useful {
			fmt.Fprintf(&b, ", %d %s", n, s)
		}
	}
	return b.String()
}

// clock is a duration as hours, minutes and seconds.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}
