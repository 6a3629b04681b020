package scheduler

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPaceKeepsRateAndBurst(t *testing.T) {
	p := Pace{PerSecond: 2, Burst: 3}
	var g gcra
	var got []time.Duration
	now := noon
	for range 6 {
		now = g.next(now, p)
		g.take(now, p)
		got = append(got, now.Sub(noon))
	}
	require.Equal(t, []time.Duration{0, 0, 0, 500e6, 1000e6, 1500e6}, got)
}

func TestPaceNeverExceedsItsRateInAnyWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pace{PerSecond: rapid.Float64Range(0.1, 50).Draw(t, "rate"), Burst: rapid.IntRange(0, 8).Draw(t, "burst")}
		steps := rapid.SliceOfN(rapid.IntRange(0, 2000), 1, 60).Draw(t, "ms between calls")
		var g gcra
		var taken []time.Time
		now := noon
		for _, ms := range steps {
			now = now.Add(time.Duration(ms) * time.Millisecond)
			if g.next(now, p).After(now) {
				continue
			}
			g.take(now, p)
			taken = append(taken, now)
		}
		for i := range taken {
			for k := i; k < len(taken); k++ {
				most := float64(max(p.Burst, 1)) + p.PerSecond*taken[k].Sub(taken[i]).Seconds()
				require.LessOrEqual(t, float64(k-i+1), most+1e-6)
			}
		}
	})
}

func TestPaceIsBoundedForOddRates(t *testing.T) {
	for name, p := range map[string]Pace{
		"not a number": {PerSecond: math.NaN()},
		"negative":     {PerSecond: -1},
		"zero":         {},
	} {
		t.Run(name, func(t *testing.T) {
			var g gcra
			g.take(noon, p)
			require.Equal(t, noon, g.next(noon, p), "no limit")
		})
	}
	p := Pace{PerSecond: math.SmallestNonzeroFloat64, Burst: math.MaxInt}
	var g gcra
	for range 4 {
		g.next(noon, p)
		g.take(noon, p)
	}
	require.LessOrEqual(t, g.next(noon, p).Sub(noon), 4*longestGap)
}

func TestPaceForgivesAClockThatGoesBack(t *testing.T) {
	p := Pace{PerSecond: 1, Burst: 2}
	var g gcra
	g.take(at(3600), p)
	require.Equal(t, at(1), g.next(at(0), p), "an hour back costs a full burst, not an hour")
	require.Equal(t, at(1), g.next(at(1), p), "and it is counted down")
	g.take(at(1), p)
	require.Equal(t, at(2), g.next(at(1), p))
}

func TestGivenBackLeaseCostsNoPace(t *testing.T) {
	p := Pace{PerSecond: 1}
	var g gcra
	g.take(noon, p)
	g.untake(p)
	require.Equal(t, noon, g.next(noon, p))
}

func TestThirdLimitedExitMakesItTheOriginsLimit(t *testing.T) {
	var th throttle
	require.Equal(t, time.Second, th.limit(at(0), "a", time.Minute))
	require.Equal(t, time.Second, th.limit(at(1), "a", time.Minute), "the same exit again is no new witness")
	require.Equal(t, time.Second, th.limit(at(2), "b", time.Minute))
	require.Equal(t, time.Minute, th.limit(at(3), "c", time.Minute))
	require.Equal(t, time.Second, th.limit(at(100), "d", time.Minute), "the memory is a minute")
}
