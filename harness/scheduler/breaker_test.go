package scheduler

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noon is any moment: the rules read no clock.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// steady is a rule with a cool-down of 10 s at first, up to 40 s; equal jitter makes it 5 to 10 s.
func steady(calls, exits int) tripRule {
	return tripRule{calls: calls, exits: exits, cool: Growth{Base: 10 * time.Second, Cap: 40 * time.Second}}
}

func isReady(b *breaker, now time.Time, lease string) bool {
	_, ok := b.ready(now, lease)
	return ok
}

func TestBreakerOpensWhenEnoughExitsAgree(t *testing.T) {
	for _, c := range []struct {
		name  string
		exits []string
		open  bool
	}{
		{"five calls, three exits", []string{"a", "b", "c", "a", "b"}, true},
		{"five calls, two exits", []string{"a", "b", "a", "b", "a"}, false},
		{"three exits, four calls", []string{"a", "b", "c", "a"}, false},
		{"many calls, one exit", []string{"a", "a", "a", "a", "a", "a", "a", "a"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b breaker
			for i, exit := range c.exits {
				b.fail(at(float64(i)), noon, exit, steady(5, 3), seeded())
			}
			require.Equal(t, c.open, b.tripped())
		})
	}
}

func TestBreakerForgetsFailuresThatAreNotInARow(t *testing.T) {
	var b breaker
	b.fail(at(0), noon, "a", steady(2, 1), seeded())
	b.succeed(at(1))
	b.fail(at(2), noon, "a", steady(2, 1), seeded())
	require.False(t, b.tripped(), "a success came between")
	b.fail(at(2+61), noon, "a", steady(2, 1), seeded())
	require.False(t, b.tripped(), "failMemory had passed")
	b.fail(at(2+62), noon, "a", steady(2, 1), seeded())
	require.True(t, b.tripped())
}

func TestHalfOpenBreakerLetsOneTryAtATime(t *testing.T) {
	var b breaker
	b.fail(at(0), noon, "a", steady(1, 1), seeded())
	require.False(t, isReady(&b, at(4.9), "l1"))
	require.True(t, isReady(&b, at(10), "l1"))
	b.grant(at(10), "l1")
	require.True(t, isReady(&b, at(11), "l1"), "the prober itself may go on")
	until, ok := b.ready(at(11), "l2")
	require.False(t, ok)
	require.Equal(t, at(40), until, "the permit ends by itself")
	require.True(t, isReady(&b, at(40), "l2"), "a prober that died blocks nobody for ever")
}

func TestReleasedPermitIsFreeAtOnce(t *testing.T) {
	var b breaker
	b.fail(at(0), noon, "a", steady(1, 1), seeded())
	b.grant(at(10), "l1")
	b.release("l2")
	require.False(t, isReady(&b, at(11), "l2"), "only its owner can release it")
	b.release("l1")
	require.True(t, isReady(&b, at(11), "l2"))
}

func TestCoolDownGrowsWithEachTripInARow(t *testing.T) {
	var b breaker
	r := seeded()
	now := noon
	for _, base := range []float64{10, 20, 40, 40} {
		b.fail(now, now, "a", steady(1, 1), r)
		until, ok := b.ready(now, "")
		require.False(t, ok)
		length := until.Sub(now).Seconds()
		require.GreaterOrEqual(t, length, base/2)
		require.LessOrEqual(t, length, base)
		now = until
	}
	b.succeed(now)
	require.True(t, isReady(&b, now, ""))
	b.fail(now, now, "a", steady(1, 1), r)
	until, _ := b.ready(now, "")
	require.GreaterOrEqual(t, until.Sub(now), 20*time.Second, "a short recovery does not make a flapping exit young again")
	b.succeed(until)
	late := until.Add(3 * time.Minute)
	b.fail(late, late, "a", steady(1, 1), r)
	until, _ = b.ready(late, "")
	require.LessOrEqual(t, until.Sub(late), 10*time.Second, "a long one does")
}

func TestReportsOfLeasesFromBeforeTheTripSayNothing(t *testing.T) {
	var b breaker
	b.fail(at(10), at(9), "a", steady(1, 1), seeded())
	until, _ := b.ready(at(10), "")
	b.fail(at(30), at(9), "b", steady(1, 1), seeded())
	require.True(t, isReady(&b, at(30), ""), "a late failure does not open it again; it was open until %v", until)
	b.succeed(at(9))
	require.True(t, b.tripped(), "a late success does not close it")
	b.succeed(at(30))
	require.False(t, b.tripped())
}

func TestBreakerSurvivesAClockThatGoesBack(t *testing.T) {
	var b breaker
	b.fail(at(3600), at(3600), "a", steady(1, 1), seeded())
	require.False(t, isReady(&b, at(0), ""))
	require.True(t, isReady(&b, at(10), ""), "it stays open no longer than its cool-down on either clock")
	b.grant(at(10), "l1")
	require.False(t, isReady(&b, at(-3600), "l2"))
	require.True(t, isReady(&b, at(-3590), "l2"), "a permit from the future is over")
}
