package identity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// Config configures a Broker. Open and Bind are required.
type Config struct {
	// Open makes a browser context. The channel is closed when the context's browser is gone.
	Open func(ctx context.Context, o drivers.ContextOptions) (drivers.Context, <-chan struct{}, error)
	// Bind opens the port of a lease.
	Bind func(ctx context.Context, g Grant) (Port, error)
	// MaxJobs recycles a context after this many jobs. Zero means 50; contexts that live on make the driver's
	// process grow (field case FC01-09).
	MaxJobs int
	// MaxAge recycles a context of this age. Zero means 30 min.
	MaxAge time.Duration
	// MaxWarm is how many idle contexts are kept. Zero means 32, about 0.5 GiB of chromium-headless-shell.
	MaxWarm int
	// OnEvent is told when sessions start and end. Nil means nobody is. It must not call the Broker.
	OnEvent func(Event)
	// Logger receives what cannot be returned. Nil drops it.
	Logger *slog.Logger
}

// An Event is the start or the end of a session.
type Event struct {
	Start    bool
	At       time.Time
	Identity ID
	Epoch    uint64
	Exit     string
	Reason   string // of an end
	Age      time.Duration
}

// closeTimeout bounds the closing of one context. Escalation beyond it is the driver's.
const closeTimeout = 10 * time.Second

// A Broker keeps at most one session per identity, and keeps it under the lease it was born with. It is safe
// for concurrent use; the caller sees to it that one identity has one attempt at a time.
type Broker struct {
	cfg Config

	mu       sync.Mutex
	sessions map[ID]*Session
	closed   bool
}

// ErrBusy reports that the identity's session is in use by another attempt.
var ErrBusy = errors.New("session in use")

// ErrClosed reports that the Broker is closed.
var ErrClosed = errors.New("broker closed")

// NewBroker makes a Broker.
func NewBroker(cfg Config) (*Broker, error) {
	if cfg.Open == nil || cfg.Bind == nil {
		return nil, errors.New("identity: Config needs Open and Bind")
	}
	if cfg.MaxJobs == 0 {
		cfg.MaxJobs = 50
	}
	if cfg.MaxAge == 0 {
		cfg.MaxAge = 30 * time.Minute
	}
	if cfg.MaxWarm == 0 {
		cfg.MaxWarm = 32
	}
	if cfg.OnEvent == nil {
		cfg.OnEvent = func(Event) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Broker{cfg: cfg, sessions: map[ID]*Session{}}, nil
}

// Acquire answers the identity's session under g, for the caller's use alone until Release. A session of the
// same epoch is resumed with its jar; one of another epoch is ended first, with its jar. The error is ErrBusy,
// ErrClosed, that of Bind, or a *drivers.Error.
func (b *Broker) Acquire(ctx context.Context, g Grant, p Persona) (*Session, error) {
	s, old, err := b.claimParked(ctx, g, p)
	if err != nil {
		return nil, err
	}
	if old != nil {
		b.end(ctx, old, "new lease")
	}
	if err := b.ready(ctx, s, g); err != nil {
		b.Release(ctx, s, Retire)
		return nil, err
	}
	return s, nil
}

// claimParked is claim, after waiting for a session that is being parked.
func (b *Broker) claimParked(ctx context.Context, g Grant, p Persona) (s, old *Session, err error) {
	for {
		b.mu.Lock()
		var parking chan struct{}
		if c := b.sessions[g.Identity]; c != nil {
			parking = c.parking
		}
		if parking == nil {
			s, old, err = b.claim(g, p)
			b.mu.Unlock()
			return s, old, err
		}
		b.mu.Unlock()
		select {
		case <-parking:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// claim marks the session of g busy, making it if there is none of this epoch, and answers the session that
// it replaces. The caller holds b.mu.
func (b *Broker) claim(g Grant, p Persona) (s, old *Session, err error) {
	if b.closed {
		return nil, nil, ErrClosed
	}
	s = b.sessions[g.Identity]
	if s != nil && s.busy {
		return nil, nil, fmt.Errorf("%s: %w", g.Identity, ErrBusy)
	}
	if s == nil || s.epoch != g.Epoch {
		old = s
		s = &Session{
			id: g.Identity, epoch: g.Epoch, exit: g.Exit, opened: time.Now(),
			persona: p.Complete(g.Country), sink: &switchSink{}, origins: map[string]bool{},
		}
		b.sessions[g.Identity] = s
	}
	s.busy, s.expires, s.used = true, g.Expires, time.Now()
	return s, old, nil
}

// ready gives a claimed session a port and a live context.
func (b *Broker) ready(ctx context.Context, s *Session, g Grant) error {
	if s.port == nil {
		port, err := b.cfg.Bind(ctx, g)
		if err != nil {
			return fmt.Errorf("port for %s: %w", g.Identity, err)
		}
		s.port = port
		b.cfg.OnEvent(Event{Start: true, At: time.Now(), Identity: s.id, Epoch: s.epoch, Exit: s.exit})
	}
	if s.alive() && (s.jobs >= b.cfg.MaxJobs || time.Since(s.born) >= b.cfg.MaxAge) {
		b.park(ctx, s)
	}
	if !s.alive() {
		b.closeContext(ctx, s)
		if err := b.open(ctx, s); err != nil {
			return err
		}
	}
	s.jobs++
	return nil
}

// open makes the session's context, with the jar that an earlier context of the same session left.
func (b *Broker) open(ctx context.Context, s *Session) error {
	bc, lost, err := b.cfg.Open(ctx, drivers.ContextOptions{
		Proxy: s.port.Addr(), Locale: s.persona.Locale, TimeZone: s.persona.TimeZone,
		Viewport: s.persona.Viewport, Geolocation: s.persona.Geo, State: s.jar, Sink: s.sink,
	})
	if err != nil {
		return fmt.Errorf("context for %s: %w", s.id, err)
	}
	s.ctx, s.lost, s.born, s.jobs, s.jar = bc, lost, time.Now(), 0, nil
	return nil
}

// Fate says what becomes of a session when its attempt is over.
type Fate int

// The fates.
const (
	Keep    Fate = iota // warm, for the identity's next job under the same lease
	Recycle             // the context is broken, the lease is not: a new context next time, with an empty jar
	Retire              // the session is over: context, jar and port go now
)

// Release gives the session back. It waits for what it closes, bounded by its own time limit even when ctx is
// done already.
func (b *Broker) Release(ctx context.Context, s *Session, f Fate) {
	s.Listen(nil)
	switch f {
	case Retire:
		b.forget(s)
		b.end(ctx, s, "retired")
		return
	case Recycle:
		b.closeContext(ctx, s)
	case Keep:
	}
	b.mu.Lock()
	s.busy, s.used = false, time.Now()
	gone := b.closed || b.sessions[s.id] != s
	b.mu.Unlock()
	if gone {
		b.end(ctx, s, "closed")
		return
	}
	b.trim(ctx)
}

// End ends the identity's idle session, if there is one: its lease is over.
func (b *Broker) End(ctx context.Context, id ID, reason string) {
	b.mu.Lock()
	s := b.sessions[id]
	if s == nil || s.busy {
		b.mu.Unlock()
		return
	}
	delete(b.sessions, id)
	b.mu.Unlock()
	b.end(ctx, s, reason)
}

// Close ends every idle session; those in use end when they are released.
func (b *Broker) Close(ctx context.Context) {
	b.mu.Lock()
	b.closed = true
	var idle []*Session
	for id, s := range b.sessions {
		if !s.busy {
			idle = append(idle, s)
		}
		delete(b.sessions, id)
	}
	b.mu.Unlock()
	for _, s := range idle {
		b.end(ctx, s, "closed")
	}
}

// trim closes the contexts of the longest idle sessions beyond MaxWarm. Their jars stay in memory, so nothing
// but speed is lost. Sessions whose lease has expired are ended altogether.
func (b *Broker) trim(ctx context.Context) {
	for {
		s, expired := b.pickIdle()
		switch {
		case s == nil:
			return
		case expired:
			b.end(ctx, s, "lease expired")
		default:
			b.park(ctx, s)
			b.mu.Lock()
			close(s.parking)
			s.busy, s.parking = false, nil
			closed := b.closed
			b.mu.Unlock()
			if closed {
				b.end(ctx, s, "closed")
			}
		}
	}
}

// pickIdle takes an expired idle session out, or else claims the longest idle one if too many are warm.
func (b *Broker) pickIdle() (s *Session, expired bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	warm := 0
	var oldest *Session
	for id, c := range b.sessions {
		if c.busy {
			continue
		}
		if !c.expires.IsZero() && time.Now().After(c.expires) {
			delete(b.sessions, id)
			return c, true
		}
		if c.ctx == nil {
			continue
		}
		warm++
		if oldest == nil || c.used.Before(oldest.used) {
			oldest = c
		}
	}
	if warm <= b.cfg.MaxWarm {
		return nil, false
	}
	oldest.busy, oldest.parking = true, make(chan struct{})
	return oldest, false
}

// park reads the jar and closes the context. A jar that cannot be read is lost, and said so.
func (b *Broker) park(ctx context.Context, s *Session) {
	origins := make([]string, 0, len(s.origins))
	for o := range s.origins {
		origins = append(origins, o)
	}
	jar, err := s.ctx.State(ctx, origins...)
	if err != nil {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "jar lost while recycling a context",
			slog.String("identity", string(s.id)), slog.String("error", err.Error()))
	}
	b.closeContext(ctx, s)
	s.jar = jar
}

func (b *Broker) forget(s *Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions[s.id] == s {
		delete(b.sessions, s.id)
	}
}

// end destroys context, jar and port of a session that nobody can reach any more.
func (b *Broker) end(ctx context.Context, s *Session, reason string) {
	b.closeContext(ctx, s)
	s.jar = nil
	if s.port == nil {
		return // never started
	}
	if err := s.port.Close(); err != nil {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "port not closed",
			slog.String("identity", string(s.id)), slog.String("error", err.Error()))
	}
	b.cfg.OnEvent(Event{
		At: time.Now(), Identity: s.id, Epoch: s.epoch, Exit: s.exit, Reason: reason, Age: time.Since(s.opened),
	})
}

// closeContext closes the context within its own time limit: ctx may be done by now, and the browser context
// must close all the same.
func (b *Broker) closeContext(ctx context.Context, s *Session) {
	if s.ctx == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	err := s.ctx.Close(ctx)
	if err != nil && s.alive() {
		b.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "context not closed",
			slog.String("identity", string(s.id)), slog.String("error", err.Error()))
	}
	s.ctx, s.page, s.jar = nil, nil, nil
}
