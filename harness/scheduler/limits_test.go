package scheduler_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

func TestTwoLimitsThenSuccessIsUsefulOnOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		r := request("a", "ada")
		r.Limits = scheduler.Limits{Attempts: 3, RouteChanges: -1}
		var sessions []string
		for range 2 {
			start := time.Now()
			l, d := w.run(r, limited)
			sessions = append(sessions, l.Exit.Session)
			require.Equal(t, scheduler.Wait, d.Action)
			require.GreaterOrEqual(t, d.NotBefore.Sub(start), 3*time.Second, "never sooner than asked")
			require.LessOrEqual(t, d.NotBefore.Sub(start), 3300*time.Millisecond)
			require.Equal(t, d.NotBefore, waitUntil(t, w.refusal(r)), "asking early does not help")
			sleep(time.Until(d.NotBefore))
		}
		l, d := w.run(r, useful)
		require.Equal(t, scheduler.Done, d.Action)
		require.Equal(t, []string{l.Exit.Session, l.Exit.Session}, sessions)
		require.Equal(t, 3, l.Attempt)
	})
}

func TestLimitBindsItsExitInFullAndTheOriginForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		long := limited
		long.RetryAfter = time.Minute
		w.run(request("a", "ada"), long)
		other := waitUntil(t, w.refusal(request("b", "bob")))
		require.Equal(t, time.Second, time.Until(other))
		sleep(time.Second)
		w.lease(request("b", "bob"))
		require.Equal(t, 59*time.Second, time.Until(waitUntil(t, w.refusal(request("c", "ada")))),
			"the identity's next job does not get another exit either")
	})
}

func TestLimitMetByThreeExitsBindsTheOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		long := limited
		long.RetryAfter = time.Minute
		for i := range 3 {
			w.run(request(name("job-", i), name("id-", i)), long)
			sleep(time.Second)
		}
		require.Equal(t, 59*time.Second, time.Until(waitUntil(t, w.refusal(request("new", "cat")))))
	})
}

func TestRetryAfterOfACenturyDefersTheJobAndBoundsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{100 * 365 * 24 * time.Hour, math.MaxInt64} {
			w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
			o := limited
			o.RetryAfter = after
			_, d := w.run(request("a", "ada"), o)
			require.Equal(t, scheduler.Review, d.Action)
			require.Contains(t, d.Reason, "deferred until")
			sleep(time.Second)
			w.lease(request("c", "bob"))
			require.Equal(t, 15*time.Minute-time.Second, time.Until(waitUntil(t, w.refusal(request("b", "ada")))))
		}
	})
}

func TestPaceAndConcurrencyAreAWaitNotASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{
			Sources: []scheduler.Source{provider("p")},
			Origins: map[string]scheduler.Pace{"shop.test": {PerSecond: 0.5, Burst: 2, Concurrency: 3}},
		})
		var out []scheduler.Lease
		for i := range 2 {
			out = append(out, w.lease(request(name("job-", i), name("id-", i))))
		}
		require.Equal(t, 2*time.Second, time.Until(waitUntil(t, w.refusal(request("c", "cat")))))
		sleep(2 * time.Second)
		w.lease(request("c", "cat"))
		sleep(2 * time.Second)
		require.Less(t, time.Until(waitUntil(t, w.refusal(request("d", "dog")))), time.Second, "three are out")
		w.report(out[0], useful)
		w.lease(request("d", "dog"))
		elsewhere := request("e", "elk")
		elsewhere.Origin = "other.test"
		w.lease(elsewhere)
	})
}

func TestDeadOwnerLosesItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{
			Sources: []scheduler.Source{provider("p")}, DefaultPace: scheduler.Pace{Concurrency: 1},
		})
		l := w.lease(request("a", "ada"))
		waitUntil(t, w.refusal(request("b", "bob")))
		sleep(90*time.Second + time.Minute)
		w.lease(request("b", "bob"))
		_, err := w.Report(t.Context(), l, useful)
		require.ErrorIs(t, err, scheduler.ErrUnknownLease)
	})
}

func TestReportMayComeALittleAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		l := w.lease(request("a", "ada"))
		sleep(time.Until(l.Deadline) + 59*time.Second)
		require.Equal(t, scheduler.Done, w.report(l, useful).Action)
	})
}

func TestElapsedBudgetEndsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		l := w.lease(request("a", "ada"))
		require.Equal(t, 90*time.Second, l.Deadline.Sub(l.Granted))
		sleep(89 * time.Second)
		require.Equal(t, scheduler.Stop, w.report(l, failing).Action)
		sleep(time.Second)
		var spent *scheduler.BudgetError
		require.ErrorAs(t, w.refusal(request("a", "ada")), &spent)
		require.Equal(t, scheduler.BudgetElapsed, spent.Which)
	})
}

func TestBytesAreReservedAndSettled(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	l := w.lease(request("free", "ada"))
	require.Negative(t, l.BytesLeft, "no limit by default")
	r := request("a", "bob")
	r.Limits.Bytes = 100
	l = w.lease(r)
	require.Equal(t, int64(100), l.BytesLeft)
	o := crashed
	o.BytesUp, o.BytesDown = 10, 50
	w.report(l, o)
	l = w.lease(r)
	require.Equal(t, int64(40), l.BytesLeft)
	o.BytesDown = 30
	w.report(l, o)
	var spent *scheduler.BudgetError
	require.ErrorAs(t, w.refusal(r), &spent)
	require.Equal(t, scheduler.BudgetBytes, spent.Which)
}
