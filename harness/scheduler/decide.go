package scheduler

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A docket is all that a decision depends on besides the outcome.
type docket struct {
	now         time.Time
	static      bool      // the identity keeps its exit whatever happens
	sticky      bool      // the job may not change its exit
	fixed       bool      // the exit has no sessions: a new one leaves by the same exit
	sibling     bool      // the source has another endpoint that is not known to fail
	attempts    int       // left
	routes      int       // left
	deadline    time.Time // of the job
	sessionEnds time.Time // zero if it does not
	refusals    int       // of this job, this one included
	reach       rung      // how far this refusal reaches
	retired     bool      // the job has had its one new session
	backedOff   bool      // the job has had its one wait
	tries       int       // attempts so far, for the growth of waits
	policy      *CoolDown // waits
}

// A ruling is a decision and what it does to session and job.
type ruling struct {
	Decision
	retire bool // the session is over
	free   bool // the next session costs no route change
}

// decide is the last column of design.md, section 5.
func decide(d docket, o Outcome, r *rand.Rand) ruling {
	if o.OK {
		return say(Done, "useful")
	}
	switch o.Rule {
	case RuleStopAll:
		return say(StopRun, "%s: a person must put the %s right", o.Class, o.Domain)
	case RuleTerminal:
		return say(Stop, "%s: trying again cannot help", o.Class)
	case RuleDenied:
		return say(Deny, "%s: forbidden by policy, so no other provider is asked", o.Class)
	case RuleWaitSame:
		return waitSame(d, o, r)
	case RuleBackOff:
		return backOff(d, o, r)
	case RuleBackOffOnce:
		return backOffOnce(d, o, r)
	case RuleNewSession:
		return newSession(d, o)
	case RuleRetireOnce:
		return retireOnce(d, o)
	case RuleRefused:
		return refused(d, o)
	case RuleNewBrowser:
		return again(d, o, ruling{Decision: Decision{Action: RetryBrowser, Reason: o.Class + ": new browser, same exit"}}, Stop)
	case RuleCancelled:
		return say(Cancel, "cancelled")
	case RuleReview, RuleDone: // done without OK contradicts itself: never success
		return say(Review, "%s: a person decides", o.Class)
	}
	return say(Review, "%s: no rule is known for it", o.Class)
}

// waitSame obeys a limit: later, on the same session. A limit never buys a new identity, and one longer than the job
// may last is no reason to hold a slot.
func waitSame(d docket, o Outcome, r *rand.Rand) ruling {
	wait := pause(d, o, r)
	at := d.now.Add(wait)
	if wait > d.policy.MaxWait || at.After(d.deadline) {
		return say(Review, "%s: deferred until %s, which is past what the job may wait", o.Class, at.UTC().Format(time.RFC3339))
	}
	if d.outlives(at) {
		return say(Review, "%s: deferred until %s, after the end of its session", o.Class, at.UTC().Format(time.RFC3339))
	}
	return again(d, o, ruling{Decision: Decision{Action: Wait, NotBefore: at, Reason: o.Class + ": wait on the same session"}}, Stop)
}

// pause is how long a limit asks to wait: as the origin said and a little more, else the usual growth.
func pause(d docket, o Outcome, r *rand.Rand) time.Duration {
	switch {
	case o.RetryAfter > d.policy.MaxWait:
		return o.RetryAfter // exact: it is shown to a person
	case o.RetryAfter > 0:
		return upward(o.RetryAfter, r)
	default:
		return d.policy.Retry.nth(d.tries, r)
	}
}

// backOff tries again later on the same session; past a dead endpoint at once, by its sibling.
func backOff(d docket, o Outcome, r *rand.Rand) ruling {
	if o.Domain == DomainEndpoint && d.sibling && !d.static && !d.sticky {
		return again(d, o, ruling{
			Decision: Decision{Action: RetryNew, Reason: o.Class + ": by another endpoint; the origin saw nothing"},
			retire:   true, free: true,
		}, Stop)
	}
	at := d.now.Add(max(d.policy.Retry.nth(d.tries, r), min(o.RetryAfter, d.policy.MaxWait)))
	return again(d, o, ruling{Decision: Decision{Action: RetrySame, NotBefore: at, Reason: o.Class + ": back off"}}, Stop)
}

// backOffOnce is for what waiting may cure; if it did not, a person looks.
func backOffOnce(d docket, o Outcome, r *rand.Rand) ruling {
	if d.backedOff {
		return say(Review, "%s: again after a wait", o.Class)
	}
	at := d.now.Add(d.policy.Retry.nth(d.tries, r))
	return again(d, o, ruling{Decision: Decision{Action: RetrySame, NotBefore: at, Reason: o.Class + ": once more, later"}}, Review)
}

// newSession starts the whole job again, because its exit is gone.
func newSession(d docket, o Outcome) ruling {
	return again(d, o, ruling{
		Decision: Decision{Action: RetryNew, Reason: o.Class + ": from its start on a new session"}, retire: true,
	}, Stop)
}

// retireOnce gives the job one new session; if that did not help, it is not the session.
func retireOnce(d docket, o Outcome) ruling {
	if d.retired {
		rule := say(Review, "%s: again on a new session", o.Class)
		rule.retire = true
		return rule
	}
	return again(d, o, ruling{
		Decision: Decision{Action: RetryNew, Reason: o.Class + ": once more on a new session"}, retire: true,
	}, Review)
}

// refused is the job's side of the ladder; the burn and the holds are the origin's.
func refused(d docket, o Outcome) ruling {
	var rule ruling
	switch {
	case d.reach == rungOrigin:
		rule = say(Review, "%s: exits of several failure domains are refused, so rotation stops", o.Class)
		rule.Diagnosis = DiagnosisPattern
	case d.refusals > 1:
		rule = say(Review, "%s: refused again on another session", o.Class)
	default:
		rule = again(d, o, ruling{
			Decision: Decision{Action: RetryNew, Reason: o.Class + ": the exit is burned at this origin; once more on a new session"},
		}, Review)
	}
	rule.retire = true
	return rule
}

// again is the only way to another attempt: every rule's retry pays here. What cannot be paid ends as spent says.
func again(d docket, o Outcome, rule ruling, spent Action) ruling {
	end := func(a Action, format string, args ...any) ruling {
		out := say(a, format, args...)
		out.retire = rule.retire
		return out
	}
	switch {
	case o.Effect:
		return end(Review, "%s: the job's side effect had begun, so it is not tried again by itself", o.Class)
	case rule.Action == RetryNew && d.sticky:
		return end(Review, "%s: continuity forbids another session", o.Class)
	case rule.Action == RetryNew && d.static && (!d.fixed || o.Domain != DomainSession):
		return end(Review, "%s: a static identity takes no other exit by itself", o.Class)
	case d.attempts <= 0:
		return end(spent, "%s: budget of %s is spent", o.Class, BudgetAttempts)
	case rule.Action == RetryNew && !rule.free && d.routes <= 0:
		return end(spent, "%s: budget of %s is spent", o.Class, BudgetRouteChanges)
	case !d.deadline.After(d.now) || rule.NotBefore.After(d.deadline):
		return end(spent, "%s: budget of %s is spent", o.Class, BudgetElapsed)
	case rule.Action != RetryNew && d.outlives(rule.NotBefore):
		return end(spent, "%s: its session ends first, and budget of %s is spent", o.Class, BudgetRouteChanges)
	}
	return rule
}

// outlives reports whether at lies past the session, and no route change is left to go on without it.
func (d docket) outlives(at time.Time) bool {
	return !d.sessionEnds.IsZero() && !at.Before(d.sessionEnds) && d.routes <= 0
}

// DiagnosisPattern says that the request pattern is at fault, not the pool.
const DiagnosisPattern = "pattern"

func say(a Action, format string, args ...any) ruling {
	return ruling{Decision: Decision{Action: a, Reason: fmt.Sprintf(format, args...)}}
}

// or fills what c leaves open.
func (c CoolDown) or() CoolDown {
	c.Pair = c.Pair.or(10*time.Minute, 6*time.Hour)
	c.Exit = c.Exit.or(30*time.Second, 15*time.Minute)
	c.Supply = c.Supply.or(15*time.Second, 15*time.Second)
	c.Origin = c.Origin.or(15*time.Second, 15*time.Second)
	c.Retry = c.Retry.or(2*time.Second, 30*time.Second)
	if c.MaxWait == 0 {
		c.MaxWait = 15 * time.Minute
	}
	return c
}
