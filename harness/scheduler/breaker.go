package scheduler

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A breaker guards one failure domain: closed it lets all pass; open it lets none; after its cool-down it is half
// open and lets one lease at a time try. It takes no lock and reads no clock: the Scheduler does.
//
// It differs from the well-known ones in that a permit is a lease with an end. A prober that dies, or that is
// refused for another party's fault, blocks nobody for ever.
type breaker struct {
	fails int       // since the last success
	exits []string  // distinct exits among them, as many as the rule needs
	last  time.Time // the latest failure
	trips int       // in a row, not undone by a short recovery
	open  span      // from the trip to the first probe; zero while closed

	permit      string // lease that may probe; empty if none does
	permitUntil time.Time
}

// A tripRule says what opens a breaker and for how long.
type tripRule struct {
	calls int // failures in a row
	exits int // distinct exits among them
	cool  Growth
}

const (
	// failMemory is how old a failure may be and still count as "in a row": six times the supply cool-down.
	failMemory = time.Minute
	// permitTTL is how long a probe has the half-open breaker for itself: most visits take less (facts/drivers.md
	// bounds a navigation at 30 s), and a second probe does no harm.
	permitTTL = 30 * time.Second
)

// tripped reports whether the breaker is open or half open.
func (b *breaker) tripped() bool { return !b.open.until.IsZero() }

// ready reports whether lease may pass at now; if not, when asking again makes sense.
func (b *breaker) ready(now time.Time, lease string) (time.Time, bool) {
	if until, open := b.open.blocks(now); open {
		return until, false
	}
	if !b.tripped() || b.permit == "" || b.permit == lease {
		return time.Time{}, true
	}
	if left := b.permitUntil.Sub(now); left <= 0 || left > permitTTL { // over, or the clock went back
		return time.Time{}, true
	}
	return b.permitUntil, false
}

// grant records that lease passes; in a half-open breaker it takes the permit.
func (b *breaker) grant(now time.Time, lease string) {
	if b.tripped() {
		b.permit, b.permitUntil = lease, now.Add(permitTTL)
	}
}

// release returns the permit if lease has it.
func (b *breaker) release(lease string) {
	if b.permit == lease {
		b.permit, b.permitUntil = "", time.Time{}
	}
}

// succeed closes the breaker, unless the lease was granted before the trip: then it tells of the past.
func (b *breaker) succeed(granted time.Time) {
	if b.tripped() && granted.Before(b.open.from) {
		return
	}
	*b = breaker{trips: b.trips, last: b.last}
}

// fail counts a failure of a lease granted at granted through exit, and opens the breaker if that is
// what rule says.
func (b *breaker) fail(now, granted time.Time, exit string, rule tripRule, r *rand.Rand) {
	if b.tripped() {
		if !granted.Before(b.open.from) { // else a straggler: the trip has its failure in it
			b.trip(now, rule, r)
		}
		return
	}
	if now.Sub(b.last) > failMemory {
		b.fails, b.exits = 0, nil
	}
	if now.Sub(b.last) > 2*rule.cool.Cap {
		b.trips = 0
	}
	b.fails++
	b.last = now
	if len(b.exits) < rule.exits && !slices.Contains(b.exits, exit) {
		b.exits = append(b.exits, exit)
	}
	if b.fails >= rule.calls && len(b.exits) >= rule.exits {
		b.trip(now, rule, r)
	}
}

// trip opens the breaker, longer each time.
func (b *breaker) trip(now time.Time, rule tripRule, r *rand.Rand) {
	b.trips++
	b.last = now
	b.permit, b.permitUntil = "", time.Time{}
	b.open = span{from: now, until: now.Add(rule.cool.nth(b.trips, r))}
}

// idle reports whether nothing would be lost by forgetting the breaker.
func (b *breaker) idle(now time.Time, rule tripRule) bool {
	return b.permit == "" && now.Sub(b.last) > 2*rule.cool.Cap+failMemory
}
