package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// The kinds of error. Each has a type that carries the details.
var (
	// ErrNoCapacity reports that nothing can be had now; see WaitError. It says nothing bad about any exit.
	ErrNoCapacity = errors.New("no capacity")
	// ErrRefused reports an intent that no source can express; see RefusedError.
	ErrRefused = errors.New("no source can do that")
	// ErrStopped reports that a person must act before anything leaves; see StoppedError.
	ErrStopped = errors.New("stopped")
	// ErrHeld reports that the job must go to a person: its origin, or its own static exit, is held; see HeldError.
	ErrHeld = errors.New("held for review")
	// ErrBudget reports a spent budget; see BudgetError.
	ErrBudget = errors.New("budget spent")
	// ErrBurned reports an exit that must not be shown to the origin; see BurnedError.
	ErrBurned = errors.New("wrong exit")
	// ErrExitChanged reports that a session's exit is another one than before; see ChangedError.
	ErrExitChanged = errors.New("exit changed")

	// ErrUnknownLease reports a lease that was never granted, or that is over: reported, released or superseded.
	ErrUnknownLease = errors.New("unknown lease")
	// ErrExpiredLease reports a lease whose time is up. Its work must not be committed.
	ErrExpiredLease = errors.New("expired lease")
	// ErrForeignLease reports a lease whose fencing token, identity, origin or job is not the one granted.
	ErrForeignLease = errors.New("foreign lease")
)

// A WaitError is an ErrNoCapacity: ask again at Until.
type WaitError struct {
	Until  time.Time
	Reason string
	// Refused is true when the wait is for the end of a burn or a hold: the exits that there are were refused by the
	// origin. It can take long (Config.CoolDown.Pair), and a caller may send the job to review instead.
	Refused bool
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("no capacity before %s: %s", e.Until.UTC().Format(time.RFC3339), e.Reason)
}

// Unwrap is ErrNoCapacity.
func (*WaitError) Unwrap() error { return ErrNoCapacity }

// A RefusedError is an ErrRefused: the job is denied before any traffic, because its demand is never weakened.
type RefusedError struct {
	Field  string // of the intent, or of the request: "city", "country", "mode", "identity", …
	Value  string // what was asked for
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("intent refused: %s %q: %s", e.Field, e.Value, e.Reason)
}

// Unwrap is ErrRefused.
func (*RefusedError) Unwrap() error { return ErrRefused }

// A StoppedError is an ErrStopped: every source that could serve the intent is stopped until Resume.
type StoppedError struct {
	Domain   Domain // DomainCredential or DomainAccount
	Provider string
	Reason   string
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("%s of provider %q is stopped: %s; put it right, then resume it", e.Domain, e.Provider, e.Reason)
}

// Unwrap is ErrStopped.
func (*StoppedError) Unwrap() error { return ErrStopped }

// A HeldError is an ErrHeld: the job ends in review without another visit, as part of the review item of its origin.
type HeldError struct {
	Origin    string
	Exit      string    // key of the exit that is held; empty when it is the origin
	Until     time.Time // when the hold ends by itself; zero if it does not
	Diagnosis string    // "pattern" when every exit is refused
	Reason    string
}

func (e *HeldError) Error() string { return fmt.Sprintf("%s is held: %s", e.Origin, e.Reason) }

// Unwrap is ErrHeld.
func (*HeldError) Unwrap() error { return ErrHeld }

// The budgets that can be spent, as BudgetError.Which names them.
const (
	BudgetAttempts     = "attempts"
	BudgetRouteChanges = "route_changes"
	BudgetElapsed      = "elapsed"
	BudgetBytes        = "bytes"
)

// A BudgetError is an ErrBudget: the job ends failed.
type BudgetError struct {
	Which string // "attempts", "route_changes", "elapsed" or "bytes"
	Limit string // as configured, with its unit
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("budget of %s (%s) is spent", e.Which, e.Limit)
}

// Unwrap is ErrBudget.
func (*BudgetError) Unwrap() error { return ErrBudget }

// A BurnedError is an ErrBurned: Discard the lease before the origin sees a byte.
type BurnedError struct {
	Exit   string // key of the exit
	Origin string
	Until  time.Time // when the exit may be shown again; zero if that is not known
	Reason string
}

func (e *BurnedError) Error() string {
	return fmt.Sprintf("exit %s must not meet %s: %s", e.Exit, e.Origin, e.Reason)
}

// Unwrap is ErrBurned.
func (*BurnedError) Unwrap() error { return ErrBurned }

// A ChangedError is an ErrExitChanged: the session is broken. Report it with RuleNewSession; it is too late to discard.
type ChangedError struct{ From, To string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("exit changed from %s to %s under one session", e.From, e.To)
}

// Unwrap is ErrExitChanged.
func (*ChangedError) Unwrap() error { return ErrExitChanged }

// A LeaseError is an ErrUnknownLease, ErrExpiredLease or ErrForeignLease. Nothing changed.
type LeaseError struct {
	Lease string
	Kind  error
}

func (e *LeaseError) Error() string { return fmt.Sprintf("lease %q: %v", e.Lease, e.Kind) }

// Unwrap is the kind.
func (e *LeaseError) Unwrap() error { return e.Kind }
