package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// State is how a party stands.
type State string

// The states. A party that is not in a Snapshot is closed.
const (
	StateClosed   State = "closed"    // in order; failures may be counted against it
	StateOpen     State = "open"      // kept out until Until: an exit is dead, a pair burned, an origin failing
	StateHalfOpen State = "half_open" // the next lease tries it
)

// Snapshot is the state of everything at a moment, for people and for tests. All its lists are sorted by name.
type Snapshot struct {
	At        time.Time
	Exits     []Health // by exit key
	Pairs     []Health // by exit key and origin: burned, or asked to wait
	Endpoints []Health // by host:port
	Segments  []Health // by Segment.String
	Origins   []OriginState
	Held      []Hold // failure domains held at an origin
	Stopped   []StoppedParty
	Seats     []Seat // the affinity table
	Leases    []Lease
	Jobs      int // known, ended ones included until they are forgotten
}

// Health is one party's.
type Health struct {
	Name   string
	Origin string // of a pair
	State  State
	Until  time.Time // when it may be tried; zero if at once
	Fails  int       // in a row
	Trips  int       // in a row
	// Limited is until when the origin asked this exit to wait; zero if it did not.
	Limited time.Time
}

// OriginState is one origin's.
type OriginState struct {
	Health
	InFlight  int
	NextLease time.Time // what its pace allows
	Diagnosis string    // "pattern" while the origin is held
	HeldUntil time.Time // zero if it is not
}

// A Hold keeps a failure domain from an origin.
type Hold struct {
	Domain, Origin string
	Until          time.Time
}

// A StoppedParty waits for a person, and for Resume.
type StoppedParty struct {
	Domain   Domain
	Provider string
	Reason   string
}

// A Seat is the exit that an identity has. Origin is where it was last.
type Seat struct {
	Identity, Origin string
	Epoch            uint64
	Exit             ExitRef
	Mode             Mode
	Since            time.Time
	Ends             time.Time // zero if it has no end
	Leased           bool
	Over             bool   // retired: the next lease is on a new session, or on none
	Lost             string // why a static identity waits for a person
}

// Snapshot answers the state of everything, in a fixed order.
func (s *Scheduler) Snapshot() Snapshot {
	var out Snapshot
	s.do(func(now time.Time) {
		out = Snapshot{At: now, Jobs: len(s.jobs)}
		for name, b := range s.exits {
			out.Exits = append(out.Exits, b.health(now, name))
		}
		for name, b := range s.endpoints {
			out.Endpoints = append(out.Endpoints, b.health(now, name))
		}
		for seg, b := range s.segments {
			out.Segments = append(out.Segments, b.health(now, seg.String()))
		}
		for key, p := range s.pairs {
			h := p.health(now, key.exit)
			h.Origin, h.Limited = key.origin, p.limit.end(now)
			out.Pairs = append(out.Pairs, h)
		}
		for key, why := range s.stops {
			out.Stopped = append(out.Stopped, StoppedParty{key.domain, key.provider, why})
		}
		s.snapOrigins(now, &out)
		s.snapLeases(&out)
	})
	out.sort()
	return out
}

func (s *Scheduler) snapOrigins(now time.Time, out *Snapshot) {
	for name, o := range s.origins {
		st := OriginState{
			Health: o.breaker.health(now, name), InFlight: o.inFlight, NextLease: o.gcra.next(now, o.pace), HeldUntil: o.hold.end(now),
		}
		st.Limited = o.limit.end(now)
		if !st.HeldUntil.IsZero() {
			st.Diagnosis = DiagnosisPattern
		}
		out.Origins = append(out.Origins, st)
		for domain, h := range o.domains {
			if until := h.end(now); !until.IsZero() {
				out.Held = append(out.Held, Hold{domain, name, until})
			}
		}
	}
}

func (s *Scheduler) snapLeases(out *Snapshot) {
	for g := range maps.Values(s.grants) {
		out.Leases = append(out.Leases, g.lease)
	}
	for id, e := range s.seats {
		out.Seats = append(out.Seats, Seat{
			Identity: id, Origin: e.origin, Epoch: e.number, Exit: e.exit, Mode: e.intent.Mode,
			Since: e.born, Ends: e.ends, Leased: e.leased, Over: e.retired, Lost: e.lost,
		})
	}
}

func (s *Snapshot) sort() {
	byName := func(a, b Health) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Origin, b.Origin)) }
	slices.SortFunc(s.Exits, byName)
	slices.SortFunc(s.Pairs, byName)
	slices.SortFunc(s.Endpoints, byName)
	slices.SortFunc(s.Segments, byName)
	slices.SortFunc(s.Origins, func(a, b OriginState) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Held, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Domain, b.Domain))
	})
	slices.SortFunc(s.Stopped, func(a, b StoppedParty) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Domain, b.Domain))
	})
	slices.SortFunc(s.Seats, func(a, b Seat) int {
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Origin, b.Origin))
	})
	slices.SortFunc(s.Leases, func(a, b Lease) int { return cmp.Compare(a.Token, b.Token) })
}

// health describes a breaker at now.
func (b *breaker) health(now time.Time, name string) Health {
	h := Health{Name: name, State: StateClosed, Fails: b.fails, Trips: b.trips}
	if b.tripped() {
		h.State = StateHalfOpen
	}
	if until, ok := b.ready(now, ""); !ok {
		h.State, h.Until = StateOpen, until
	}
	return h
}

// end is when the span ends; zero if it is not in force.
func (s *span) end(now time.Time) time.Time {
	if until, ok := s.blocks(now); ok {
		return until
	}
	return time.Time{}
}
