package scheduler

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Config configures a Scheduler. The zero value is valid and refuses every intent, because it has no source.
type Config struct {
	// Sources are where exits come from. Their names differ.
	Sources []Source
	// Origins holds the pace of origins by name. Others have DefaultPace.
	Origins map[string]Pace
	// DefaultPace is for origins without an entry. Zero means no limit but what the origin itself asks for.
	DefaultPace Pace
	// Limits are what a job may spend where its request says nothing. Zero fields mean those of DefaultLimits.
	Limits Limits
	// Ladder tunes what refusals lead to. The zero value is design.md's default.
	Ladder Ladder
	// CoolDown tunes how long failures keep a party out. The zero value is usable.
	CoolDown CoolDown
	// Exclusive makes Observe refuse an address by which another identity's live session leaves at the same origin.
	// It needs more addresses than identities; fixed exits are exempt.
	Exclusive bool
	// MaxOrigins bounds the origins remembered at a time, against redirects to ever new names. Zero means 4096,
	// about 4 MiB. Idle ones are forgotten first.
	MaxOrigins int
	// Rand draws the jitter and breaks ties. Nil means a generator seeded at random. The Scheduler's lock guards it.
	Rand *rand.Rand
	// NewID names a lease, NewSession a provider session. Nil means 128 bits of crypto/rand in lower-case base 32.
	// They are called under the lock.
	NewID, NewSession func() string
	// OnEvent is told of every call that changed something, outside the lock. Nil means nobody is. It may call the
	// Scheduler.
	OnEvent func(Event)
}

// Pace is how fast leases for one origin are granted. Zero fields mean no limit.
type Pace struct {
	PerSecond   float64 // leases a second
	Burst       int     // leases at once after a pause; zero means 1
	Concurrency int     // leases held at a time
}

// Ladder is the policy on refusals: design.md, section 5. Zero fields mean the default.
type Ladder struct {
	Window        time.Duration // refusals older than this are forgotten: 10 min
	DomainExits   int           // refused exits of one failure domain (subnet, else segment) that hold the domain: 2
	OriginDomains int           // domains with a refused exit that hold the origin: 3
	Hold          time.Duration // how long a domain or an origin is held: 15 min
}

// CoolDown is how long failures keep a party out: the first time Base, doubling each time up to Cap, with equal
// jitter (half fixed, half drawn). Zero fields mean the default.
type CoolDown struct {
	// Pair is for a burned (exit, origin): 10 min, up to 6 h. No burn lengths are published (facts/proxy.md, section 9).
	Pair Growth
	// Exit is for a dead exit: 30 s, up to 15 min.
	Exit Growth
	// Supply is for endpoints, segments and paused accounts: 15 s and no more. Longer buys nothing and delays recovery
	// (facts/proxy.md, section 5.4 e).
	Supply Growth
	// Origin is for an origin that fails: 15 s and no more.
	Origin Growth
	// Retry is between two attempts of one job: 2 s, up to 30 s.
	Retry Growth
	// MaxWait is the longest wait that a job is kept for; beyond it the job is deferred to review. 15 min.
	MaxWait time.Duration
}

// Growth is a duration that doubles from Base to Cap.
type Growth struct{ Base, Cap time.Duration }

// DefaultLimits is what a job may spend if nobody says otherwise. Bytes have no limit by default: pages differ too
// much for one number to be right.
func DefaultLimits() Limits {
	return Limits{Attempts: 3, RouteChanges: 2, Elapsed: 90 * time.Second}
}

// Validate reports every fault, joined.
func (c Config) Validate() error {
	var errs []error
	seen := map[string]bool{}
	for _, s := range c.Sources {
		if seen[s.Name] {
			errs = append(errs, fmt.Errorf("scheduler: source %q is there twice", s.Name))
		}
		seen[s.Name] = true
		errs = append(errs, s.validate())
	}
	errs = append(errs, c.DefaultPace.validate("default"))
	for name, p := range c.Origins {
		errs = append(errs, p.validate(name))
	}
	errs = append(errs, c.Limits.validate(), c.CoolDown.validate(), c.Ladder.validate())
	if c.MaxOrigins < 0 {
		errs = append(errs, fmt.Errorf("scheduler: MaxOrigins is %d: it cannot be negative", c.MaxOrigins))
	}
	return errors.Join(errs...)
}

func (s Source) validate() error {
	switch {
	case s.Name == "":
		return errors.New("scheduler: a source has no name")
	case s.Protocol != protocolHTTP && s.Protocol != protocolSOCKS && s.Protocol != protocolDirect:
		return fmt.Errorf("scheduler: source %q: protocol %q is none of http, socks5, direct", s.Name, s.Protocol)
	case s.Protocol != protocolDirect && len(s.Endpoints) == 0:
		return fmt.Errorf("scheduler: source %q has no endpoint", s.Name)
	case s.MaxTTL < 0 || s.IdleLimit < 0:
		return fmt.Errorf("scheduler: source %q: a limit cannot be negative", s.Name)
	}
	return nil
}

func (p Pace) validate(name string) error {
	if math.IsNaN(p.PerSecond) || math.IsInf(p.PerSecond, 0) || p.PerSecond < 0 || p.Burst < 0 || p.Concurrency < 0 {
		return fmt.Errorf("scheduler: pace of %s: %v/s, burst %d, concurrency %d: each must be a number, zero or more",
			name, p.PerSecond, p.Burst, p.Concurrency)
	}
	return nil
}

func (l Limits) validate() error {
	if l.Attempts < 0 || l.RouteChanges < -1 || l.Elapsed < 0 || l.Bytes < 0 {
		return fmt.Errorf("scheduler: limits %+v: only route changes may be negative, and then -1 for none", l)
	}
	return nil
}

func (l Ladder) validate() error {
	if l.Window < 0 || l.Hold < 0 || l.DomainExits < 0 || l.OriginDomains < 0 {
		return fmt.Errorf("scheduler: ladder %+v: nothing in it can be negative", l)
	}
	return nil
}

func (c CoolDown) validate() error {
	for _, g := range []Growth{c.Pair, c.Exit, c.Supply, c.Origin, c.Retry, {Base: c.MaxWait}} {
		if g.Base < 0 || g.Cap < 0 || (g.Cap > 0 && g.Cap < g.Base) {
			return fmt.Errorf("scheduler: cool-down %v to %v: negative, or its cap is below its base", g.Base, g.Cap)
		}
	}
	return nil
}

// The protocols of sources and intents.
const (
	protocolHTTP   = "http"
	protocolSOCKS  = "socks5"
	protocolDirect = "direct"
)
