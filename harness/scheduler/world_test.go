package scheduler_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

// A world is a scheduler with a way to say in one line what the runner says in ten.
type world struct {
	*scheduler.Scheduler
	t testing.TB
}

func newWorld(tb testing.TB, cfg scheduler.Config) world {
	tb.Helper()
	if cfg.Rand == nil {
		cfg.Rand = rand.New(rand.NewPCG(3, 4))
	}
	s, err := scheduler.New(cfg)
	require.NoError(tb, err)
	return world{s, tb}
}

// provider is a gateway that mints sessions anywhere.
func provider(name string) scheduler.Source {
	return scheduler.Source{Name: name, Protocol: "http", Endpoints: []string{name + ".test:1"}, City: true, Region: true, ASN: true}
}

// fixed is one exit in Germany.
func fixed(name string) scheduler.Source {
	return scheduler.Source{Name: name, Protocol: "socks5", Endpoints: []string{name + ".test:1080"}, Fixed: true, Countries: []string{"DE"}}
}

func request(job, identity string) scheduler.Request {
	return scheduler.Request{Job: job, Identity: identity, Origin: "shop.test"}
}

func (w world) lease(r scheduler.Request) scheduler.Lease {
	w.t.Helper()
	l, err := w.Lease(w.t.Context(), r)
	require.NoError(w.t, err)
	return l
}

// refusal is the error of a lease that must fail.
func (w world) refusal(r scheduler.Request) error {
	w.t.Helper()
	_, err := w.Lease(w.t.Context(), r)
	require.Error(w.t, err)
	return err
}

func (w world) report(l scheduler.Lease, o scheduler.Outcome) scheduler.Decision {
	w.t.Helper()
	d, err := w.Report(w.t.Context(), l, o)
	require.NoError(w.t, err)
	return d
}

// run leases and reports one attempt.
func (w world) run(r scheduler.Request, o scheduler.Outcome) (scheduler.Lease, scheduler.Decision) {
	w.t.Helper()
	l := w.lease(r)
	return l, w.report(l, o)
}

var (
	useful   = scheduler.Outcome{OK: true, Rule: scheduler.RuleDone, Class: "useful"}
	captcha  = scheduler.Outcome{Domain: scheduler.DomainExitOrigin, Rule: scheduler.RuleRefused, Class: "captcha"}
	limited  = scheduler.Outcome{Domain: scheduler.DomainPace, Rule: scheduler.RuleWaitSame, Class: "rate_limited", RetryAfter: 3 * time.Second}
	lost     = scheduler.Outcome{Domain: scheduler.DomainExit, Rule: scheduler.RuleNewSession, Class: "exit_lost"}
	failing  = scheduler.Outcome{Domain: scheduler.DomainOrigin, Rule: scheduler.RuleBackOff, Class: "server_error"}
	crashed  = scheduler.Outcome{Domain: scheduler.DomainWorker, Rule: scheduler.RuleNewBrowser, Class: "browser_crashed"}
	rejected = scheduler.Outcome{Domain: scheduler.DomainCredential, Rule: scheduler.RuleStopAll, Class: "credential_rejected"}
	noExit   = scheduler.Outcome{Domain: scheduler.DomainSegment, Rule: scheduler.RuleBackOff, Class: "no_exit"}
	deadGate = scheduler.Outcome{Domain: scheduler.DomainEndpoint, Rule: scheduler.RuleBackOff, Class: "gateway_unreachable"}
)

func mode(r scheduler.Request, m scheduler.Mode) scheduler.Request {
	r.Intent.Mode = m
	return r
}

// waitUntil is when the error says that asking again makes sense.
func waitUntil(tb testing.TB, err error) time.Time {
	tb.Helper()
	var wait *scheduler.WaitError
	require.ErrorAs(tb, err, &wait)
	require.ErrorIs(tb, err, scheduler.ErrNoCapacity)
	require.NotEmpty(tb, wait.Reason)
	return wait.Until
}

func name(prefix string, i int) string { return prefix + strconv.Itoa(i) }

// sleep lets time pass in a synctest bubble.
func sleep(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // only in bubbles, where it takes no time
}
