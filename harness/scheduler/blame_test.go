package scheduler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

// parties is what a snapshot says of everybody's health, without the book-keeping of leases and pace.
func parties(s scheduler.Snapshot) map[string]any {
	out := map[string]any{}
	for _, h := range s.Exits {
		out["exit"] = h
	}
	for _, h := range s.Pairs {
		switch {
		case h.State != scheduler.StateClosed || h.Fails > 0:
			out["pair"] = h
		case !h.Limited.IsZero():
			out["pace"] = h
		}
	}
	for _, h := range s.Endpoints {
		out["endpoint"] = h
	}
	for _, h := range s.Segments {
		out["segment"] = h
	}
	for _, o := range s.Origins {
		if o.Fails > 0 || o.State != scheduler.StateClosed || !o.HeldUntil.IsZero() {
			out["origin"] = o
		}
	}
	for _, st := range s.Stopped {
		out[string(st.Domain)] = st
	}
	for _, h := range s.Held {
		out["domain"] = h
	}
	for _, st := range s.Seats {
		if st.Over {
			out["session"] = st
		}
	}
	return out
}

func TestOnlyTheBlamedPartyMoves(t *testing.T) {
	for _, c := range []struct {
		o     scheduler.Outcome
		moved []string
	}{
		{scheduler.Outcome{Domain: scheduler.DomainNone, Rule: scheduler.RuleReview, Class: "unknown"}, nil},
		{scheduler.Outcome{Domain: scheduler.DomainNone, Rule: scheduler.RuleCancelled, Class: "cancelled"}, nil},
		// A refusal is the pair's; the session that met it is over with it, and so is one whose exit is gone.
		{captcha, []string{"pair", "session"}},
		{lost, []string{"exit", "session"}},
		{deadGate, []string{"endpoint"}},
		{noExit, []string{"segment"}},
		{scheduler.Outcome{Domain: scheduler.DomainAccount, Rule: scheduler.RuleStopAll, Class: "provider_limit"}, []string{"account"}},
		{rejected, []string{"credential"}},
		{failing, []string{"origin"}},
		{crashed, nil},
		{limited, []string{"pace"}},
		{scheduler.Outcome{Domain: scheduler.DomainPolicy, Rule: scheduler.RuleDenied, Class: "provider_policy"}, nil},
		{scheduler.Outcome{Domain: scheduler.DomainSession, Rule: scheduler.RuleRetireOnce, Class: "login_wall"}, []string{"session"}},
		{scheduler.Outcome{Domain: scheduler.DomainJob, Rule: scheduler.RuleTerminal, Class: "gone"}, nil},
		{scheduler.Outcome{Domain: scheduler.DomainJob, Rule: scheduler.RuleBackOffOnce, Class: "soft_404"}, nil},
		{scheduler.Outcome{Domain: "somebody else", Rule: scheduler.RuleReview, Class: "unknown"}, nil},
	} {
		t.Run(string(c.o.Domain)+" "+c.o.Class, func(t *testing.T) {
			w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
			w.run(request("a", "ada"), c.o)
			got := parties(w.Snapshot())
			for _, p := range c.moved {
				require.Contains(t, got, p)
				delete(got, p)
			}
			require.Empty(t, got, "nobody else moves")
		})
	}
}

func TestUsefulClearsTheWayItWent(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	for i, o := range []scheduler.Outcome{deadGate, noExit, failing} {
		w.run(request(name("job-", i), name("id-", i)), o)
	}
	w.run(request("good", "ada"), useful)
	for _, h := range append(w.Snapshot().Endpoints, w.Snapshot().Segments...) {
		require.Zero(t, h.Fails, h.Name)
	}
	require.Zero(t, w.Snapshot().Origins[0].Fails)
}

func TestStopHoldsEverythingOfItsProviderUntilResumed(t *testing.T) {
	for _, domain := range []scheduler.Domain{scheduler.DomainCredential, scheduler.DomainAccount} {
		t.Run(string(domain), func(t *testing.T) {
			w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
			held := w.lease(request("busy", "bob"))
			_, d := w.run(request("a", "ada"), scheduler.Outcome{Domain: domain, Rule: scheduler.RuleStopAll, Class: "x"})
			require.Equal(t, scheduler.StopRun, d.Action)
			var stopped *scheduler.StoppedError
			require.ErrorAs(t, w.refusal(request("b", "cat")), &stopped)
			require.Equal(t, scheduler.StoppedError{Domain: domain, Provider: "p", Reason: "x"}, *stopped)
			require.ErrorIs(t, w.Observe(held, "203.0.113.1", ""), scheduler.ErrStopped, "its next connection is stopped too")
			w.Resume("p")
			w.lease(request("b", "cat"))
		})
	}
}

func TestOtherProvidersGoOnWhenOneIsStopped(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p"), provider("q")}})
	l, _ := w.run(request("a", "ada"), rejected)
	for i := range 4 {
		require.NotEqual(t, l.Exit.Source, w.lease(request(name("job-", i), name("id-", i))).Exit.Source)
	}
}

func TestAccountAtItsLimitIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		threads := scheduler.Outcome{Domain: scheduler.DomainAccount, Rule: scheduler.RuleBackOff, Class: "provider_limit"}
		_, d := w.run(request("a", "ada"), threads)
		require.Equal(t, scheduler.RetrySame, d.Action)
		until := waitUntil(t, w.refusal(request("b", "bob")))
		require.LessOrEqual(t, time.Until(until), 15*time.Second)
		sleep(time.Until(until))
		w.lease(request("b", "bob"))
	})
}

func TestOriginOpensOnlyWhenThreeExitsAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alone := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1")}})
		for i := range 20 {
			_, d := alone.run(request(name("job-", i), name("id-", i)), failing)
			require.Equal(t, scheduler.RetrySame, d.Action)
		}
		require.Equal(t, scheduler.StateClosed, alone.Snapshot().Origins[0].State, "one exit is no witness against an origin")

		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		for i := range 5 {
			require.Equal(t, scheduler.StateClosed, stateOf(w))
			w.run(request(name("job-", i), name("id-", i)), failing)
		}
		require.Equal(t, scheduler.StateOpen, stateOf(w))
		until := waitUntil(t, w.refusal(request("new", "cat")))
		require.LessOrEqual(t, time.Until(until), 15*time.Second)
		sleep(time.Until(until))
		probe := w.lease(request("new", "cat"))
		waitUntil(t, w.refusal(request("other", "dog")))
		w.report(probe, crashed) // says nothing of the origin, and frees the permit
		probe = w.lease(request("other", "dog"))
		w.report(probe, useful)
		require.Equal(t, scheduler.StateClosed, stateOf(w))
	})
}

func stateOf(w world) scheduler.State {
	s := w.Snapshot()
	if len(s.Origins) == 0 {
		return scheduler.StateClosed
	}
	return s.Origins[0].State
}

func TestDeadEndpointIsLeftForItsSiblingAtNoRouteChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := provider("p")
		src.Endpoints = []string{"one.test:1", "two.test:1"}
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{src}})
		first, d := w.run(request("a", "ada"), deadGate)
		require.Equal(t, "one.test:1", first.Exit.Endpoint)
		require.Equal(t, scheduler.RetryNew, d.Action)
		second, _ := w.run(request("a", "ada"), useful)
		require.Equal(t, "two.test:1", second.Exit.Endpoint)
		require.NotEqual(t, first.Epoch, second.Epoch)
		spent, _ := w.Spent("a")
		require.Zero(t, spent.RouteChanges)
		require.Equal(t, 2, spent.Attempts)
	})
}

func TestOnlyTheNextSessionIsFree(t *testing.T) {
	src := provider("p")
	src.Endpoints = []string{"one.test:1", "two.test:1"}
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{src}})
	routes := func() int {
		spent, _ := w.Spent("a")
		return spent.RouteChanges
	}
	w.run(request("a", "ada"), deadGate)
	require.NoError(t, w.Discard(w.lease(request("a", "ada"))), "what is given back is free again")
	l := w.lease(request("a", "ada"))
	require.Zero(t, routes())
	require.NoError(t, w.Release(l))
	w.EndIdentity("ada")
	w.lease(request("a", "ada"))
	require.Equal(t, 1, routes())
}

func TestUnreachableEndpointIsWaitedForNotGoneRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		for i := range 3 {
			w.run(request(name("job-", i), name("id-", i)), deadGate)
		}
		until := waitUntil(t, w.refusal(request("new", "cat")))
		require.LessOrEqual(t, time.Until(until), 15*time.Second)
		sleep(time.Until(until))
		w.lease(request("new", "cat"))
	})
}

func TestSegmentIsPerCountry(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	in := func(job, id, country string) scheduler.Request {
		r := request(job, id)
		r.Intent.Country = country
		return r
	}
	for i := range 5 {
		w.run(in(name("job-", i), name("id-", i), "DE"), noExit)
	}
	waitUntil(t, w.refusal(in("de", "cat", "DE")))
	w.lease(in("fr", "dog", "FR"))
}

func TestSideEffectIsNeverRepeatedByItself(t *testing.T) {
	for _, o := range []scheduler.Outcome{captcha, limited, lost, failing, crashed, deadGate, noExit} {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		o.Effect = true
		_, d := w.run(request("a", "ada"), o)
		require.Equal(t, scheduler.Review, d.Action, o.Class)
	}
}
