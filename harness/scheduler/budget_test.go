package scheduler

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNoInterleavingOverspends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{
			Attempts:     rapid.IntRange(1, 5).Draw(t, "attempts"),
			RouteChanges: rapid.IntRange(-1, 4).Draw(t, "routes"),
			Elapsed:      time.Duration(rapid.IntRange(1, 60).Draw(t, "elapsed")) * time.Second,
			Bytes:        rapid.Int64Range(0, 1000).Draw(t, "bytes"),
		}
		sticky := rapid.Bool().Draw(t, "sticky")
		b := newBudget(l, sticky)
		now, started := noon, time.Time{}
		open, attempts, routes, bytes := []bool{}, 0, 0, int64(0)
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				newRoute := rapid.Bool().Draw(t, "new route")
				if b.reserve(now, newRoute) != nil {
					return
				}
				if started.IsZero() {
					started = now
				}
				require.Less(t, now.Sub(started), l.Elapsed)
				require.True(t, l.Bytes == 0 || bytes < l.Bytes)
				open = append(open, newRoute)
				attempts++
				if newRoute {
					routes++
				}
			},
			"settle": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing is out")
				}
				open = open[1:]
				n := rapid.Int64Range(0, 400).Draw(t, "n")
				b.settle(n/2, n-n/2)
				bytes += n
			},
			"refund": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing is out")
				}
				b.refund(open[0])
				attempts--
				if open[0] {
					routes--
				}
				open = open[1:]
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			},
			"": func(t *rapid.T) {
				require.LessOrEqual(t, attempts, l.Attempts)
				require.LessOrEqual(t, routes, max(l.RouteChanges, 0))
				require.False(t, sticky && routes > 0)
				require.Equal(t, [2]int{attempts, routes}, [2]int{b.attempts, b.routes})
			},
		})
	})
}

func TestBudgetNamesWhatIsSpent(t *testing.T) {
	spent := func(l Limits, do func(*budget), now time.Time, newRoute bool) string {
		b := newBudget(l.or(DefaultLimits()), false)
		require.Nil(t, b.reserve(noon, false))
		do(&b)
		err := b.reserve(now, newRoute)
		require.NotNil(t, err)
		require.ErrorIs(t, err, ErrBudget)
		return err.Error()
	}
	nothing := func(*budget) {}
	require.Equal(t, "budget of attempts (1) is spent", spent(Limits{Attempts: 1}, nothing, noon, false))
	require.Equal(t, "budget of route_changes (0) is spent", spent(Limits{RouteChanges: -1}, nothing, noon, true))
	require.Equal(t, "budget of elapsed (1m30s) is spent", spent(Limits{}, nothing, at(90), false))
	require.Equal(t, "budget of bytes (10 B) is spent", spent(Limits{Bytes: 10}, func(b *budget) { b.settle(4, 6) }, noon, false))
}

func TestBudgetIsBoundedForOddNumbers(t *testing.T) {
	b := newBudget(Limits{Attempts: 2, Elapsed: time.Minute, Bytes: 10}, false)
	require.Nil(t, b.reserve(at(3600), false))
	require.Equal(t, at(60), b.deadline(at(0)), "a clock that went back moves the start with it")
	b.settle(-5, math.MinInt64)
	require.Equal(t, int64(10), b.bytesLeft())
	b.settle(math.MaxInt64, math.MaxInt64)
	require.Equal(t, int64(0), b.bytesLeft())
}
