package scheduler

import (
	"errors"
	"time"
)

// Renew says that the lease is still in use, and answers it with its expiry moved on where its session has no end of
// its own. The error is a *LeaseError.
func (s *Scheduler) Renew(l Lease) (out Lease, err error) {
	s.do(func(now time.Time) {
		g, e := s.find(now, l)
		if e != nil {
			err = e
			return
		}
		g.lease.Expires = g.epoch.expires(now)
		deadline := g.lease.Deadline
		if deadline.Before(now) {
			deadline = now
		}
		g.ends = earlier(g.lease.Expires, deadline.Add(graceAfterDeadline))
		s.noteGrant(now, EventRenew, g)
		out = g.lease
	})
	return out, err
}

// Release ends a lease without a report: nobody's health moves, and the attempt stays spent. A lease that is over
// already is no error; a foreign one is a *LeaseError.
func (s *Scheduler) Release(l Lease) (err error) {
	s.do(func(now time.Time) {
		g, e := s.find(now, l)
		switch {
		case errors.Is(e, ErrForeignLease):
			err = e
		case e == nil:
			s.end(now, g)
			s.noteGrant(now, EventRelease, g)
		}
	})
	return err
}

// Forget drops what is kept for a job that has ended, and the lease if it has one.
func (s *Scheduler) Forget(id string) {
	s.do(func(now time.Time) {
		j := s.jobs[id]
		if j == nil {
			return
		}
		if g := s.holders[j.identity]; g != nil && g.job == j {
			s.end(now, g)
		}
		s.retire(j.epoch)
		delete(s.jobs, id)
		s.note(now, Event{Kind: EventForget, Job: id, Identity: j.identity})
	})
}

// Spent answers what a job has spent so far; false if it is not known.
func (s *Scheduler) Spent(id string) (out Spent, ok bool) {
	s.do(func(now time.Time) {
		j := s.jobs[id]
		if j == nil {
			return
		}
		b := j.budget
		ok, out = true, Spent{Attempts: b.attempts, RouteChanges: b.routes, Bytes: b.bytes}
		if !b.started.IsZero() {
			out.Elapsed = max(now.Sub(b.started), 0)
		}
	})
	return out, ok
}

// Resume lifts the stop of a provider's credential and account, once a person has put them right.
func (s *Scheduler) Resume(provider string) {
	s.do(func(now time.Time) {
		delete(s.stops, stopKey{DomainCredential, provider})
		delete(s.stops, stopKey{DomainAccount, provider})
		delete(s.pauses, provider)
		s.note(now, Event{Kind: EventResume, Provider: provider})
	})
}

// EndIdentity ends the identity's sessions: its next lease is on a new one. It is how a person gives a static
// identity another exit. A lease that is out may still be reported.
func (s *Scheduler) EndIdentity(identity string) {
	s.do(func(now time.Time) {
		s.retire(s.seats[identity])
		delete(s.seats, identity)
		s.note(now, Event{Kind: EventEnd, Identity: identity})
	})
}
