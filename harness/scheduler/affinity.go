package scheduler

import "time"

// An epoch is the time that an identity rides one exit, wherever it goes: one browser context, one jar, one exit. It has
// one session id, and when it is retired neither it nor the id comes back.
type epoch struct {
	number   uint64
	identity string
	origin   string // of its lease now, or of its last
	intent   Intent
	source   *Source
	exit     ExitRef
	segment  Segment
	born     time.Time
	ends     time.Time // zero if it has no end of its own
	used     time.Time // when the last lease on it ended, or was granted
	leased   bool
	met      bool // the origin has seen it: its address may not change any more
	retired  bool
	lost     string // why a static epoch cannot go on; a person must end the identity
}

const (
	defaultWindow = 10 * time.Minute // the commonest provider default (facts/proxy.md, section 1.1)
	idleMargin    = 5 * time.Second  // design.md, section 6
	// endless is the expiry shown on a lease whose session has no end; each lease and renewal moves it on.
	endless = 24 * time.Hour
)

// lifetime is how long an epoch on src may last: the shorter of the intent's window and the source's limit less a
// tenth. Zero means without end: a static exit without a limit.
func lifetime(in Intent, src *Source) time.Duration {
	limit := src.MaxTTL - src.MaxTTL/10
	window := in.Window
	if window == 0 && limit == 0 {
		window = defaultWindow
	}
	if in.Mode == Static {
		window = 0
	}
	switch {
	case window == 0:
		return limit
	case limit == 0:
		return window
	default:
		return min(window, limit)
	}
}

// alive reports whether the epoch still has at least need to go at now. While it is leased, and while it is used within
// its idle limit, only its end counts.
func (e *epoch) alive(now time.Time, need time.Duration) bool {
	if e.retired || now.Before(e.born) { // born in the future: the clock went back, its end means nothing
		return false
	}
	if !e.ends.IsZero() && !now.Add(need).Before(e.ends) {
		return false
	}
	idle := e.source.idle()
	return idle == 0 || e.leased || now.Before(e.used.Add(idle))
}

// idle is how long a session may rest; zero means for ever. A limit too short for the margin is halved.
func (s *Source) idle() time.Duration {
	if s.IdleLimit > 2*idleMargin {
		return s.IdleLimit - idleMargin
	}
	return s.IdleLimit / 2
}

// need is how much of its life an epoch must have left for a new job: the job's whole elapsed budget, because a job
// that cannot finish is not started, but never more than a quarter of the life, or short windows would be no windows.
func (e *epoch) need(elapsed time.Duration) time.Duration {
	if e.ends.IsZero() {
		return 0
	}
	return min(elapsed, e.ends.Sub(e.born)/4)
}

// expires is the end to show on a lease granted at now.
func (e *epoch) expires(now time.Time) time.Time {
	if e.ends.IsZero() {
		return now.Add(endless)
	}
	return e.ends
}

// serves reports whether the epoch is what in asks for.
func (e *epoch) serves(in Intent) bool {
	a, b := e.intent, in
	a.Window, b.Window = 0, 0
	return a == b
}
