package scheduler

import (
	"fmt"
	"time"
)

const (
	// sweepEvery is how many lease calls pass between two sweeps: the cost of one, shared by so many, is small.
	sweepEvery = 1024
	// keepJob is how long a job that nobody forgot is kept past its deadline.
	keepJob = 10 * time.Minute
	// maxAble bounds the different demands whose sources are remembered. There are as many as countries and cities in
	// the job files, which is few.
	maxAble = 1024
)

// sweep forgets, now and then, what no longer says anything. It never frees what a person must free.
func (s *Scheduler) sweep(now time.Time) {
	if s.calls++; s.calls%sweepEvery != 0 {
		return
	}
	s.sweepGrants(now)
	for id, e := range s.seats {
		if !e.leased && e.intent.Mode != Static && !e.alive(now, 0) {
			s.retire(e)
			delete(s.seats, id)
		}
	}
	for key, e := range s.occupants {
		if e.retired {
			delete(s.occupants, key)
		}
	}
	cool := s.cfg.CoolDown
	sweepBreakers(s.exits, now, exitRule(cool))
	sweepBreakers(s.endpoints, now, endpointRule(cool))
	sweepBreakers(s.segments, now, segmentRule(cool))
	for name, p := range s.pauses {
		if _, wait := p.blocks(now); !wait {
			delete(s.pauses, name)
		}
	}
	for key, p := range s.pairs {
		if _, wait := p.limit.blocks(now); !wait && p.idle(now, pairRule(cool)) {
			delete(s.pairs, key)
		}
	}
}

func sweepBreakers[K comparable](m map[K]*breaker, now time.Time, rule tripRule) {
	for key, b := range m {
		if b.idle(now, rule) {
			delete(m, key)
		}
	}
}

// reap takes back the leases of dead owners when a full origin makes it worth the look, and reports whether that
// freed a slot there.
func (s *Scheduler) reap(now time.Time, o *origin) bool {
	if age := now.Sub(s.reaped); age >= 0 && age < busyPoll {
		return false
	}
	s.reaped = now
	before := o.inFlight
	s.sweepGrants(now)
	return o.inFlight < before
}

// sweepGrants takes back the leases of dead owners, and forgets jobs whose time is long up.
func (s *Scheduler) sweepGrants(now time.Time) {
	for _, g := range s.grants {
		if !now.Before(g.ends) {
			s.end(now, g)
		}
	}
	for id, j := range s.jobs {
		if h := s.holders[j.identity]; h != nil && h.job == j {
			continue
		}
		if now.Sub(j.budget.deadline(now)) > keepJob {
			s.retire(j.epoch)
			delete(s.jobs, id)
		}
	}
}

// origin answers what is kept for an origin. When there are too many, the one that was idle longest is forgotten; if
// none is idle the error is a wait.
func (s *Scheduler) origin(now time.Time, name string) (*origin, error) {
	o := s.origins[name]
	if o != nil {
		return o, nil
	}
	if len(s.origins) >= s.cfg.MaxOrigins && !s.forgetOrigin(now) {
		return nil, &WaitError{
			Until: now.Add(busyPoll), Reason: fmt.Sprintf("all of %d origins are at work or held (MaxOrigins)", s.cfg.MaxOrigins),
		}
	}
	pace, ok := s.cfg.Origins[name]
	if !ok {
		pace = s.cfg.DefaultPace
	}
	o = &origin{pace: pace, touched: now}
	s.origins[name] = o
	return o, nil
}

// forgetOrigin forgets the origin that was idle longest, and reports whether there was one.
func (s *Scheduler) forgetOrigin(now time.Time) bool {
	oldest := ""
	for name, o := range s.origins {
		if !o.idle(now) {
			continue
		}
		if old := s.origins[oldest]; old == nil || o.touched.Before(old.touched) || (o.touched.Equal(old.touched) && name < oldest) {
			oldest = name
		}
	}
	if oldest == "" {
		return false
	}
	delete(s.origins, oldest)
	return true
}

// idle reports whether forgetting the origin would let nothing through that is kept back.
func (o *origin) idle(now time.Time) bool {
	_, held := o.hold.blocks(now)
	_, limited := o.limit.blocks(now)
	for _, h := range o.domains {
		if _, ok := h.blocks(now); ok {
			held = true
		}
	}
	return o.inFlight == 0 && !held && !limited && !o.breaker.tripped()
}
