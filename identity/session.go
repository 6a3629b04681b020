package identity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// A Grant is the part of a lease that a session is bound to.
type Grant struct {
	Lease    string
	Identity ID
	Origin   string
	Epoch    uint64 // a session belongs to exactly one epoch of its identity
	Exit     string // key of the exit, for events
	Country  string // of the exit, for the persona; empty if unknown
	Expires  time.Time
}

// ErrBindingMismatch reports that identity, context and lease do not belong together. It is a bug of ours or
// a lease used too late; the attempt must not run (field case FC03-03).
var ErrBindingMismatch = errors.New("binding mismatch")

// Port is a session's only way out, opened for its lease and closed with it.
type Port interface {
	// Addr is the host:port that the browser is given as its proxy.
	Addr() string
	// Close resets what runs through the port and frees it. It may be called twice.
	Close() error
}

// A Session is one identity's browser context, jar and port under one lease epoch. It is used by one attempt
// at a time, between Broker.Acquire and Broker.Release.
type Session struct {
	id      ID
	epoch   uint64
	exit    string
	persona Persona
	expires time.Time
	opened  time.Time // of the session
	port    Port

	ctx     drivers.Context
	lost    <-chan struct{} // closed when the browser of ctx is gone
	born    time.Time       // of ctx
	jobs    int             // taken by ctx
	page    drivers.Page    // warm page; nil if none
	sink    *switchSink
	origins map[string]bool // visited, whose localStorage belongs to the jar
	jar     *drivers.StorageState
	busy    bool
	parking chan struct{} // not nil while the Broker parks the idle session; closed when it is done
	used    time.Time
}

// Identity is whose session this is.
func (s *Session) Identity() ID { return s.id }

// Epoch is the lease epoch that the session is bound to.
func (s *Session) Epoch() uint64 { return s.epoch }

// Port is the session's way out.
func (s *Session) Port() Port { return s.port }

// Persona is what pages see, with everything the job left open filled in from the exit's country.
func (s *Session) Persona() Persona { return s.persona }

// Check reports ErrBindingMismatch unless the session belongs to g. The run loop calls it before and after
// every attempt.
func (s *Session) Check(g Grant) error {
	if s.id != g.Identity || s.epoch != g.Epoch {
		return fmt.Errorf("session of %s epoch %d used with lease %s of %s epoch %d: %w",
			s.id, s.epoch, g.Lease, g.Identity, g.Epoch, ErrBindingMismatch)
	}
	return nil
}

// Listen makes sink the receiver of the context's events until the next call. Nil drops them.
func (s *Session) Listen(sink drivers.Sink) { s.sink.set(sink) }

// Visited notes that the session has been at origin ("https://shop.test"), whose localStorage is part of the
// jar from now on.
func (s *Session) Visited(origin string) { s.origins[origin] = true }

// Page answers the session's warm page, or a new one if there is none. A warm page keeps its renderer, which
// is where most of the cost of a job is.
func (s *Session) Page(ctx context.Context) (drivers.Page, error) {
	if s.page != nil {
		return s.page, nil
	}
	p, err := s.ctx.NewPage(ctx)
	if err != nil {
		return nil, fmt.Errorf("page for %s: %w", s.id, err)
	}
	s.page = p
	return p, nil
}

// DropPage closes the warm page: it failed, and a failed page is never used again.
func (s *Session) DropPage(ctx context.Context) error {
	if s.page == nil {
		return nil
	}
	p := s.page
	s.page = nil
	return p.Close(ctx)
}

// alive reports whether the context's browser still runs.
func (s *Session) alive() bool {
	if s.ctx == nil {
		return false
	}
	select {
	case <-s.lost:
		return false
	default:
		return true
	}
}

// switchSink passes events to whoever listens at the moment.
type switchSink struct {
	mu sync.Mutex
	to drivers.Sink
}

func (s *switchSink) set(to drivers.Sink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
}

// Record passes e on.
func (s *switchSink) Record(e drivers.Event) {
	s.mu.Lock()
	to := s.to
	s.mu.Unlock()
	if to != nil {
		to.Record(e)
	}
}
