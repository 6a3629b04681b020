package scheduler

import "context"

// A Scheduler grants leases in memory. It is safe for concurrent use.
type Scheduler struct{ cfg Config }

// New makes a Scheduler. The error is that of Config.Validate.
func New(cfg Config) (*Scheduler, error) { return &Scheduler{cfg: cfg}, cfg.Validate() }

// Lease grants an exit for one attempt of a job, without ever blocking. A job has one lease at a time, and so has
// an identity. The error is a *WaitError, *RefusedError, *StoppedError, *HeldError or *BudgetError.
func (s *Scheduler) Lease(context.Context, Request) (Lease, error) { return Lease{}, ErrNoCapacity }

// Observe is told the exit's address and country before the origin sees a byte; either may be empty. It is cheap:
// call it for each connection. The error is a *BurnedError (Discard, then Lease again), a *ChangedError (report
// it), or a *LeaseError.
func (s *Scheduler) Observe(l Lease, addr, country string) error { return ErrUnknownLease }

// Discard gives a lease back whose exit turned out wrong before the origin saw it: the session is retired, at no cost
// in attempts or route changes. The error is a *WaitError after every third time in one job: wait until then before
// Lease; or a *LeaseError.
func (s *Scheduler) Discard(l Lease) error { return ErrUnknownLease }

// Report ends the lease with what came of it, moves the health of the blamed party alone, and decides what to do
// with the job. The error is a *LeaseError; then nothing changed.
func (s *Scheduler) Report(ctx context.Context, l Lease, o Outcome) (Decision, error) {
	return Decision{}, ErrUnknownLease
}

// Renew says that the lease is still in use. The error is a *LeaseError.
func (s *Scheduler) Renew(l Lease) (Lease, error) { return Lease{}, ErrUnknownLease }

// Release ends a lease without a report: nobody's health moves, the attempt stays spent. A lease that is over
// already is no error.
func (s *Scheduler) Release(l Lease) error { return nil }

// Forget drops what is kept for a job that has ended.
func (s *Scheduler) Forget(job string) {}

// Spent answers what a job has spent so far; false if it is not known.
func (s *Scheduler) Spent(job string) (Spent, bool) { return Spent{}, false }

// Resume lifts the stop of a provider's credential and account, once a person has put them right.
func (s *Scheduler) Resume(provider string) {}

// EndIdentity ends the identity's sessions: its next lease is on a new one. It is how a person gives a static
// identity another exit.
func (s *Scheduler) EndIdentity(identity string) {}

// Snapshot answers the state of everything, in a fixed order.
func (s *Scheduler) Snapshot() Snapshot { return Snapshot{} }

// Spent is what a job has used of its Limits.
type Spent struct {
	Attempts     int
	RouteChanges int
	Bytes        int64
}

// Snapshot is the state of everything at a moment.
type Snapshot struct{}
