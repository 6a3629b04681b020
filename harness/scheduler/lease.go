package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// busyPoll is when to ask again for what another lease has: there is no telling when it ends.
	busyPoll = 250 * time.Millisecond
	// graceAfterDeadline is how long after its job's deadline a lease may still be reported. Then its owner is dead.
	graceAfterDeadline = time.Minute
)

// Lease grants an exit for one attempt of a job, without ever blocking. A job has one lease at a time (asking again
// supersedes the first) and so has an identity. The error is a *WaitError, *RefusedError, *StoppedError, *HeldError or
// *BudgetError, or the cause of ctx.
func (s *Scheduler) Lease(ctx context.Context, r Request) (l Lease, err error) {
	if ctx.Err() != nil {
		return Lease{}, context.Cause(ctx)
	}
	s.do(func(now time.Time) { l, err = s.lease(now, r) })
	return l, err
}

func (s *Scheduler) lease(now time.Time, r Request) (Lease, error) {
	s.sweep(now)
	r = r.normal()
	if err := r.check(); err != nil {
		return Lease{}, err
	}
	sources, refusal := s.capable(r.Intent)
	if refusal != nil {
		return Lease{}, refusal
	}
	j := s.jobs[r.Job]
	if j == nil {
		j = &job{id: r.Job, identity: r.Identity, sticky: r.Sticky, budget: newBudget(r.Limits.or(s.cfg.Limits), r.Sticky)}
	}
	g, err := s.grant(now, j, r, sources)
	if err != nil {
		return Lease{}, j.inTime(now, r, err)
	}
	s.jobs[j.id] = j
	s.noteGrant(now, EventLease, g)
	return g.lease, nil
}

// normal is the request with its spellings made one.
func (r Request) normal() Request {
	if r.Intent.Mode == "" {
		r.Intent.Mode = Windowed
	}
	r.Intent.Country = strings.ToUpper(r.Intent.Country)
	return r
}

// grant passes every gate in turn and only then takes anything.
func (s *Scheduler) grant(now time.Time, j *job, r Request, sources []*Source) (*grant, error) {
	if err := s.gateJob(now, j, r); err != nil {
		return nil, err
	}
	standing, err := s.standing(now, sources)
	if err != nil {
		return nil, err
	}
	o, err := s.gateOrigin(now, r.Origin)
	if err != nil {
		return nil, err
	}
	e, err := s.sit(now, j, r, standing)
	if err != nil {
		return nil, err
	}
	g := &grant{epoch: e, job: j, before: j.last, free: j.free}
	g.newRoute = j.last != 0 && j.last != e.number && !j.free
	if err := j.budget.reserve(now, g.newRoute); err != nil {
		return nil, err
	}
	s.take(now, g, o, r)
	return g, nil
}

// gateJob checks what concerns the job and its identity alone.
func (s *Scheduler) gateJob(now time.Time, j *job, r Request) error {
	if j.identity != r.Identity {
		return &RefusedError{Field: "identity", Value: r.Identity, Reason: "the job belongs to identity " + j.identity}
	}
	if h := s.holders[r.Identity]; h != nil {
		if h.job.id != j.id && now.Before(h.ends) {
			return &WaitError{Until: now.Add(busyPoll), Reason: "identity has a lease for job " + h.job.id}
		}
		s.end(now, h)
	}
	if err := j.budget.check(now); err != nil {
		return err
	}
	if until, wait := j.notBefore.blocks(now); wait {
		return &WaitError{Until: until, Reason: "the job waits"}
	}
	return nil
}

// standing answers those sources whose credential and account may be used.
func (s *Scheduler) standing(now time.Time, sources []*Source) ([]*Source, error) {
	if len(s.stops) == 0 && len(s.pauses) == 0 {
		return sources, nil
	}
	var stopped *StoppedError
	var paused *WaitError
	var out []*Source
	for _, src := range sources {
		name := src.account()
		if stop := s.stopped(name); stop != nil {
			stopped = stop
			continue
		}
		if p := s.pauses[name]; p != nil {
			if until, wait := p.blocks(now); wait {
				if paused == nil || until.Before(paused.Until) {
					paused = &WaitError{Until: until, Reason: "account of provider " + name + " is at its limit"}
				}
				continue
			}
		}
		out = append(out, src)
	}
	switch {
	case len(out) > 0:
		return out, nil
	case paused != nil:
		return nil, paused
	}
	return nil, stopped
}

// stopped reports what a person must put right before provider is used; nil if nothing.
func (s *Scheduler) stopped(provider string) *StoppedError {
	for _, d := range []Domain{DomainCredential, DomainAccount} {
		if why, ok := s.stops[stopKey{d, provider}]; ok {
			return &StoppedError{Domain: d, Provider: provider, Reason: why}
		}
	}
	return nil
}

// gateOrigin checks what the origin itself allows, whatever the exit.
func (s *Scheduler) gateOrigin(now time.Time, name string) (*origin, error) {
	o, err := s.origin(now, name)
	if err != nil {
		return nil, err
	}
	if until, held := o.hold.blocks(now); held {
		return nil, &HeldError{
			Origin: name, Until: until, Diagnosis: DiagnosisPattern, Reason: "exits of several failure domains are refused there",
		}
	}
	if until, wait := o.limit.blocks(now); wait {
		return nil, &WaitError{Until: until, Reason: name + " asked to wait"}
	}
	if until, ok := o.breaker.ready(now, ""); !ok {
		return nil, &WaitError{Until: until, Reason: name + " is failing"}
	}
	if o.pace.Concurrency > 0 && o.inFlight >= o.pace.Concurrency && !s.reap(now, o) {
		return nil, &WaitError{Until: now.Add(busyPoll), Reason: fmt.Sprintf("%s has its %d leases", name, o.inFlight)}
	}
	if at := o.gcra.next(now, o.pace); at.After(now) {
		return nil, &WaitError{Until: at, Reason: "pace of " + name}
	}
	return o, nil
}

// take makes the grant real: nothing fails from here on.
func (s *Scheduler) take(now time.Time, g *grant, o *origin, r Request) {
	e, j := g.epoch, g.job
	if e.number == 0 {
		s.seatAt(now, e, j)
	}
	id := s.cfg.NewID()
	s.tokens++
	j.last, j.free = e.number, false
	o.gcra.take(now, o.pace)
	o.inFlight++
	o.touched = now
	e.leased, e.used, e.origin = true, now, r.Origin
	deadline := j.budget.deadline(now)
	g.lease = Lease{
		ID: id, Token: s.tokens, Epoch: e.number, Identity: r.Identity, Origin: r.Origin, Job: r.Job,
		Attempt: j.budget.attempts, Intent: r.Intent, Exit: e.exit, Segment: e.segment, Granted: now,
		Expires: e.expires(now), BytesLeft: j.budget.bytesLeft(), Deadline: deadline,
	}
	g.ends = earlier(g.lease.Expires, deadline.Add(graceAfterDeadline))
	s.grants[id], s.holders[r.Identity] = g, g
	for _, b := range s.path(g) {
		b.grant(now, id)
	}
}

// inTime turns a wait that the job cannot afford into its end: in review if a refusal brought it there.
func (j *job) inTime(now time.Time, r Request, err error) error {
	if j.budget.started.IsZero() {
		return err
	}
	late := &HeldError{Origin: r.Origin, Reason: "the job was refused there, and nothing else can be had within its time"}
	if wait, ok := errors.AsType[*WaitError](err); ok && wait.Until.After(j.budget.deadline(now)) {
		late.Until = wait.Until
		err = j.budget.spent(BudgetElapsed)
	}
	if spent, ok := errors.AsType[*BudgetError](err); ok && spent.Which == BudgetElapsed && j.refusals > 0 {
		return late
	}
	return err
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// sit answers the epoch that the lease is for: the identity's own if it can go on, else a new one that is not seated
// yet (its number is 0).
func (s *Scheduler) sit(now time.Time, j *job, r Request, sources []*Source) (*epoch, error) {
	e := s.current(j, r)
	if e == nil || !e.serves(r.Intent) {
		return s.change(now, r, sources)
	}
	if r.Intent.Mode == Static {
		return s.stay(now, j, r, e, sources)
	}
	need := time.Duration(0)
	if j.last == 0 {
		need = e.need(j.budget.limits.Elapsed)
	}
	if !slices.Contains(sources, e.source) || !e.alive(now, need) || s.shut(now, e.exit, e.segment, r.Origin, "") != nil {
		return s.change(now, r, sources)
	}
	return s.resume(now, e, r.Origin)
}

// resume goes on with an epoch as soon as its way is open.
func (s *Scheduler) resume(now time.Time, e *epoch, origin string) (*epoch, error) {
	if b := s.supply(now, e.exit, e.segment, origin); b != nil {
		return nil, b.wait()
	}
	return e, nil
}

// change answers a new epoch.
func (s *Scheduler) change(now time.Time, r Request, sources []*Source) (*epoch, error) {
	e, b := s.mint(now, r, sources)
	if b != nil {
		return nil, b.wait()
	}
	return e, nil
}

// stay is sit for a static identity that has an exit: the same one, or nothing. Where the exit is refused, or lost, a
// person decides; where it is only out of order, it is waited for. When its session came to its natural end, the
// identity's next job may start on a new one.
func (s *Scheduler) stay(now time.Time, j *job, r Request, e *epoch, sources []*Source) (*epoch, error) {
	held := &HeldError{Origin: r.Origin, Exit: e.exit.Key(), Reason: e.lost}
	own := []*Source{e.source}
	if _, err := s.standing(now, own); err != nil {
		return nil, err
	}
	b := s.shut(now, e.exit, e.segment, r.Origin, "")
	switch {
	case e.lost != "":
		return nil, held
	case b != nil && (b.refused || !e.source.Fixed):
		held.Until, held.Reason = b.until, "static "+b.reason
		return nil, held
	case b != nil:
		return nil, b.wait()
	case e.alive(now, 0):
		return s.resume(now, e, r.Origin)
	case e.source.Fixed:
		return s.change(now, r, own)
	case j.last != 0:
		held.Reason = "the session of a static identity came to its end within the job"
		return nil, held
	}
	return s.change(now, r, sources)
}

// current is the epoch that the identity, or a rotating job, has now.
func (s *Scheduler) current(j *job, r Request) *epoch {
	if r.Intent.Mode == Rotate {
		return j.epoch
	}
	return s.seats[r.Identity]
}

// seatAt gives a new epoch its number and its place, and retires the one that was there.
func (s *Scheduler) seatAt(now time.Time, e *epoch, j *job) {
	s.epochs++
	e.number = s.epochs
	if !e.source.Fixed {
		e.exit.Session = s.cfg.NewSession()
	}
	e.born = now
	if life := lifetime(e.intent, e.source); life > 0 {
		e.ends = now.Add(life)
	}
	s.load[e.source]++
	if e.intent.Mode == Rotate {
		s.retire(j.epoch)
		j.epoch = e
		return
	}
	s.retire(s.seats[e.identity])
	s.seats[e.identity] = e
}
