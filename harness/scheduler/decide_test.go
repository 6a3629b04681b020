package scheduler

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fresh is the docket of a job's first attempt, with the default budget.
func fresh() docket {
	policy := CoolDown{}.or()
	return docket{
		now: noon, attempts: 2, routes: 2, deadline: at(90), sessionEnds: at(600), refusals: 1, tries: 1, policy: &policy,
	}
}

func TestDecisions(t *testing.T) {
	type want struct {
		action     Action
		retire     bool
		from, upTo float64 // NotBefore, seconds from now; both 0 for none
	}
	for _, c := range []struct {
		name string
		edit func(*docket, *Outcome)
		rule Rule
		want want
	}{
		{"useful", func(_ *docket, o *Outcome) { o.OK = true }, RuleDone, want{action: Done}},
		{"useful whatever the rule", func(_ *docket, o *Outcome) { o.OK = true }, RuleRefused, want{action: Done}},
		{"done without OK is never success", nil, RuleDone, want{action: Review}},
		{"a rule from nowhere", nil, "surprise", want{action: Review}},
		{"credential rejected", nil, RuleStopAll, want{action: StopRun}},
		{"terminal", nil, RuleTerminal, want{action: Stop}},
		{"policy", nil, RuleDenied, want{action: Deny}},
		{"review", nil, RuleReview, want{action: Review}},
		{"cancelled", nil, RuleCancelled, want{action: Cancel}},
		{"cancelled after an effect", func(_ *docket, o *Outcome) { o.Effect = true }, RuleCancelled, want{action: Cancel}},

		{"limit without a hint", nil, RuleWaitSame, want{action: Wait, from: 1, upTo: 2}},
		{"limit with a hint, jittered upward", func(_ *docket, o *Outcome) { o.RetryAfter = 10 * time.Second }, RuleWaitSame, want{action: Wait, from: 10, upTo: 11}},
		{"limit beyond the deadline", func(_ *docket, o *Outcome) { o.RetryAfter = 91 * time.Second }, RuleWaitSame, want{action: Review}},
		{"limit of a century", func(_ *docket, o *Outcome) { o.RetryAfter = math.MaxInt64 }, RuleWaitSame, want{action: Review}},
		{"negative hint", func(_ *docket, o *Outcome) { o.RetryAfter = -time.Hour }, RuleWaitSame, want{action: Wait, from: 1, upTo: 2}},
		{"limit beyond the cap", func(d *docket, o *Outcome) { o.RetryAfter, d.deadline = 16*time.Minute, at(1e6) }, RuleWaitSame, want{action: Review}},
		{"limit with no attempt left", func(d *docket, _ *Outcome) { d.attempts = 0 }, RuleWaitSame, want{action: Stop}},
		{"limit with no route left", func(d *docket, _ *Outcome) { d.routes = 0 }, RuleWaitSame, want{action: Wait, from: 1, upTo: 2}},
		{"limit that outlives the session, no route left", func(d *docket, _ *Outcome) { d.routes, d.sessionEnds = 0, at(0.5) }, RuleWaitSame, want{action: Review}},
		{"limit after an effect", func(_ *docket, o *Outcome) { o.Effect = true }, RuleWaitSame, want{action: Review}},

		{"back off", nil, RuleBackOff, want{action: RetrySame, from: 1, upTo: 2}},
		{"back off, third time", func(d *docket, _ *Outcome) { d.tries = 3 }, RuleBackOff, want{action: RetrySame, from: 4, upTo: 8}},
		{"back off, told how long", func(_ *docket, o *Outcome) { o.RetryAfter = 20 * time.Second }, RuleBackOff, want{action: RetrySame, from: 20, upTo: 20}},
		{"back off, nothing left", func(d *docket, _ *Outcome) { d.attempts = 0 }, RuleBackOff, want{action: Stop}},
		{"back off past the deadline", func(d *docket, _ *Outcome) { d.deadline = at(0.5) }, RuleBackOff, want{action: Stop}},
		{"back off past the session", func(d *docket, _ *Outcome) { d.sessionEnds, d.routes = at(0.5), 0 }, RuleBackOff, want{action: Stop}},
		{"back off after an effect", func(_ *docket, o *Outcome) { o.Effect = true }, RuleBackOff, want{action: Review}},
		{"dead endpoint with a sibling", func(d *docket, o *Outcome) { o.Domain, d.sibling, d.routes = DomainEndpoint, true, 0 }, RuleBackOff, want{action: RetryNew, retire: true}},
		{"dead endpoint without one", func(_ *docket, o *Outcome) { o.Domain = DomainEndpoint }, RuleBackOff, want{action: RetrySame, from: 1, upTo: 2}},
		{"dead endpoint, static", func(d *docket, o *Outcome) { o.Domain, d.sibling, d.static = DomainEndpoint, true, true }, RuleBackOff, want{action: RetrySame, from: 1, upTo: 2}},

		{"once", nil, RuleBackOffOnce, want{action: RetrySame, from: 1, upTo: 2}},
		{"once, then review", func(d *docket, _ *Outcome) { d.backedOff = true }, RuleBackOffOnce, want{action: Review}},
		{"once, nothing left", func(d *docket, _ *Outcome) { d.attempts = 0 }, RuleBackOffOnce, want{action: Review}},

		{"exit lost", nil, RuleNewSession, want{action: RetryNew, retire: true}},
		{"exit lost, no route left", func(d *docket, _ *Outcome) { d.routes = 0 }, RuleNewSession, want{action: Stop, retire: true}},
		{"exit lost, static", func(d *docket, o *Outcome) { d.static, o.Domain = true, DomainExit }, RuleNewSession, want{action: Review, retire: true}},
		{"fixed exit lost, static", func(d *docket, o *Outcome) { d.static, d.fixed, o.Domain = true, true, DomainExit }, RuleNewSession, want{action: Review, retire: true}},
		{"exit lost, continuity", func(d *docket, _ *Outcome) { d.sticky = true }, RuleNewSession, want{action: Review, retire: true}},
		{"exit lost after an effect", func(_ *docket, o *Outcome) { o.Effect = true }, RuleNewSession, want{action: Review, retire: true}},

		{"session ended", nil, RuleRetireOnce, want{action: RetryNew, retire: true}},
		{"session ended again", func(d *docket, _ *Outcome) { d.retired = true }, RuleRetireOnce, want{action: Review, retire: true}},
		{"session ended, no route left", func(d *docket, _ *Outcome) { d.routes = 0 }, RuleRetireOnce, want{action: Review, retire: true}},
		{"session ended, static on a fixed exit", func(d *docket, o *Outcome) { d.static, d.fixed, o.Domain = true, true, DomainSession }, RuleRetireOnce, want{action: RetryNew, retire: true}},
		{"session ended, static at a provider", func(d *docket, o *Outcome) { d.static, o.Domain = true, DomainSession }, RuleRetireOnce, want{action: Review, retire: true}},

		{"refused", nil, RuleRefused, want{action: RetryNew, retire: true}},
		{"refused twice", func(d *docket, _ *Outcome) { d.refusals = 2 }, RuleRefused, want{action: Review, retire: true}},
		{"refused by all", func(d *docket, _ *Outcome) { d.reach = rungOrigin }, RuleRefused, want{action: Review, retire: true}},
		{"refused, no route left", func(d *docket, _ *Outcome) { d.routes = 0 }, RuleRefused, want{action: Review, retire: true}},
		{"refused, no attempt left", func(d *docket, _ *Outcome) { d.attempts = 0 }, RuleRefused, want{action: Review, retire: true}},
		{"refused, static", func(d *docket, o *Outcome) { d.static, o.Domain = true, DomainExitOrigin }, RuleRefused, want{action: Review, retire: true}},
		{"refused, continuity", func(d *docket, _ *Outcome) { d.sticky = true }, RuleRefused, want{action: Review, retire: true}},

		{"browser crashed", nil, RuleNewBrowser, want{action: RetryBrowser}},
		{"browser crashed, nothing left", func(d *docket, _ *Outcome) { d.attempts = 0 }, RuleNewBrowser, want{action: Stop}},
		{"browser crashed, no route left", func(d *docket, _ *Outcome) { d.routes = 0 }, RuleNewBrowser, want{action: RetryBrowser}},
		{"browser crashed after an effect", func(_ *docket, o *Outcome) { o.Effect = true }, RuleNewBrowser, want{action: Review}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, o := fresh(), Outcome{Rule: c.rule, Class: "some_class"}
			if c.edit != nil {
				c.edit(&d, &o)
			}
			got := decide(d, o, seeded())
			require.Equal(t, c.want.action, got.Action, got.Reason)
			require.Equal(t, c.want.retire, got.retire)
			require.NotEmpty(t, got.Reason)
			if c.want.upTo == 0 {
				require.True(t, got.NotBefore.IsZero())
				return
			}
			require.False(t, got.NotBefore.Before(at(c.want.from)), got.NotBefore)
			require.False(t, got.NotBefore.After(at(c.want.upTo)), got.NotBefore)
		})
	}
}

func TestPatternIsDiagnosedOnlyWhenTheOriginIsHeld(t *testing.T) {
	d := fresh()
	require.Empty(t, decide(d, Outcome{Rule: RuleRefused}, seeded()).Diagnosis)
	d.reach = rungDomain
	require.Empty(t, decide(d, Outcome{Rule: RuleRefused}, seeded()).Diagnosis)
	d.reach = rungOrigin
	require.Equal(t, DiagnosisPattern, decide(d, Outcome{Rule: RuleRefused}, seeded()).Diagnosis)
}

func TestReasonNamesTheBudgetThatEndedTheJob(t *testing.T) {
	d := fresh()
	d.routes = 0
	require.Contains(t, decide(d, Outcome{Rule: RuleNewSession, Class: "exit_lost"}, seeded()).Reason, BudgetRouteChanges)
	d.attempts = 0
	require.Contains(t, decide(d, Outcome{Rule: RuleBackOff, Class: "server_error"}, seeded()).Reason, BudgetAttempts)
	require.Contains(t, decide(fresh(), Outcome{Rule: RuleWaitSame, RetryAfter: 100 * 365 * 24 * time.Hour}, seeded()).Reason, "deferred until 2126-")
}
