package scheduler

import (
	"slices"
	"time"
)

// A gcra paces one origin by the generic cell rate algorithm: a single time says how far ahead of its rate it is.
type gcra struct{ arrival time.Time }

// longestGap bounds the time between two leases however small the rate is, so that arithmetic cannot overflow.
const longestGap = 24 * time.Hour

// gap is the time between two leases at p's rate; zero means no limit.
func (p Pace) gap() time.Duration {
	if !(p.PerSecond > 0) { // NaN too
		return 0
	}
	return time.Duration(min(float64(time.Second)/p.PerSecond, float64(longestGap)))
}

// tolerance is how far ahead of its rate an origin may be: all of a burst but the last.
func (p Pace) tolerance(gap time.Duration) time.Duration {
	extra := max(p.Burst, 1) - 1
	if gap > 0 && extra > int(longestGap/gap) {
		return longestGap
	}
	return time.Duration(extra) * gap
}

// next is the earliest time for a lease: now, or later.
func (g *gcra) next(now time.Time, p Pace) time.Time {
	gap := p.gap()
	if gap == 0 {
		return now
	}
	// An arrival further ahead than a full burst comes from a clock that went back since.
	if furthest := now.Add(p.tolerance(gap) + gap); g.arrival.After(furthest) {
		g.arrival = furthest
	}
	if at := g.arrival.Add(-p.tolerance(gap)); at.After(now) {
		return at
	}
	return now
}

// take records a lease at now. It is for the time that next answered.
func (g *gcra) take(now time.Time, p Pace) {
	if g.arrival.Before(now) {
		g.arrival = now
	}
	g.arrival = g.arrival.Add(p.gap())
}

// untake gives back a lease that the origin never saw.
func (g *gcra) untake(p Pace) {
	if !g.arrival.IsZero() {
		g.arrival = g.arrival.Add(-p.gap())
	}
}

// A throttle remembers which exits an origin has told to slow down lately. Whom an origin counts is unknown: the
// address, the cookie or everybody. So a limit binds its own (exit, origin) pair in full and the origin for a
// moment; once three exits were told, it is the origin's own limit and binds everybody in full.
type throttle struct {
	since time.Time
	exits []string // distinct, at most originExits
}

const (
	// caution is what one limited exit costs the others of its origin.
	caution = time.Second
	// originExits is how many distinct exits make a matter of the exits a matter of the origin.
	originExits = 3
)

// limit notes that exit was told to wait, and answers how long the rest of the origin waits.
func (t *throttle) limit(now time.Time, exit string, wait time.Duration) time.Duration {
	if age := now.Sub(t.since); age < 0 || age > failMemory {
		t.since, t.exits = now, nil
	}
	if len(t.exits) < originExits && !slices.Contains(t.exits, exit) {
		t.exits = append(t.exits, exit)
	}
	if len(t.exits) < originExits {
		return min(wait, caution)
	}
	return wait
}
