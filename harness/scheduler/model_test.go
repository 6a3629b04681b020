package scheduler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A record is one attempt as the model remembers it. The model keeps every attempt there ever was and works each
// answer out from that list alone: slow, obvious, and with nothing in common with the Scheduler's tables.
type record struct {
	lease   Lease
	addr    string
	at      time.Time // of the report
	outcome Outcome
	over    bool // reported
	ended   bool // its session was given back before an origin saw it
	decided Decision
}

type model struct{ log []record }

// The bounds of the first burn: equal jitter on 10 min. Later ones are longer, so the model only claims what holds
// for all: burned for at least 5 min, free after 12 h.
const (
	surelyBurned = 5 * time.Minute
	surelyFree   = 12 * time.Hour
	modelWindow  = 20 * time.Minute
	modelNeed    = 90 * time.Second
)

// current is the latest attempt of an identity; nil if there is none.
func (m *model) current(identity string) *record {
	for i := len(m.log) - 1; i >= 0; i-- {
		if r := &m.log[i]; r.lease.Identity == identity {
			return r
		}
	}
	return nil
}

// born is when the session of r began.
func (m *model) born(r *record) time.Time {
	for _, o := range m.log {
		if o.lease.Exit.Session == r.lease.Exit.Session {
			return o.lease.Granted
		}
	}
	return time.Time{}
}

// addr is the address that the session of r was seen under.
func (m *model) addr(r *record) string {
	for _, o := range m.log {
		if o.lease.Exit.Session == r.lease.Exit.Session && o.addr != "" {
			return o.addr
		}
	}
	return ""
}

// burned answers whether an address surely is, and whether it may be, burned at origin.
func (m *model) burned(addr, origin string, now time.Time) (surely, maybe bool) {
	for _, r := range m.log {
		if !r.over || addr == "" || r.addr != addr {
			continue
		}
		refused := r.outcome.Rule == RuleRefused && r.lease.Origin == origin
		age := now.Sub(r.at)
		surely = surely || (refused && age < surelyBurned && !m.servedSince(addr, origin, r.at))
		maybe = maybe || (refused && age < surelyFree)
	}
	return surely, maybe
}

// servedSince reports whether a later lease of the address was useful, which ends a burn.
func (m *model) servedSince(addr, origin string, at time.Time) bool {
	for _, r := range m.log {
		if r.over && r.outcome.OK && r.addr == addr && r.lease.Origin == origin && !r.at.Before(at) {
			return true
		}
	}
	return false
}

// job counts what a job has spent, and how often it was refused.
func (m *model) job(id string) (attempts, routes int) {
	session := ""
	for _, r := range m.log {
		if r.lease.Job != id {
			continue
		}
		attempts++
		if session != "" && session != r.lease.Exit.Session {
			routes++
		}
		session = r.lease.Exit.Session
	}
	return attempts, routes
}

// check holds a granted lease against everything that happened before.
func (m *model) check(t require.TestingT, l Lease, limits Limits, now time.Time) {
	attempts, _ := m.job(l.Job)
	require.Equal(t, attempts+1, l.Attempt)
	require.LessOrEqual(t, l.Attempt, limits.Attempts)
	before := m.current(l.Identity)
	for _, r := range m.log {
		require.Greater(t, l.Token, r.lease.Token)
		same := r.lease.Exit.Session == l.Exit.Session
		require.False(t, same && r.lease.Identity != l.Identity, "a session has one identity")
		require.False(t, same && before.lease.Exit.Session != l.Exit.Session, "an old session does not come back")
		require.False(t, same && r.over && r.decided.Action == RetryNew, "nor does a retired one")
		require.Equal(t, same, r.lease.Epoch == l.Epoch)
	}
	if before == nil {
		return
	}
	age := now.Sub(m.born(before))
	need := modelNeed
	if attempts > 0 {
		need = 0
	}
	retired := before.ended || before.over && (before.outcome.Rule == RuleRefused || before.outcome.Rule == RuleNewSession)
	surely, maybe := m.burned(m.addr(before), l.Origin, now)
	resumed := before.lease.Exit.Session == l.Exit.Session
	switch {
	case retired, age+need >= modelWindow, surely:
		require.False(t, resumed, "retired %v, age %v, burned %v", retired, age, surely)
	case !maybe:
		require.True(t, resumed, "age %v", age)
	}
	_, routes := m.job(l.Job)
	if attempts > 0 && !resumed {
		routes++
	}
	require.LessOrEqual(t, routes, limits.RouteChanges)
}

func TestSchedulerAgreesWithASlowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Attempts: 3, RouteChanges: 1, Elapsed: modelNeed}
		seed := rapid.Uint64().Draw(t, "seed")
		ids := 0
		next := func() string { ids++; return fmt.Sprint(ids) }
		s, err := New(Config{
			Sources: []Source{{Name: "p", Protocol: "http", Endpoints: []string{"p:1"}}}, Limits: limits,
			Ladder: Ladder{DomainExits: 1 << 30, OriginDomains: 1 << 30}, Rand: rand.New(rand.NewPCG(seed, 1)),
			NewID: next, NewSession: next,
		})
		require.NoError(t, err)
		m, now, jobs := &model{}, noon, 0
		running := map[string]string{} // identity to job
		outcomes := []Outcome{
			{OK: true, Rule: RuleDone},
			{Rule: RuleRefused, Domain: DomainExitOrigin},
			{Rule: RuleNewSession, Domain: DomainNone},
			{Rule: RuleNewBrowser, Domain: DomainWorker},
			{Rule: RuleBackOff, Domain: DomainNone},
		}
		t.Repeat(map[string]func(*rapid.T){
			"attempt": func(t *rapid.T) {
				identity := rapid.SampledFrom([]string{"ada", "bob", "cat"}).Draw(t, "identity")
				if running[identity] == "" {
					jobs++
					running[identity] = fmt.Sprint("job-", jobs)
				}
				origin := "shop.test"
				if jobs%2 == 0 {
					origin = "other.test"
				}
				l, err := s.lease(now, Request{
					Job: running[identity], Identity: identity, Origin: origin, Intent: Intent{Window: modelWindow},
				})
				if err != nil {
					if !errors.Is(err, ErrNoCapacity) {
						running[identity] = ""
					}
					return
				}
				m.check(t, l, limits, now)
				r := record{lease: l, addr: l.Exit.Addr}
				if r.addr == "" {
					r.addr = rapid.SampledFrom([]string{"203.0.1.1", "203.0.2.1", "203.0.3.1"}).Draw(t, "addr")
				}
				surely, maybe := m.burned(r.addr, origin, now)
				err = s.observe(now, l, r.addr, "")
				if surely {
					require.ErrorIs(t, err, ErrBurned)
				}
				if !maybe {
					require.NoError(t, err)
				}
				if err != nil {
					_ = s.discard(now, l)
					if before := m.current(identity); before != nil {
						before.ended = true
					}
					return
				}
				m.log = append(m.log, r)
				now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "visit")) * time.Second)
				rec := &m.log[len(m.log)-1]
				rec.outcome, rec.at, rec.over = rapid.SampledFrom(outcomes).Draw(t, "outcome"), now, true
				rec.decided, err = s.report(now, l, rec.outcome)
				if err != nil {
					require.ErrorIs(t, err, ErrExpiredLease)
					rec.over, running[identity] = false, ""
					return
				}
				switch rec.decided.Action {
				case RetryNew, RetrySame, RetryBrowser, Wait:
					attempts, _ := m.job(l.Job)
					require.Less(t, attempts, limits.Attempts)
				default:
					running[identity] = ""
				}
			},
			"wait": func(t *rapid.T) {
				seconds := rapid.SampledFrom([]int{1, 10, 60, 400, 3600, 50_000}).Draw(t, "seconds")
				now = now.Add(time.Duration(seconds) * time.Second)
			},
		})
	})
}
