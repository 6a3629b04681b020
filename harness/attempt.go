package harness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/report"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/harness/trace"
	"github.com/limpet-dev/limpet/identity"
)

// attempt takes a job one step on its way: a lease, a visit, a verdict, a decision.
func (r *Runner) attempt(ctx context.Context, t *task) ending {
	if t.account.started.IsZero() {
		t.account.started = time.Now()
		if reason := r.denied(t.job); reason != "" {
			return deny(t, reason)
		}
	}
	lease, err := r.cfg.Scheduler.Lease(ctx, scheduler.Request{
		Job: t.job.ID, Identity: string(t.job.Identity), Origin: t.job.Origin,
		Intent: t.job.Intent, Limits: t.job.Limits, Sticky: t.job.Continuity,
	})
	if err != nil {
		return r.noLease(t, err)
	}
	r.leaseEvent(ctx, t, lease)
	a := &try{r: r, t: t, lease: lease, started: time.Now()}
	return a.run(ctx)
}

// longWait is from when on a wait is worth a line: the heartbeat of a run comes every 30 s.
const longWait = 30 * time.Second

// noLease says what becomes of a job that got no lease.
func (r *Runner) noLease(t *task, err error) ending {
	if wait, ok := errors.AsType[*scheduler.WaitError](err); ok {
		if d := time.Until(wait.Until); d > longWait {
			r.cfg.Progress.Note(fmt.Sprintf("%s waits %s: %s", t.job.ID, d.Round(time.Second), wait.Reason))
		}
		return ending{task: t, again: true, at: wait.Until}
	}
	if refused, ok := errors.AsType[*scheduler.RefusedError](err); ok {
		return deny(t, refused.Error())
	}
	e := ending{task: t, state: report.Failed, decision: string(scheduler.Stop), err: err.Error()}
	if _, ok := errors.AsType[*scheduler.HeldError](err); ok {
		e.state, e.decision = report.Review, string(scheduler.Review)
	}
	if _, ok := errors.AsType[*scheduler.StoppedError](err); ok {
		e.state, e.decision, e.stop = report.Cancelled, string(scheduler.StopRun), ErrCredential
	}
	return e
}

// deny ends a job by policy, before any traffic.
func deny(t *task, reason string) ending {
	v := policyVerdict("policy", reason)
	t.account.verdict = &v
	return ending{task: t, state: report.Denied, decision: string(scheduler.Deny), err: reason}
}

// policyVerdict is the verdict of a job that may not go where it wants to.
func policyVerdict(rule, where string) classify.Verdict {
	return classify.Verdict{
		Stage: classify.StageNavigation, Class: classify.PolicyDenied, Blamed: classify.BlamePolicy, Confidence: 1,
		Signals: []classify.Signal{{Rule: rule, Weight: 1, Where: where}},
	}
}

// A try is one attempt under one lease.
type try struct {
	r       *Runner
	t       *task
	lease   scheduler.Lease
	started time.Time

	session *identity.Session
	port    *boundPort
	page    drivers.Page
	rec     *trace.Recorder
}

func (a *try) run(ctx context.Context) ending {
	visitCtx, cancel := context.WithDeadline(ctx, a.lease.Deadline)
	defer cancel()
	a.rec = trace.NewRecorder(trace.Limits{})
	over := false
	defer func() {
		if !over { // a panic is on its way to the Runner: session and lease must not stay taken
			a.abandon(ctx)
		}
	}()
	var s saw
	if err := a.open(visitCtx); err != nil {
		s.err = err
	} else {
		s = a.visit(visitCtx)
	}
	judgement, conns := a.judge(ctx, s)
	if burned := a.burned(); burned != nil {
		over = true
		return a.discard(ctx, burned)
	}
	e := a.settle(ctx, s, judgement, conns)
	over = true
	return e
}

// abandon gives back what an attempt held that did not come to its end.
func (a *try) abandon(ctx context.Context) {
	if a.session != nil {
		a.r.broker.Release(ctx, a.session, identity.Retire)
	}
	if err := a.r.cfg.Scheduler.Release(a.lease); err != nil {
		a.r.log.LogAttrs(ctx, slog.LevelWarn, "lease not released", slog.String("error", err.Error()))
	}
}

// open acquires the session and its page, and checks that all of it belongs to the lease.
func (a *try) open(ctx context.Context) error {
	a.r.ports.offer(a.lease)
	defer a.r.ports.withdraw(a.lease.ID)
	g := a.grant()
	session, err := a.r.broker.Acquire(ctx, g, a.t.job.Persona)
	if err != nil {
		return workerFault(err)
	}
	a.session = session
	if err := session.Check(g); err != nil {
		return workerFault(err)
	}
	a.port = session.Port().(*boundPort) //nolint:errcheck // Bind makes no other
	a.port.begin(a.lease)
	session.Listen(a.rec)
	a.page, err = session.Page(ctx)
	return err
}

// workerFault gives an error of ours that no driver classed a kind: whatever keeps a session from opening is this
// machine's fault, never the site's.
func workerFault(err error) error {
	if drivers.KindOf(err) != "" {
		return err
	}
	return &drivers.Error{Kind: drivers.DriverLost, Op: "session", Err: err}
}

func (a *try) grant() identity.Grant {
	return identity.Grant{
		Lease: a.lease.ID, Identity: identity.ID(a.lease.Identity), Origin: a.lease.Origin, Epoch: a.lease.Epoch,
		Exit: a.lease.Exit.Key(), Country: a.lease.Intent.Country, Expires: a.lease.Expires,
	}
}

func (a *try) visit(ctx context.Context) saw {
	v := &visit{
		job: a.t.job, page: a.page, rec: a.rec, waitOut: a.r.cfg.InterstitialWait, may: a.may(),
		look: func(s saw) classify.Verdict {
			return a.r.cfg.Classifier.Classify(evidenceOf(s, nil, &a.t.job.Expect, time.Now())).Verdict
		},
	}
	s := v.run(ctx)
	for _, o := range originsOf(s) {
		a.session.Visited(o)
	}
	return s
}

// may is how the visit asks robots.txt; nil when it need not.
func (a *try) may() func(context.Context, string) bool {
	if a.r.cfg.Robots == nil || a.t.job.Robots == "ignore" {
		return nil
	}
	return func(ctx context.Context, address string) bool {
		return a.r.cfg.Robots.Allowed(ctx, a.port.Addr(), address)
	}
}

// judge gives the verdict, once, before anything is written.
func (a *try) judge(ctx context.Context, s saw) (classify.Judgement, []gateway.Connection) {
	var conns []gateway.Connection
	if a.port != nil {
		conns = a.port.Take()
	}
	if ctx.Err() != nil && s.err != nil {
		return classify.Judgement{Verdict: classify.Verdict{
			Stage: classify.StageNavigation, Class: classify.Cancelled, Blamed: classify.BlameNobody, Confidence: 1,
			Signals: []classify.Signal{{Rule: "interrupted", Weight: 1, Where: "the run"}},
		}}, conns
	}
	j := a.r.cfg.Classifier.Classify(evidenceOf(s, conns, &a.t.job.Expect, time.Now()))
	if s.resolved > 0 {
		j.Verdict.Signals = append(j.Verdict.Signals, classify.Signal{Rule: "self_resolved", Where: s.resolved.Round(time.Millisecond).String()})
	}
	if s.denied != "" {
		return classify.Judgement{Verdict: policyVerdict("robots", s.denied)}, conns
	}
	if s.offScope != "" && (j.Verdict.Stage == classify.StageOK || j.Verdict.Stage == classify.StageOutput) {
		return classify.Judgement{Verdict: policyVerdict("scope", "led to "+s.offScope)}, conns
	}
	return j, conns
}

func (a *try) burned() error {
	if a.port == nil {
		return nil
	}
	return a.port.refused()
}

// discard gives back an exit that must not meet the origin. The origin saw nothing, so it costs neither an
// attempt nor a route change.
func (a *try) discard(ctx context.Context, burned error) ending {
	a.r.broker.Release(ctx, a.session, identity.Retire)
	a.r.log.LogAttrs(ctx, slog.LevelInfo, "exit discarded before the origin saw it",
		slog.String("job", a.t.job.ID), slog.String("reason", burned.Error()))
	if err := a.r.cfg.Scheduler.Discard(a.lease); err != nil {
		return a.r.noLease(a.t, err)
	}
	return ending{task: a.t, again: true}
}

// settle reports the verdict and does what the scheduler decides.
func (a *try) settle(ctx context.Context, s saw, j classify.Judgement, conns []gateway.Connection) ending {
	acc := &a.t.account
	acc.attempts = a.lease.Attempt
	acc.verdict = &j.Verdict
	acc.effect = acc.effect || s.effect
	used := gateway.Usage{}
	if a.port != nil {
		used = a.port.spent()
	}
	seen, exit := observed(conns), a.lease.Exit
	if seen.Addr != "" {
		exit.Addr = seen.Addr
	}
	acc.charge(used, exit.Key())

	out := outcomeOf(j.Verdict)
	out.BytesUp, out.BytesDown, out.ExitAddr, out.Effect = used.Up, used.Down, exit.Addr, acc.effect
	if j.Verdict.Class == classify.ProviderLimit && passing(conns) {
		out.Rule = scheduler.RuleBackOff // threads used up: waiting helps
	}
	decision, err := a.r.cfg.Scheduler.Report(ctx, a.lease, out)
	if err != nil {
		decision = scheduler.Decision{Action: scheduler.Stop, Reason: err.Error()}
	}
	if spent, ok := a.r.cfg.Scheduler.Spent(a.t.job.ID); ok {
		acc.routeChanges = spent.RouteChanges
	}
	if path := a.keepTrace(ctx, s, j.Verdict, conns); path != "" {
		acc.trace = path
	}
	a.attemptEvents(ctx, j.Verdict, used, seen, out, decision)
	a.release(ctx, s, out.Rule, decision)
	e := a.ending(s, j, decision)
	if j.Verdict.Class == classify.LaunchFailed && a.r.browser.lost() {
		e.stop = fmt.Errorf("%w: %d browsers in a row did not start: %w", ErrEngineLost, maxLaunches, s.err)
	}
	return e
}

// passing reports whether a provider's limit was one that goes by itself.
func passing(conns []gateway.Connection) bool {
	for _, c := range slices.Backward(conns) {
		if c.Fault == classify.ProviderLimit {
			return c.Retry
		}
	}
	return false
}

// release gives the session back with the fate that the decision and the state of the browser call for.
func (a *try) release(ctx context.Context, s saw, rule scheduler.Rule, d scheduler.Decision) {
	if a.session == nil {
		return
	}
	if err := a.session.Check(a.grant()); err != nil {
		a.r.log.LogAttrs(ctx, slog.LevelError, "binding broken during an attempt", slog.String("error", err.Error()))
		a.r.broker.Release(ctx, a.session, identity.Retire)
		return
	}
	fate := identity.Keep
	switch {
	case d.Action == scheduler.RetryNew || broken(rule):
		fate = identity.Retire
	case drivers.KindOf(s.err).WorkerFault():
		fate = identity.Recycle
	case a.lease.Intent.Mode == scheduler.Rotate && terminal(d.Action):
		fate = identity.Retire // the next job of the identity rides another exit
	case s.err != nil:
		// A page is never used again after a failed navigation.
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := a.session.DropPage(cctx); err != nil {
			fate = identity.Recycle
		}
	}
	a.r.broker.Release(ctx, a.session, fate)
}

// broken reports whether the rule's verdict means that the session is over, whatever becomes of the job.
func broken(rule scheduler.Rule) bool {
	switch rule {
	case scheduler.RuleRefused, scheduler.RuleNewSession, scheduler.RuleRetireOnce, scheduler.RuleStopAll:
		return true
	default:
		return false
	}
}

func terminal(act scheduler.Action) bool {
	switch act {
	case scheduler.Wait, scheduler.RetrySame, scheduler.RetryNew, scheduler.RetryBrowser:
		return false
	default:
		return true
	}
}

// ending turns a decision into what becomes of the job.
func (a *try) ending(s saw, j classify.Judgement, d scheduler.Decision) ending {
	e := ending{
		task: a.t, decision: string(d.Action), reason: d.Reason, diagnosis: d.Diagnosis, finalURL: j.Verdict.FinalURL,
	}
	if s.snapshot != nil {
		e.title = s.snapshot.Title
	}
	switch d.Action {
	case scheduler.Done:
		e.state, e.records = report.Useful, j.Records
		return e
	case scheduler.RetryNew, scheduler.Wait, scheduler.RetrySame, scheduler.RetryBrowser:
		e.again, e.at = true, d.NotBefore
		return e
	case scheduler.Deny:
		e.state = report.Denied
	case scheduler.Review:
		e.state = report.Review
	case scheduler.Cancel:
		e.state = report.Cancelled
	case scheduler.StopRun:
		e.state, e.stop = report.Failed, ErrCredential
	default:
		e.state = report.Failed
	}
	e.err = explain(s, j.Verdict, d)
	return e
}

// explain is one sentence on why a job was not useful.
func explain(s saw, v classify.Verdict, d scheduler.Decision) string {
	text := d.Reason
	switch {
	case s.step != nil:
		text = s.step.Message + "; " + text
	case s.err != nil:
		text = s.err.Error() + "; " + text
	case len(v.Signals) > 0:
		text = fmt.Sprintf("%s (%s); %s", v.Signals[0].Rule, v.Signals[0].Where, text)
	}
	return text
}

// originsOf are the web origins that a visit was at, whose storage belongs to the jar.
func originsOf(s saw) []string {
	if s.response == nil {
		return nil
	}
	u, err := url.Parse(s.response.URL)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Scheme + "://" + u.Host}
}
