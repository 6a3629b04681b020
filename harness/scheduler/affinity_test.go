package scheduler_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/scheduler"
)

func TestRotateTakesANewSessionForEachJobAndKeepsItForTheJobsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
		r := mode(request("a", "ada"), scheduler.Rotate)
		first, d := w.run(r, failing)
		require.Equal(t, scheduler.RetrySame, d.Action)
		sleep(time.Until(d.NotBefore))
		second, _ := w.run(r, useful)
		require.Equal(t, first.Exit.Session, second.Exit.Session)
		require.Equal(t, first.Epoch, second.Epoch)
		require.Equal(t, 2, second.Attempt)
		next, _ := w.run(mode(request("b", "ada"), scheduler.Rotate), useful)
		require.NotEqual(t, first.Exit.Session, next.Exit.Session)
		require.Greater(t, next.Epoch, first.Epoch)
	})
}

func TestWindowedResumesAcrossJobsUntilItsEarliestEnd(t *testing.T) {
	for _, c := range []struct {
		name      string
		window    time.Duration
		ttl, idle time.Duration
		resumes   time.Duration // still the same session after this
		ends      time.Duration // a new one after this
	}{
		// A new job is not started on the last part of a window: 90 s, or a quarter of it.
		{"window", 10 * time.Minute, 0, 0, 8*time.Minute + 29*time.Second, 8*time.Minute + 31*time.Second},
		{"provider limit less a tenth", 0, 10 * time.Minute, 0, 7*time.Minute + 29*time.Second, 7*time.Minute + 31*time.Second},
		{"nothing said", 0, 0, 0, 8*time.Minute + 29*time.Second, 8*time.Minute + 31*time.Second},
		{"short window", 8 * time.Second, 0, 0, 5 * time.Second, 7 * time.Second},
		{"idle limit less 5 s", 10 * time.Minute, 0, time.Minute, 54 * time.Second, 56 * time.Second},
		{"tiny idle limit", 10 * time.Minute, 0, 4 * time.Second, 1 * time.Second, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := provider("p")
				src.MaxTTL, src.IdleLimit = c.ttl, c.idle
				for _, wait := range []time.Duration{c.resumes, c.ends} {
					w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{src}})
					r := request("a", "ada")
					r.Intent.Window = c.window
					first, _ := w.run(r, useful)
					sleep(wait)
					r.Job = "b"
					second, _ := w.run(r, useful)
					require.Equal(t, wait == c.resumes, first.Exit.Session == second.Exit.Session, "after %s", wait)
				}
			})
		})
	}
}

func TestTrafficKeepsAnIdleSessionAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := provider("p")
		src.IdleLimit = time.Minute
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{src}})
		first := w.lease(request("a", "ada"))
		sleep(70 * time.Second) // one long visit
		w.report(first, useful)
		sleep(40 * time.Second)
		second, _ := w.run(request("b", "ada"), useful)
		require.Equal(t, first.Exit.Session, second.Exit.Session)
	})
}

func TestIdentitiesDoNotShareSessions(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	seen := map[string]bool{}
	for i := range 50 {
		l, _ := w.run(request(name("job-", i), name("id-", i)), useful)
		require.False(t, seen[l.Exit.Session])
		seen[l.Exit.Session] = true
		require.Len(t, l.Exit.Session, 26)
		require.Equal(t, strings.ToLower(l.Exit.Session), l.Exit.Session)
	}
}

// An identity has one context and one jar, so it has one exit too, wherever it goes.
func TestAnIdentityKeepsItsExitAcrossOrigins(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	first, _ := w.run(request("a", "ada"), useful)
	elsewhere := request("b", "ada")
	elsewhere.Origin = "login.test"
	second, _ := w.run(elsewhere, useful)
	require.Equal(t, first.Epoch, second.Epoch)
	require.Equal(t, first.Exit.Session, second.Exit.Session)

	refused := request("c", "ada")
	refused.Origin = "login.test"
	w.run(refused, captcha)
	third, _ := w.run(request("d", "ada"), useful)
	require.NotEqual(t, first.Epoch, third.Epoch, "a refusal anywhere ends the session everywhere")
}

func TestNewSessionIsReallyNewAfterABurn(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	first, d := w.run(request("a", "ada"), captcha)
	require.Equal(t, scheduler.RetryNew, d.Action)
	second := w.lease(request("a", "ada"))
	require.NotEqual(t, first.Exit.Session, second.Exit.Session)
	require.Greater(t, second.Epoch, first.Epoch)
	require.Greater(t, second.Token, first.Token)
	spent, ok := w.Spent("a")
	require.True(t, ok)
	require.Equal(t, 1, spent.RouteChanges)
	require.Equal(t, 2, spent.Attempts)
}

func TestAnotherDemandIsAnotherSession(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	r := request("a", "ada")
	r.Intent.Country = "de"
	first, _ := w.run(r, useful)
	require.Equal(t, "p/DE/default/http", first.Segment.String())
	r.Job, r.Intent.Country = "b", "FR"
	second, _ := w.run(r, useful)
	require.NotEqual(t, first.Exit.Session, second.Exit.Session)
}

func TestStaticKeepsItsExitAndTakesNoOtherByItself(t *testing.T) {
	static := func(job string) scheduler.Request { return mode(request(job, "acct"), scheduler.Static) }
	for _, c := range []struct {
		name string
		o    scheduler.Outcome
	}{{"burned", captcha}, {"lost", lost}} {
		t.Run(c.name+" session", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
				first, _ := w.run(static("a"), useful)
				sleep(100 * time.Hour)
				l, d := w.run(static("b"), c.o)
				require.Equal(t, first.Exit.Session, l.Exit.Session)
				require.Equal(t, scheduler.Review, d.Action)
				sleep(100 * time.Hour)
				require.ErrorIs(t, w.refusal(static("c")), scheduler.ErrHeld)
				w.EndIdentity("acct")
				l, _ = w.run(static("d"), useful)
				require.NotEqual(t, first.Exit.Session, l.Exit.Session)
			})
		})
		t.Run(c.name+" fixed exit", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1"), fixed("dc-2")}})
				first, _ := w.run(static("a"), useful)
				l, d := w.run(static("b"), c.o)
				require.Equal(t, first.Exit, l.Exit)
				require.Equal(t, scheduler.Review, d.Action)
				require.Error(t, w.refusal(static("c")))
				sleep(10 * time.Minute) // burn and cool-down are over
				l, _ = w.run(static("d"), useful)
				require.Equal(t, first.Exit, l.Exit)
				require.NotEqual(t, first.Epoch, l.Epoch)
			})
		})
	}
}

func TestStaticStaysOnItsExitAtAFreshSession(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1"), fixed("dc-2"), fixed("dc-3")}})
	ended := scheduler.Outcome{Domain: scheduler.DomainSession, Rule: scheduler.RuleRetireOnce, Class: "session_ended"}
	first, d := w.run(mode(request("a", "acct"), scheduler.Static), ended)
	require.Equal(t, scheduler.RetryNew, d.Action)
	second, d := w.run(mode(request("a", "acct"), scheduler.Static), ended)
	require.Equal(t, first.Exit, second.Exit)
	require.NotEqual(t, first.Epoch, second.Epoch)
	require.Equal(t, scheduler.Review, d.Action, "once, then review")
}

func TestFixedExitsAreSharedOutByLoad(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1"), fixed("dc-2"), fixed("dc-3")}})
	load := map[string]int{}
	for i := range 12 {
		l := w.lease(request(name("job-", i), name("id-", i)))
		load[l.Exit.Source]++
	}
	require.Equal(t, map[string]int{"dc-1": 4, "dc-2": 4, "dc-3": 4}, load)
}

func TestEndedSessionsAreNoLoad(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1"), fixed("dc-2")}})
	gone := map[string]int{}
	for i := range 10 {
		l, _ := w.run(request(name("job-", i), name("id-", i)), useful)
		if l.Exit.Source == "dc-1" {
			w.EndIdentity(l.Identity)
			gone[l.Exit.Source]++
		}
	}
	load := map[string]int{}
	for i := range 10 {
		l, _ := w.run(request(name("late-", i), name("late-", i)), useful)
		load[l.Exit.Source]++
	}
	require.Positive(t, gone["dc-1"])
	require.Greater(t, load["dc-1"], load["dc-2"], "the one that was freed takes more")
}

func TestRotatingJobKeepsItsExitAcrossOrigins(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	r := mode(request("a", "ada"), scheduler.Rotate)
	first, _ := w.run(r, crashed)
	r.Origin = "login.test"
	second, _ := w.run(r, useful)
	require.Equal(t, first.Epoch, second.Epoch)
}

func TestStaticSeatOutlastsSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{fixed("dc-1"), fixed("dc-2"), fixed("dc-3")}})
		first, _ := w.run(mode(request("a", "acct"), scheduler.Static), captcha)
		sleep(time.Hour)
		crowded := request("crowd", "crowd") // makes the others the likelier choice
		crowded.Intent.Exit = first.Exit.Source
		for range 1024 {
			w.run(crowded, useful)
			w.Forget("crowd")
			w.run(request("tick", "tick"), useful)
			w.Forget("tick")
		}
		again, _ := w.run(mode(request("b", "acct"), scheduler.Static), useful)
		require.Equal(t, first.Exit.Source, again.Exit.Source)
	})
}

func TestContinuityForbidsAChangeOfExit(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p")}})
	r := request("a", "ada")
	r.Sticky = true
	_, d := w.run(r, lost)
	require.Equal(t, scheduler.Review, d.Action)
	require.Contains(t, d.Reason, "continuity")
}

func TestStaticAtAProviderWhoseSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := provider("p")
		src.MaxTTL = 10 * time.Minute
		w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{src}})
		static := func(job string) scheduler.Request {
			r := mode(request(job, "acct"), scheduler.Static)
			r.Limits.Elapsed = time.Hour
			return r
		}
		first, d := w.run(static("a"), failing)
		require.Equal(t, scheduler.RetrySame, d.Action)
		sleep(9 * time.Minute)
		require.ErrorIs(t, w.refusal(static("a")), scheduler.ErrHeld, "not within a job")
		second, _ := w.run(static("b"), useful)
		require.NotEqual(t, first.Exit.Session, second.Exit.Session, "between jobs a natural end is no loss")
	})
}

func TestStaticIdentityOfAStoppedProviderIsStopped(t *testing.T) {
	w := newWorld(t, scheduler.Config{Sources: []scheduler.Source{provider("p"), provider("q")}})
	l, _ := w.run(mode(request("a", "acct"), scheduler.Static), useful)
	other := request("b", "bob")
	other.Intent.Exit = l.Exit.Source
	w.run(other, rejected)
	require.ErrorIs(t, w.refusal(mode(request("c", "acct"), scheduler.Static)), scheduler.ErrStopped)
	w.lease(mode(request("d", "new"), scheduler.Static))
}
