package scheduler_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

func TestDemandThatNobodyCanExpressIsRefused(t *testing.T) {
	here := scheduler.Source{Name: "here", Protocol: "direct", Fixed: true}
	narrow := scheduler.Source{Name: "narrow", Protocol: "http", Endpoints: []string{"n:1"}, Countries: []string{"DE", "FR"}}
	for _, c := range []struct {
		name    string
		sources []scheduler.Source
		edit    func(*scheduler.Request)
		field   string // empty: granted
	}{
		{"nothing configured", nil, func(*scheduler.Request) {}, "protocol"},
		{"any", []scheduler.Source{narrow}, func(*scheduler.Request) {}, ""},
		{"country", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Country = "DE" }, ""},
		{"country not offered", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Country = "GB" }, "country"},
		{"a city is never weakened to its country", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Country, r.Intent.City = "DE", "Berlin" }, "city"},
		{"region", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Region = "by" }, "region"},
		{"network", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.ASN = "3320" }, "asn"},
		{"city of the one and country of the other", []scheduler.Source{narrow, {
			Name: "c", Protocol: "http", Endpoints: []string{"c:1"}, Countries: []string{"GB"}, City: true,
		}}, func(r *scheduler.Request) { r.Intent.Country, r.Intent.City = "DE", "Berlin" }, "city"},
		{"a fixed exit is nowhere known", []scheduler.Source{here}, func(r *scheduler.Request) { r.Intent.Country = "DE" }, "country"},
		{"exit by name", []scheduler.Source{narrow, here}, func(r *scheduler.Request) { r.Intent.Exit = "here" }, ""},
		{"no such exit", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Exit = "there" }, "exit"},
		{"protocol", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Protocol = "socks5" }, "protocol"},
		{"direct where nothing else is", []scheduler.Source{here}, func(*scheduler.Request) {}, ""},
		{"mode", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Mode = "wild" }, "mode"},
		{"window", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Intent.Window = -1 }, "window"},
		{"budget", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Limits.Attempts = -1 }, "budget"},
		{"no job", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Job = "" }, "job"},
		{"no identity", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Identity = "" }, "identity"},
		{"no origin", []scheduler.Source{narrow}, func(r *scheduler.Request) { r.Origin = "" }, "origin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, scheduler.Config{Sources: c.sources})
			r := request("a", "ada")
			c.edit(&r)
			_, err := w.Lease(t.Context(), r)
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			var refused *scheduler.RefusedError
			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, scheduler.ErrRefused)
			require.Equal(t, c.field, refused.Field)
		})
	}
}

func TestDirectMustBeAskedForWhereThereAreProxies(t *testing.T) {
	here := scheduler.Source{Name: "here", Protocol: "direct", Fixed: true}
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{here, fixed("dc-1")}})
	for i := range 6 {
		require.Equal(t, "dc-1", w.lease(request(name("job-", i), name("id-", i))).Exit.Source)
	}
}

func TestReportOfALeaseThatIsNotOutChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		l := w.lease(request("a", "ada"))
		over, _ := w.run(request("b", "bob"), useful)
		foreign := func(edit func(*scheduler.Lease)) scheduler.Lease {
			f := l
			edit(&f)
			return f
		}
		for name, c := range map[string]struct {
			lease scheduler.Lease
			kind  error
		}{
			"nothing":        {scheduler.Lease{}, scheduler.ErrUnknownLease},
			"reported":       {over, scheduler.ErrUnknownLease},
			"other token":    {foreign(func(l *scheduler.Lease) { l.Token++ }), scheduler.ErrForeignLease},
			"other identity": {foreign(func(l *scheduler.Lease) { l.Identity = "eve" }), scheduler.ErrForeignLease},
			"other job":      {foreign(func(l *scheduler.Lease) { l.Job = "z" }), scheduler.ErrForeignLease},
			"other origin":   {foreign(func(l *scheduler.Lease) { l.Origin = "z" }), scheduler.ErrForeignLease},
		} {
			before := w.Snapshot()
			_, err := w.Report(t.Context(), c.lease, rejected)
			require.ErrorIs(t, err, c.kind, name)
			require.ErrorIs(t, w.Observe(c.lease, "203.0.113.1", ""), c.kind, name)
			require.ErrorIs(t, w.Discard(c.lease), c.kind, name)
			_, err = w.Renew(c.lease)
			require.ErrorIs(t, err, c.kind, name)
			require.Equal(t, before, w.Snapshot(), name)
		}
		require.NoError(t, w.Release(over))
		require.ErrorIs(t, w.Release(foreign(func(l *scheduler.Lease) { l.Token++ })), scheduler.ErrForeignLease)
		sleep(time.Until(l.Deadline) + time.Minute)
		before := w.Snapshot()
		_, err := w.Report(t.Context(), l, rejected)
		require.ErrorIs(t, err, scheduler.ErrExpiredLease)
		require.Equal(t, before, w.Snapshot())
	})
}

func TestRenewKeepsALongVisitAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1")}})
		l := w.lease(mode(request("a", "ada"), scheduler.Static))
		for range 10 {
			sleep(59 * time.Second)
			var err error
			l, err = w.Renew(l)
			require.NoError(t, err)
		}
		w.report(l, useful)
	})
}

func TestAskingAgainSupersedesTheJobsLease(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	old := w.lease(request("a", "ada"))
	now := w.lease(request("a", "ada"))
	require.Greater(t, now.Token, old.Token)
	_, err := w.Report(t.Context(), old, captcha)
	require.ErrorIs(t, err, scheduler.ErrUnknownLease)
	w.report(now, useful)
}

func TestAnIdentityHasOneLeaseAtATime(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	l := w.lease(request("a", "ada"))
	waitUntil(t, w.refusal(request("b", "ada")))
	require.NoError(t, w.Release(l))
	w.lease(request("b", "ada"))
	err := w.refusal(request("b", "bob"))
	require.ErrorIs(t, err, scheduler.ErrRefused, "a job belongs to one identity")
}

func TestForgottenJobStartsAfresh(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	w.lease(request("a", "ada"))
	w.Forget("a")
	require.Empty(t, w.Snapshot().Leases)
	require.Equal(t, 1, w.lease(request("a", "ada")).Attempt)
}

func TestDoneContextLeasesNothingButStillReports(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	l := w.lease(request("a", "ada"))
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := w.Lease(ctx, request("b", "bob"))
	require.ErrorIs(t, err, cause)
	d, err := w.Report(ctx, l, useful)
	require.NoError(t, err)
	require.Equal(t, scheduler.Done, d.Action)
}

func TestManyOriginsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}, MaxOrigins: 100})
		for i := range 2 { // two exits of one segment: it is held there
			r := request(name("held-", i), name("held-", i))
			r.Origin = "wall.test"
			w.run(r, captcha)
		}
		w.run(request("a", "ada"), limited)
		for i := range 10_000 {
			r := request(name("job-", i), name("id-", i%50))
			r.Origin = name("origin-", i)
			w.run(r, useful)
			w.Forget(r.Job)
		}
		s := w.Snapshot()
		require.Len(t, s.Origins, 100)
		require.Equal(t, "shop.test", s.Origins[98].Name, "what keeps something back is not forgotten")
		require.Equal(t, "wall.test", s.Origins[99].Name)
		for i := range 98 {
			r := request(name("busy-", i), name("busy-", i))
			r.Origin = name("busy-", i)
			w.lease(r)
		}
		r := request("last", "last")
		r.Origin = "last.test"
		waitUntil(t, w.refusal(r))
	})
}

func TestNothingIsKeptForWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		for i := range 3000 {
			r := request(name("job-", i), name("id-", i))
			r.Origin = name("origin-", i%300)
			if l, err := w.Lease(t.Context(), r); err == nil {
				w.report(l, []scheduler.Outcome{useful, captcha, lost, limited}[i%4])
			}
			sleep(time.Second)
		}
		require.NotEmpty(t, w.Snapshot().Pairs)
		sleep(24 * time.Hour)
		for range 1024 {
			r := request("tick", "tick")
			r.Origin = "tick.test"
			w.run(r, useful)
			w.Forget("tick")
		}
		s := w.Snapshot()
		require.Empty(t, s.Pairs)
		require.Empty(t, s.Exits)
		require.LessOrEqual(t, len(s.Seats), 1)
		require.LessOrEqual(t, s.Jobs, 1)
	})
}

func TestConfigReportsEveryFault(t *testing.T) {
	_, err := scheduler.New(scheduler.Config{
		Sources: []scheduler.Source{
			{Name: "p", Protocol: "http"},
			{Name: "p", Protocol: "smoke", Endpoints: []string{"x"}},
			{Protocol: "direct"},
			{Name: "n", Protocol: "direct", MaxTTL: -1},
		},
		DefaultPace: scheduler.Pace{PerSecond: math.NaN()},
		Origins:     map[string]scheduler.Pace{"inf.test": {PerSecond: math.Inf(1)}, "neg.test": {Burst: -1}},
		Limits:      scheduler.Limits{Attempts: -1},
		Ladder:      scheduler.Ladder{Hold: -1},
		CoolDown:    scheduler.CoolDown{Pair: scheduler.Growth{Base: time.Hour, Cap: time.Minute}},
		MaxOrigins:  -1,
	})
	require.Error(t, err)
	for _, part := range []string{
		"no endpoint", "there twice", `"smoke"`, "no name", `"n"`, "default", "inf.test", "neg.test", "limits", "ladder", "cool-down", "MaxOrigins",
	} {
		require.ErrorContains(t, err, part)
	}
	w := newWorld(t, scheduler.Config{})
	require.ErrorIs(t, w.refusal(request("a", "ada")), scheduler.ErrRefused)
}

func TestEventsTellOfEveryCallInOrderAndOutsideTheLock(t *testing.T) {
	var w world
	var events []scheduler.Event
	w = newWorld(t, scheduler.Config{
		Sources: []scheduler.Source{provider("p")}, NewID: func() string { return "lease-1" }, NewSession: func() string { return "sid" },
		OnEvent: func(e scheduler.Event) {
			events = append(events, e)
			w.Snapshot() // deadlocks if the lock were held
		},
	})
	l := w.lease(request("a", "ada"))
	require.NoError(t, w.Observe(l, "203.0.113.9", "DE"))
	require.NoError(t, w.Observe(l, "203.0.113.9", "DE"))
	_, err := w.Renew(l)
	require.NoError(t, err)
	w.report(l, rejected)
	require.NoError(t, w.Release(l))
	w.Resume("p")
	require.NoError(t, w.Discard(w.lease(request("b", "bob"))))
	require.NoError(t, w.Release(w.lease(request("b", "bob"))))
	w.Forget("b")
	w.EndIdentity("ada")
	var kinds []scheduler.Kind
	for i, e := range events {
		kinds = append(kinds, e.Kind)
		require.Equal(t, uint64(i+1), e.Seq)
	}
	require.Equal(t, []scheduler.Kind{
		scheduler.EventLease, scheduler.EventObserve, scheduler.EventRenew, scheduler.EventReport, scheduler.EventResume,
		scheduler.EventLease, scheduler.EventDiscard, scheduler.EventLease, scheduler.EventRelease, scheduler.EventForget, scheduler.EventEnd,
	}, kinds)
	report := events[3]
	require.Equal(t, "lease-1", report.Lease)
	require.Equal(t, "203.0.113.9", report.Exit.Addr)
	require.Equal(t, scheduler.StopRun, report.Decision.Action)
	require.Equal(t, rejected, report.Outcome)
	require.Equal(t, "a", report.Job)
	require.Equal(t, 1, report.Attempt)
}

func TestManyWorkersNeverBreakTheCaps(t *testing.T) {
	const workers, jobs, identities = 8, 400, 20
	w := newWorld(t, scheduler.Config{
		Sources:     []scheduler.Source{provider("p"), fixed("dc-1"), fixed("dc-2")},
		DefaultPace: scheduler.Pace{Concurrency: 5}, OnEvent: func(scheduler.Event) {},
	})
	var out atomic.Int32
	var holders sync.Map
	var wg sync.WaitGroup
	next := make(chan int, jobs)
	for i := range jobs {
		next <- i
	}
	close(next)
	broken := make(chan string, jobs)
	for range workers {
		wg.Go(func() {
			for i := range next {
				r := request(name("job-", i), name("id-", i%identities))
				l, err := w.Lease(t.Context(), r)
				if err != nil {
					continue
				}
				if n := out.Add(1); n > 5 {
					broken <- "more leases out than the cap"
				}
				if _, taken := holders.LoadOrStore(l.Identity, l.Job); taken {
					broken <- "two leases of one identity"
				}
				_ = w.Observe(l, name("203.0.113.", i%200), "")
				w.Snapshot()
				holders.Delete(l.Identity)
				out.Add(-1)
				if _, err := w.Report(t.Context(), l, []scheduler.Outcome{useful, useful, crashed, lost}[i%4]); err != nil {
					broken <- err.Error()
				}
				w.Forget(r.Job)
			}
		})
	}
	wg.Wait()
	close(broken)
	for why := range broken {
		require.Fail(t, why)
	}
	require.Empty(t, w.Snapshot().Leases)
	require.Zero(t, w.Snapshot().Origins[0].InFlight)
	require.Zero(t, w.Snapshot().Jobs)
}
