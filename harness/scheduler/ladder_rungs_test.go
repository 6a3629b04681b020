package scheduler_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

// crowd seats n identities on w, each with a session that leaves by addr(i), and answers who sits where.
func crowd(w world, n int, addr func(i int) string) map[string]string {
	at := map[string]string{}
	for i := range n {
		l := w.lease(request(name("warm-", i), name("id-", i)))
		if a := addr(i); a != "" {
			require.NoError(w.t, w.Observe(l, a, ""))
		}
		w.report(l, useful)
		at[l.Identity] = l.Exit.Session
	}
	return at
}

// exposed counts the identities that would still meet the origin on the session they had.
func exposed(w world, before map[string]string) int {
	n := 0
	for id, session := range before {
		l, err := w.Lease(w.t.Context(), request("probe-"+id, id))
		if err != nil {
			continue
		}
		if l.Exit.Session == session {
			n++
		}
		require.NoError(w.t, w.Release(l))
	}
	return n
}

func TestFirstRefusalHoldsTheExitsOtherIdentities(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	at := crowd(w, 10, func(i int) string { return fmt.Sprintf("203.0.%d.7", i/5) }) // five on each of two exits
	l, d := w.run(request("hit", "id-0"), captcha)
	require.Equal(t, scheduler.RetryNew, d.Action)
	require.Equal(t, "203.0.0.7", l.Exit.Addr)
	delete(at, "id-0")
	require.Equal(t, 5, exposed(w, at), "of the nine others only the five on the other exit go on as they were")
}

func TestBurnIsPerOrigin(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1")}})
	w.run(request("a", "ada"), captcha)
	err := w.refusal(request("b", "bob"))
	waitUntil(t, err)
	var wait *scheduler.WaitError
	require.ErrorAs(t, err, &wait)
	require.True(t, wait.Refused)
	r := request("c", "bob")
	r.Origin = "other.test"
	w.lease(r)
}

func TestBurnedPairIsTriedAgainByOneIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1")}})
		w.run(request("a", "ada"), captcha)
		until := waitUntil(t, w.refusal(request("b", "bob")))
		require.InDelta(t, (7*time.Minute + 30*time.Second).Seconds(), time.Until(until).Seconds(), 150)
		sleep(time.Until(until))
		l := w.lease(request("b", "bob"))
		require.NoError(t, w.Observe(l, "", ""), "the prober's own permit does not stop it")
		waitUntil(t, w.refusal(request("c", "cat")))
		w.report(l, useful)
		w.lease(request("c", "cat"))
	})
}

func TestSecondRefusalOfAJobGoesToReview(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p"), provider("q")}})
	first, d := w.run(request("a", "ada"), captcha)
	require.Equal(t, scheduler.RetryNew, d.Action)
	second, d := w.run(request("a", "ada"), captcha)
	require.NotEqual(t, first.Exit.Session, second.Exit.Session)
	require.Equal(t, scheduler.Review, d.Action)
	require.Empty(t, d.Diagnosis)
}

func TestTwoRefusedExitsHoldTheirSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		for i := range 2 {
			w.run(request(name("job-", i), name("id-", i)), captcha)
		}
		require.Len(t, w.Snapshot().Held, 1)
		require.Equal(t, "p/*/default/http", w.Snapshot().Held[0].Domain)
		fresh := w.refusal(request("new", "cat"))
		require.Equal(t, 15*time.Minute, time.Until(waitUntil(t, fresh)))
		require.ErrorIs(t, w.refusal(request("job-0", "id-0")), scheduler.ErrHeld, "a refused job does not wait for longer than it may")
		elsewhere := request("else", "cat")
		elsewhere.Origin = "other.test"
		w.lease(elsewhere)
		sleep(15 * time.Minute)
		w.lease(request("new", "cat"))
	})
}

func TestTwoRefusedExitsHoldTheirSubnetAlone(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	refuse := func(i int, addr string) {
		l := w.lease(request(name("job-", i), name("id-", i)))
		require.NoError(t, w.Observe(l, addr, ""))
		w.report(l, captcha)
	}
	refuse(0, "203.0.113.1")
	refuse(1, "203.0.113.2")
	l := w.lease(request("new", "cat"))
	var burned *scheduler.BurnedError
	require.ErrorAs(t, w.Observe(l, "203.0.113.3", ""), &burned)
	require.Contains(t, burned.Reason, "203.0.113.0/24")
	require.NoError(t, w.Discard(l))
	l = w.lease(request("new", "cat"))
	require.NoError(t, w.Observe(l, "198.51.100.1", ""))
}

func TestThreeRefusedDomainsHoldTheOriginAsAPattern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		var d scheduler.Decision
		for i := range 3 {
			l := w.lease(request(name("job-", i), name("id-", i)))
			require.NoError(t, w.Observe(l, fmt.Sprintf("203.0.%d.1", i), ""))
			d = w.report(l, captcha)
		}
		require.Equal(t, scheduler.Review, d.Action, "even for a job's first refusal: rotation stops")
		require.Equal(t, scheduler.DiagnosisPattern, d.Diagnosis)
		var held *scheduler.HeldError
		require.ErrorAs(t, w.refusal(request("new", "cat")), &held)
		require.Equal(t, scheduler.DiagnosisPattern, held.Diagnosis)
		require.Equal(t, 15*time.Minute, time.Until(held.Until))
		require.Equal(t, scheduler.DiagnosisPattern, w.Snapshot().Origins[0].Diagnosis)
		sleep(15 * time.Minute)
		w.lease(request("new", "cat"))
	})
}

func TestUsefulExitsKeepTheOriginOpen(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	crowd(w, 8, func(i int) string { return fmt.Sprintf("198.51.%d.1", i) })
	for i := range 4 {
		l := w.lease(request(name("job-", i), name("bad-", i)))
		require.NoError(t, w.Observe(l, fmt.Sprintf("203.0.%d.1", i), ""))
		require.Equal(t, scheduler.RetryNew, w.report(l, captcha).Action)
	}
	require.Empty(t, w.Snapshot().Held)
	w.lease(request("new", "cat"))
}
