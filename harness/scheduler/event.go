package scheduler

import "time"

// Kind names the call that an Event tells of.
type Kind string

// The kinds of event.
const (
	EventLease   Kind = "lease"
	EventObserve Kind = "observe" // an address was seen for the first time
	EventRenew   Kind = "renew"
	EventDiscard Kind = "discard"
	EventReport  Kind = "report"
	EventRelease Kind = "release"
	EventForget  Kind = "forget"
	EventResume  Kind = "resume"
	EventEnd     Kind = "end" // of an identity's sessions
)

// An Event tells of one call that changed something. Events are emitted after the lock is released, so two may
// arrive out of order: Seq is the order in which they took effect.
type Event struct {
	Seq      uint64
	Kind     Kind
	At       time.Time
	Job      string
	Identity string
	Origin   string
	Lease    string
	Attempt  int
	Epoch    uint64
	Exit     ExitRef
	Segment  Segment
	Outcome  Outcome  // of a report
	Decision Decision // of a report
	// Provider is whom a resume concerns.
	Provider string
}
