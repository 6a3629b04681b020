package scheduler

import (
	cryptorand "crypto/rand"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// A Scheduler grants leases in memory. It is safe for concurrent use. Make it with New.
type Scheduler struct {
	cfg     Config
	sources []*Source

	// mu guards all below, and the generators of cfg. Nothing is called out to while it is held, save NewID and
	// NewSession.
	mu        sync.Mutex
	seq       uint64
	tokens    uint64
	epochs    uint64
	calls     uint64    // leases asked for, which paces the sweeps
	reaped    time.Time // when dead owners were last looked for
	jobs      map[string]*job
	grants    map[string]*grant    // by lease id
	holders   map[string]*grant    // by identity
	seats     map[string]*epoch    // the affinity table, by identity
	occupants map[pairKey]*epoch   // whose session leaves by this address
	load      map[*Source]int      // epochs that live
	able      map[Intent][]*Source // what capable answered, by what it depends on
	addrs     map[string]string    // last seen address of each fixed exit
	exits     map[string]*breaker
	pairs     map[pairKey]*pair
	endpoints map[string]*breaker
	segments  map[Segment]*breaker
	origins   map[string]*origin
	stops     map[stopKey]string
	pauses    map[string]*span // accounts that asked for less, by provider
	pending   []Event
}

// A pairKey names an exit at an origin.
type pairKey struct{ exit, origin string }

// A pair is how an exit stands at an origin.
type pair struct {
	breaker
	limit span // as the origin asked this exit to wait
}

// A stopKey names what a person must put right.
type stopKey struct {
	domain   Domain
	provider string
}

// An origin is what is kept for one site.
type origin struct {
	pace     Pace
	gcra     gcra
	inFlight int
	limit    span // as the origin asked everybody to wait
	throttle throttle
	breaker  breaker
	ladder   ladder
	domains  map[string]*span // failure domains held here
	hold     span             // pattern
	touched  time.Time
}

// A job is what is kept for one job until Forget.
type job struct {
	id, identity string
	budget       budget
	sticky       bool
	notBefore    span
	epoch        *epoch // of a rotating job
	last         uint64 // epoch of its last lease
	free         bool   // its next epoch costs no route change
	refusals     int
	discards     int
	retired      bool
	backedOff    bool
}

// A grant is a lease that is out.
type grant struct {
	lease    Lease
	epoch    *epoch
	job      *job
	admitted bool      // Observe let it through
	newRoute bool      // it took a route change
	before   uint64    // the job's epoch before it
	free     bool      // the job's free route before it
	ends     time.Time // when the owner is taken for dead
}

// New makes a Scheduler. The error is that of Config.Validate.
func New(cfg Config) (*Scheduler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Limits = cfg.Limits.or(DefaultLimits())
	cfg.Ladder = cfg.Ladder.or()
	cfg.CoolDown = cfg.CoolDown.or()
	if cfg.MaxOrigins == 0 {
		cfg.MaxOrigins = 4096
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if cfg.NewID == nil {
		cfg.NewID = token
	}
	if cfg.NewSession == nil {
		cfg.NewSession = token
	}
	s := &Scheduler{
		cfg: cfg, jobs: map[string]*job{}, grants: map[string]*grant{}, holders: map[string]*grant{},
		seats: map[string]*epoch{}, occupants: map[pairKey]*epoch{}, load: map[*Source]int{}, able: map[Intent][]*Source{}, addrs: map[string]string{},
		exits: map[string]*breaker{}, pairs: map[pairKey]*pair{}, endpoints: map[string]*breaker{},
		segments: map[Segment]*breaker{}, origins: map[string]*origin{}, stops: map[stopKey]string{},
		pauses: map[string]*span{},
	}
	for i := range cfg.Sources {
		src := cfg.Sources[i]
		s.sources = append(s.sources, &src)
	}
	return s, nil
}

// token is 128 bits that nobody can guess, in letters and digits that every provider's grammar takes.
func token() string { return strings.ToLower(cryptorand.Text()) }

// do runs f under the lock, and tells of what it noted after that.
func (s *Scheduler) do(f func(now time.Time)) {
	for _, e := range s.locked(f) {
		s.cfg.OnEvent(e) // none is noted if OnEvent is nil
	}
}

func (s *Scheduler) locked(f func(now time.Time)) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(time.Now())
	events := s.pending
	s.pending = nil
	return events
}

// note keeps an event until the lock is released.
func (s *Scheduler) note(now time.Time, e Event) {
	if s.cfg.OnEvent == nil {
		return
	}
	s.seq++
	e.Seq, e.At = s.seq, now
	s.pending = append(s.pending, e)
}

// noteGrant is note for what happens to a lease.
func (s *Scheduler) noteGrant(now time.Time, kind Kind, g *grant) {
	s.note(now, g.event(kind))
}

func (g *grant) event(kind Kind) Event {
	l := &g.lease
	return Event{
		Kind: kind, Job: l.Job, Identity: l.Identity, Origin: l.Origin, Lease: l.ID, Attempt: l.Attempt,
		Epoch: l.Epoch, Exit: g.epoch.exit, Segment: l.Segment,
	}
}

// find answers the grant of l. The error is a *LeaseError.
func (s *Scheduler) find(now time.Time, l Lease) (*grant, error) {
	g := s.grants[l.ID]
	switch {
	case g == nil:
		return nil, &LeaseError{Lease: l.ID, Kind: ErrUnknownLease}
	case g.lease.Token != l.Token || g.lease.Identity != l.Identity || g.lease.Job != l.Job || g.lease.Origin != l.Origin:
		return nil, &LeaseError{Lease: l.ID, Kind: ErrForeignLease}
	case !now.Before(g.ends):
		return nil, &LeaseError{Lease: l.ID, Kind: ErrExpiredLease}
	}
	return g, nil
}

// end takes a lease back: its slot and its probe permits are free again.
func (s *Scheduler) end(now time.Time, g *grant) {
	id := g.lease.ID
	delete(s.grants, id)
	if s.holders[g.lease.Identity] == g {
		delete(s.holders, g.lease.Identity)
	}
	g.epoch.leased, g.epoch.used = false, now
	for _, b := range s.path(g) {
		b.release(id)
	}
	if o := s.origins[g.lease.Origin]; o != nil {
		o.inFlight--
		o.touched = now
	}
}

// path is every breaker that there is on the way of a lease.
func (s *Scheduler) path(g *grant) []*breaker {
	var out []*breaker
	add := func(b *breaker, ok bool) {
		if ok {
			out = append(out, b)
		}
	}
	e := g.epoch
	if o := s.origins[e.origin]; o != nil {
		out = append(out, &o.breaker)
	}
	b, ok := s.endpoints[e.exit.Endpoint]
	add(b, ok)
	b, ok = s.segments[e.segment]
	add(b, ok)
	for _, key := range keys(e.exit) {
		b, ok = s.exits[key]
		add(b, ok)
		if p, ok := s.pairs[pairKey{key, e.origin}]; ok {
			out = append(out, &p.breaker)
		}
	}
	return out
}

// keys are the names under which an exit's health may be kept: a fixed exit has some from before its address was seen.
func keys(e ExitRef) []string {
	if e.Session == "" && e.Addr != "" {
		return []string{e.Addr, e.Source}
	}
	return []string{e.Key()}
}

// retire ends an epoch. Its session id is never used again.
func (s *Scheduler) retire(e *epoch) {
	if e == nil || e.retired {
		return
	}
	e.retired = true
	s.load[e.source]--
	if key := (pairKey{e.exit.Addr, e.origin}); s.occupants[key] == e {
		delete(s.occupants, key)
	}
}

// entry answers m[k], made if it is not there.
func entry[K comparable, V any](m map[K]*V, k K) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}
