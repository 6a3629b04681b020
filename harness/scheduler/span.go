package scheduler

import (
	"math/rand/v2"
	"time"
)

// A span is a stretch of time in which something is kept back. The zero span keeps nothing back.
type span struct{ from, until time.Time }

// blocks reports whether now is inside, and when it ends. A clock that went back before the start moves the span
// with it: a span never lasts longer than it was meant to.
func (s *span) blocks(now time.Time) (time.Time, bool) {
	if s.until.IsZero() {
		return time.Time{}, false
	}
	if now.Before(s.from) {
		s.from, s.until = now, now.Add(s.until.Sub(s.from))
	}
	return s.until, now.Before(s.until)
}

// extend keeps back until at least now + d. It never shortens.
func (s *span) extend(now time.Time, d time.Duration) {
	if until, ok := s.blocks(now); ok && !until.Before(now.Add(d)) {
		return
	}
	s.from, s.until = now, now.Add(d)
}

// or fills what g leaves open.
func (g Growth) or(base, limit time.Duration) Growth {
	if g.Base == 0 {
		g.Base = base
	}
	if g.Cap == 0 {
		g.Cap = max(limit, g.Base)
	}
	return g
}

// nth is the n-th duration, from 1, with equal jitter: half of it is fixed, so that it is never near zero, and half
// is drawn, so that nobody comes back at the same moment. For n = 1 it lies between Base/2 and Base.
func (g Growth) nth(n int, r *rand.Rand) time.Duration {
	d := g.Base
	for i := 1; i < n && d < g.Cap; i++ {
		d *= 2
	}
	d = min(d, g.Cap)
	return d/2 + time.Duration(r.Int64N(int64(d/2)+1))
}

// upward adds up to a tenth to a wait that an origin asked for: never sooner than asked, never all together.
func upward(d time.Duration, r *rand.Rand) time.Duration {
	return d + time.Duration(r.Int64N(int64(d/10)+1))
}
