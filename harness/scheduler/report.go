package scheduler

import (
	"context"
	"time"
)

// Report ends the lease with what came of it, moves the health of the blamed party alone, and decides what to do
// with the job. It works when ctx is done, because what happened has happened. The error is a *LeaseError; then
// nothing changed.
func (s *Scheduler) Report(_ context.Context, l Lease, o Outcome) (d Decision, err error) {
	s.do(func(now time.Time) { d, err = s.report(now, l, o) })
	return d, err
}

func (s *Scheduler) report(now time.Time, l Lease, o Outcome) (Decision, error) {
	g, err := s.find(now, l)
	if err != nil {
		return Decision{}, err
	}
	j, e := g.job, g.epoch
	j.budget.settle(o.BytesUp, o.BytesDown)
	if addr := canonical(o.ExitAddr); addr != "" && e.exit.Addr == "" {
		s.see(e, addr)
	}
	if !o.OK && o.Rule == RuleRefused {
		j.refusals++
	}
	reach := s.move(now, g, o)
	rule := decide(s.docket(now, g, reach), o, s.cfg.Rand)
	s.end(now, g)
	s.settle(now, g, o, rule)
	ev := g.event(EventReport)
	ev.Outcome, ev.Decision = o, rule.Decision
	s.note(now, ev)
	return rule.Decision, nil
}

// docket collects what a decision depends on.
func (s *Scheduler) docket(now time.Time, g *grant, reach rung) docket {
	j, e := g.job, g.epoch
	return docket{
		now: now, static: e.intent.Mode == Static, sticky: j.sticky,
		fixed: e.source.Fixed, sibling: s.sibling(e.source, e.exit.Endpoint), attempts: j.budget.attemptsLeft(),
		routes: j.budget.routesLeft(), deadline: j.budget.deadline(now), sessionEnds: e.ends, refusals: j.refusals,
		reach: reach, retired: j.retired, backedOff: j.backedOff, tries: j.budget.attempts, policy: &s.cfg.CoolDown,
	}
}

// settle does to session and job what the ruling says.
func (s *Scheduler) settle(now time.Time, g *grant, o Outcome, rule ruling) {
	j, e := g.job, g.epoch
	if !rule.NotBefore.IsZero() {
		j.notBefore = span{from: now, until: rule.NotBefore}
	}
	j.free = rule.free
	j.retired = j.retired || (o.Rule == RuleRetireOnce && !o.OK)
	j.backedOff = j.backedOff || (o.Rule == RuleBackOffOnce && !o.OK)
	if !rule.retire {
		return
	}
	s.retire(e)
	if e.intent.Mode == Static && !e.source.Fixed {
		e.lost = "the session of this static identity is over (" + o.Class + "), and it takes no other by itself"
	}
}

// move is the only place where health changes. Each domain has its own state; an outcome touches that of the domain
// it blames, and one that was useful clears the whole way it went. It answers how far a refusal reaches.
func (s *Scheduler) move(now time.Time, g *grant, o Outcome) rung {
	e, granted := g.epoch, g.lease.Granted
	key, name := e.exit.Key(), e.origin
	cool := s.cfg.CoolDown
	fail := func(b *breaker, r tripRule) { b.fail(now, granted, key, r, s.cfg.Rand) }
	if o.OK {
		for _, b := range s.path(g) {
			b.succeed(granted)
		}
		s.origins[name].ladder.useful(now, key, failureDomain(e.exit, e.segment), s.cfg.Ladder.Window)
		return rungExit
	}
	switch o.Domain {
	case DomainExitOrigin:
		return s.refusal(now, g)
	case DomainExit:
		fail(entry(s.exits, key), exitRule(cool))
	case DomainEndpoint:
		fail(entry(s.endpoints, e.exit.Endpoint), endpointRule(cool))
	case DomainSegment:
		fail(entry(s.segments, e.segment), segmentRule(cool))
	case DomainOrigin:
		fail(&s.origins[name].breaker, originRule(cool))
	case DomainPace:
		s.slow(now, g, o)
	case DomainCredential, DomainAccount:
		if o.Rule == RuleStopAll {
			s.stops[stopKey{o.Domain, e.source.account()}] = o.Class
		} else {
			entry(s.pauses, e.source.account()).extend(now, cool.Supply.nth(1, s.cfg.Rand))
		}
	case DomainNone, DomainWorker, DomainPolicy, DomainSession, DomainJob:
		// The session's state is its epoch, which the ruling retires. The others have none here: a browser is
		// replaced by the runner, and a policy or a job's own fault ends the job.
	}
	return rungExit
}

// The trip rules. One failure is enough where the party is one exit; what many exits share needs three of them to
// agree, and five calls, so that one bad exit is not taken for its origin (Envoy's outlier detection starts at five).
// An endpoint is reached before any exit, so its failures need no second witness.
func exitRule(c CoolDown) tripRule     { return tripRule{calls: 1, exits: 1, cool: c.Exit} }
func pairRule(c CoolDown) tripRule     { return tripRule{calls: 1, exits: 1, cool: c.Pair} }
func endpointRule(c CoolDown) tripRule { return tripRule{calls: 3, exits: 1, cool: c.Supply} }
func segmentRule(c CoolDown) tripRule  { return tripRule{calls: 5, exits: originExits, cool: c.Supply} }

func originRule(c CoolDown) tripRule { return tripRule{calls: 5, exits: originExits, cool: c.Origin} }

// refusal burns the pair and climbs the ladder.
func (s *Scheduler) refusal(now time.Time, g *grant) rung {
	e := g.epoch
	key, o := e.exit.Key(), s.origins[e.origin]
	entry(s.pairs, pairKey{key, e.origin}).fail(now, g.lease.Granted, key, pairRule(s.cfg.CoolDown), s.cfg.Rand)
	domain := failureDomain(e.exit, e.segment)
	reach := o.ladder.refuse(now, key, domain, s.cfg.Ladder)
	switch reach {
	case rungOrigin:
		o.hold.extend(now, s.cfg.Ladder.Hold)
	case rungDomain:
		o.holdDomain(now, domain, s.cfg.Ladder.Hold)
	case rungExit:
	}
	return reach
}

// holdDomain keeps a failure domain from the origin, and forgets the holds that are over.
func (o *origin) holdDomain(now time.Time, domain string, d time.Duration) {
	for name, h := range o.domains {
		if _, held := h.blocks(now); !held {
			delete(o.domains, name)
		}
	}
	if o.domains == nil {
		o.domains = map[string]*span{}
	}
	entry(o.domains, domain).extend(now, d)
}

// slow keeps the exit from the origin for as long as it asked, and the origin's other exits for a moment.
func (s *Scheduler) slow(now time.Time, g *grant, out Outcome) {
	e, o := g.epoch, s.origins[g.epoch.origin]
	wait := min(max(out.RetryAfter, 0), s.cfg.CoolDown.MaxWait)
	if wait == 0 {
		wait = s.cfg.CoolDown.Retry.nth(1, s.cfg.Rand)
	}
	key := e.exit.Key()
	entry(s.pairs, pairKey{key, e.origin}).limit.extend(now, wait)
	o.limit.extend(now, o.throttle.limit(now, key, wait))
}
