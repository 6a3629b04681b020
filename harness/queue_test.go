package harness

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/identity"
)

func queued(id string, order int, at time.Time) *task {
	return &task{job: &jobfile.Job{ID: fmt.Sprint(id, order), Identity: identity.ID(id)}, order: order, notBefore: at}
}

func TestQueueRunsOneJobOfAnIdentityAtATime(t *testing.T) {
	now := time.Unix(1000, 0)
	q := newQueue()
	for i, id := range []string{"a", "a", "b", "a"} {
		q.push(queued(id, i, now))
	}
	first, _ := q.pop(now)
	second, _ := q.pop(now)
	require.Equal(t, "a0", first.job.ID)
	require.Equal(t, "b2", second.job.ID, "a is busy")
	none, at := q.pop(now)
	require.Nil(t, none)
	require.True(t, at.IsZero(), "nothing falls due by itself")
	q.release("a")
	third, _ := q.pop(now)
	require.Equal(t, "a1", third.job.ID, "in order")
	q.release("a")
	fourth, _ := q.pop(now)
	require.Equal(t, "a3", fourth.job.ID)
}

func TestQueueWaitsForNotBefore(t *testing.T) {
	now := time.Unix(1000, 0)
	q := newQueue()
	q.push(queued("a", 0, now.Add(time.Minute)))
	q.push(queued("b", 1, now))
	got, _ := q.pop(now)
	require.Equal(t, "b1", got.job.ID, "a waiting job holds nobody up")
	none, at := q.pop(now)
	require.Nil(t, none)
	require.Equal(t, now.Add(time.Minute), at)
	got, _ = q.pop(at)
	require.Equal(t, "a0", got.job.ID)
}

// Whatever the order of pushes, pops and releases: no task is lost or given twice, none before its time, and
// never two of one identity.
func TestQueueLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := newQueue()
		now := time.Unix(1000, 0)
		pushed, popped := 0, map[*task]bool{}
		running := map[identity.ID]bool{}
		rt.Repeat(map[string]func(*rapid.T){
			"push": func(rt *rapid.T) {
				id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
				q.push(queued(id, pushed, now.Add(time.Duration(rapid.IntRange(0, 5).Draw(rt, "in"))*time.Second)))
				pushed++
			},
			"pop": func(rt *rapid.T) {
				got, _ := q.pop(now)
				if got == nil {
					return
				}
				require.False(rt, popped[got], "given twice")
				require.False(rt, got.notBefore.After(now), "before its time")
				require.False(rt, running[got.job.Identity], "identity is busy")
				popped[got], running[got.job.Identity] = true, true
			},
			"release": func(rt *rapid.T) {
				id := identity.ID(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "of"))
				if running[id] {
					q.release(id)
					delete(running, id)
				}
			},
			"tick": func(*rapid.T) { now = now.Add(time.Second) },
		})
		require.Equal(rt, pushed, len(popped)+len(q.drain()))
	})
}
