package scheduler

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// freeDiscards is how many wrong exits in a row a job may turn away before it waits: a provider that gives none other
// must not be asked in a loop (facts/proxy.md, section 8.4).
const freeDiscards = 3

// Observe is told the exit's address and country before the origin sees a byte; either may be empty. It is cheap:
// call it for each connection. Once it has let a lease pass, only another address makes it fail. The error is a
// *BurnedError (Discard, then Lease again), a *ChangedError (report it as exit_changed), a *StoppedError or a
// *LeaseError.
func (s *Scheduler) Observe(l Lease, addr, country string) (err error) {
	s.do(func(now time.Time) { err = s.observe(now, l, canonical(addr), strings.ToUpper(country)) })
	return err
}

func (s *Scheduler) observe(now time.Time, l Lease, addr, country string) error {
	g, err := s.find(now, l)
	if err != nil {
		return err
	}
	e := g.epoch
	if stop := s.stopped(e.source.account()); stop != nil {
		return stop
	}
	if addr != "" && addr != e.exit.Addr {
		from := e.exit.Addr
		s.see(e, addr)
		if from != "" && e.met {
			e.exit.Addr = from
			return &ChangedError{From: from, To: addr}
		}
		s.noteGrant(now, EventObserve, g)
	}
	if g.admitted {
		return nil
	}
	if wrong := s.wrongExit(now, g, country); wrong != nil {
		return wrong
	}
	g.admitted, e.met = true, true
	if e.exit.Addr != "" {
		s.occupants[pairKey{e.exit.Addr, e.origin}] = e
	}
	for _, b := range s.path(g) {
		b.grant(now, l.ID)
	}
	return nil
}

// wrongExit answers why the exit must not meet the origin; nil if it may.
func (s *Scheduler) wrongExit(now time.Time, g *grant, country string) *BurnedError {
	e := g.epoch
	wrong := &BurnedError{Exit: e.exit.Key(), Origin: e.origin}
	if want := e.intent.Country; want != "" && country != "" && country != want {
		wrong.Reason = fmt.Sprintf("it is in %s, the intent asks for %s", country, want)
		return wrong
	}
	if o := s.occupants[pairKey{e.exit.Addr, e.origin}]; s.cfg.Exclusive && !e.source.Fixed && o != nil && o.identity != e.identity && o.alive(now, 0) {
		wrong.Reason = "another identity leaves by it"
		return wrong
	}
	if b := s.shut(now, e.exit, e.segment, e.origin, g.lease.ID); b != nil {
		wrong.Until, wrong.Reason = b.until, b.reason
		return wrong
	}
	return nil
}

// see notes the address of an epoch's exit.
func (s *Scheduler) see(e *epoch, addr string) {
	e.exit.Addr = addr
	if e.source.Fixed {
		s.addrs[e.source.Name] = addr
	}
	if g := s.holders[e.identity]; g != nil && g.epoch == e {
		g.lease.Exit.Addr = addr
	}
}

// canonical is the one spelling of an address; what is none is kept as it is, bounded.
func canonical(addr string) string {
	addr = strings.TrimSpace(addr)
	if a, err := netip.ParseAddr(addr); err == nil {
		return a.Unmap().String()
	}
	return addr[:min(len(addr), 64)]
}

// Discard gives a lease back whose exit turned out wrong before the origin saw it. The session is retired, at no
// cost in attempts or route changes. The error is a *WaitError after every third time in one job: wait until then
// before Lease; or a *LeaseError.
func (s *Scheduler) Discard(l Lease) (err error) {
	s.do(func(now time.Time) { err = s.discard(now, l) })
	return err
}

func (s *Scheduler) discard(now time.Time, l Lease) error {
	g, err := s.find(now, l)
	if err != nil {
		return err
	}
	j, e, o := g.job, g.epoch, s.origins[l.Origin]
	s.end(now, g)
	j.budget.refund(g.newRoute)
	j.last, j.free = g.before, g.free
	o.gcra.untake(o.pace)
	if e.intent.Mode != Static || !e.met {
		s.retire(e)
		if s.seats[e.identity] == e {
			delete(s.seats, e.identity)
		}
	}
	s.noteGrant(now, EventDiscard, g)
	if j.discards++; j.discards%freeDiscards != 0 {
		return nil
	}
	wait := s.cfg.CoolDown.Supply.nth(1, s.cfg.Rand)
	j.notBefore.extend(now, wait)
	return &WaitError{Until: now.Add(wait), Reason: fmt.Sprintf("%d wrong exits in a row", freeDiscards)}
}
