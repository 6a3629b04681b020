package scheduler_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

func TestWrongExitIsDiscardedAtNoCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{
			Sources: []scheduler.Source{provider("p")}, DefaultPace: scheduler.Pace{PerSecond: 1},
		})
		burned := w.lease(request("a", "ada"))
		require.NoError(t, w.Observe(burned, "203.0.113.9", ""))
		w.report(burned, captcha)
		sleep(time.Second)

		r := request("b", "bob")
		seen := map[string]bool{}
		for i := range 3 {
			l := w.lease(r)
			require.Equal(t, 1, l.Attempt)
			require.False(t, seen[l.Exit.Session])
			seen[l.Exit.Session] = true
			var wrong *scheduler.BurnedError
			require.ErrorAs(t, w.Observe(l, "203.0.113.9", ""), &wrong)
			require.Equal(t, "203.0.113.9", wrong.Exit)
			require.False(t, wrong.Until.IsZero())
			err := w.Discard(l)
			if i < 2 {
				require.NoError(t, err)
				continue
			}
			require.LessOrEqual(t, time.Until(waitUntil(t, err)), 15*time.Second, "the provider is not asked in a loop")
			require.Equal(t, waitUntil(t, err), waitUntil(t, w.refusal(r)))
			sleep(time.Until(waitUntil(t, err)))
		}
		l := w.lease(r)
		require.Equal(t, 1, l.Attempt)
		require.NoError(t, w.Observe(l, "203.0.113.10", ""))
		w.report(l, useful)
		spent, _ := w.Spent("b")
		require.Equal(t, 1, spent.Attempts)
		require.Zero(t, spent.RouteChanges)
	})
}

func TestDiscardedRetryGivesItsRouteChangeBack(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	r := request("a", "ada")
	r.Limits.RouteChanges = 1
	w.run(r, lost)
	for range 2 {
		require.NoError(t, w.Discard(w.lease(r)))
	}
	w.run(r, useful)
	spent, _ := w.Spent("a")
	require.Equal(t, 2, spent.Attempts)
	require.Equal(t, 1, spent.RouteChanges)
}

func TestDeadAddressIsDeadForEveryOrigin(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	l := w.lease(request("a", "ada"))
	require.NoError(t, w.Observe(l, "203.0.113.9", ""))
	w.report(l, lost)
	r := request("b", "bob")
	r.Origin = "other.test"
	require.ErrorIs(t, w.Observe(w.lease(r), "203.0.113.9", ""), scheduler.ErrBurned)
}

func TestExitInTheWrongCountryIsWrong(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	r := request("a", "ada")
	r.Intent.Country = "DE"
	l := w.lease(r)
	require.ErrorContains(t, w.Observe(l, "203.0.113.9", "fr"), "FR")
	require.NoError(t, w.Discard(l))
	require.NoError(t, w.Observe(w.lease(r), "203.0.113.9", "de"), "and nobody's health moved")
}

func TestExitThatChangesUnderASessionBreaksIt(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	l := w.lease(request("a", "ada"))
	require.NoError(t, w.Observe(l, "203.0.113.9", ""))
	require.NoError(t, w.Observe(l, "::ffff:203.0.113.9", ""), "the same address in another spelling")
	require.NoError(t, w.Observe(l, "", ""))
	var changed *scheduler.ChangedError
	require.ErrorAs(t, w.Observe(l, "203.0.113.10", ""), &changed)
	require.Equal(t, scheduler.ChangedError{From: "203.0.113.9", To: "203.0.113.10"}, *changed)
	w.report(l, useful)
	l = w.lease(request("b", "ada"))
	require.Equal(t, "203.0.113.9", l.Exit.Addr)
	require.ErrorIs(t, w.Observe(l, "203.0.113.10", ""), scheduler.ErrExitChanged, "across jobs too")
}

func TestFixedExitMayComeBackUnderAnotherAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1")}})
		l := w.lease(request("a", "ada"))
		require.NoError(t, w.Observe(l, "203.0.113.9", ""))
		require.Equal(t, scheduler.RetryNew, w.report(l, lost).Action)
		sleep(30 * time.Second)
		l = w.lease(request("a", "ada"))
		require.Equal(t, "203.0.113.9", l.Exit.Addr, "as last seen")
		require.NoError(t, w.Observe(l, "203.0.113.10", ""))
		w.report(l, useful)
	})
}

func TestHealthOfAFixedExitCountsFromBeforeItsAddressWasSeen(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1")}})
	out := w.lease(request("b", "bob"))
	w.run(request("a", "ada"), captcha) // burned as dc-1
	require.ErrorIs(t, w.Observe(out, "203.0.113.9", ""), scheduler.ErrBurned)
}

func TestLeaseThatWasLetPassIsNotStoppedByALaterBurn(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1")}})
	out := w.lease(request("b", "bob"))
	require.NoError(t, w.Observe(out, "203.0.113.9", ""))
	w.run(request("a", "ada"), captcha)
	require.NoError(t, w.Observe(out, "203.0.113.9", ""), "the origin has seen it: its visit may end")
	w.report(out, useful)
}

func TestStaticExitThatWasMetIsHeldNotReplaced(t *testing.T) {
	seated := func(t *testing.T, burnt scheduler.Outcome) (world, scheduler.Request) {
		t.Helper()
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		r := mode(request("a", "acct"), scheduler.Static)
		l := w.lease(r)
		require.NoError(t, w.Observe(l, "203.0.113.9", ""))
		w.report(l, useful)
		r.Job = "b"
		l = w.lease(r)
		other := w.lease(request("x", "eve"))
		require.NoError(t, w.Observe(other, "203.0.113.9", ""))
		w.report(other, burnt)
		require.ErrorIs(t, w.Observe(l, "203.0.113.9", ""), scheduler.ErrBurned)
		require.NoError(t, w.Discard(l))
		return w, r
	}
	for name, burnt := range map[string]scheduler.Outcome{"burned": captcha, "dead": lost} {
		t.Run(name, func(t *testing.T) {
			w, r := seated(t, burnt)
			var held *scheduler.HeldError
			require.ErrorAs(t, w.refusal(r), &held)
			require.Equal(t, "203.0.113.9", held.Exit)
		})
	}
}

func TestExclusiveKeepsIdentitiesOffOneAddress(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}, Exclusive: true})
	first := w.lease(request("a", "ada"))
	require.NoError(t, w.Observe(first, "203.0.113.9", ""))
	w.report(first, useful)
	l := w.lease(request("b", "bob"))
	require.ErrorContains(t, w.Observe(l, "203.0.113.9", ""), "another identity")
	require.NoError(t, w.Discard(l))
	w.EndIdentity("ada")
	require.NoError(t, w.Observe(w.lease(request("b", "bob")), "203.0.113.9", ""))
}
