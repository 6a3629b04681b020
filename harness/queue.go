package harness

import (
	"container/heap"
	"time"

	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/identity"
)

// A task is a job on its way to a terminal state.
type task struct {
	job       *jobfile.Job
	order     int       // position in the job file: the tie breaker
	notBefore time.Time // waiting is a time, never a sleeping slot
	account   account
}

// A queue says which job may run now: not before its time, and one at a time for each identity. It is a pure
// state machine: it takes now, reads no clock and takes no lock.
type queue struct {
	waiting taskHeap
	busy    map[identity.ID]bool
	behind  map[identity.ID][]*task // due, but their identity is busy; in order
}

func newQueue() *queue {
	return &queue{busy: map[identity.ID]bool{}, behind: map[identity.ID][]*task{}}
}

// push adds a task that runs at its notBefore at the earliest.
func (q *queue) push(t *task) { heap.Push(&q.waiting, t) }

// pop answers a task that may run at now, and marks its identity busy. If there is none it answers nil and the
// time at which one falls due by itself; the zero time means that nothing will before a release.
func (q *queue) pop(now time.Time) (*task, time.Time) {
	for q.waiting.Len() > 0 {
		t := q.waiting[0]
		if t.notBefore.After(now) {
			return nil, t.notBefore
		}
		heap.Pop(&q.waiting)
		id := t.job.Identity
		if q.busy[id] {
			q.behind[id] = append(q.behind[id], t)
			continue
		}
		q.busy[id] = true
		return t, time.Time{}
	}
	return nil, time.Time{}
}

// release frees an identity and puts the next task that waited for it back in line.
func (q *queue) release(id identity.ID) {
	delete(q.busy, id)
	behind := q.behind[id]
	if len(behind) == 0 {
		return
	}
	heap.Push(&q.waiting, behind[0])
	if len(behind) == 1 {
		delete(q.behind, id)
		return
	}
	q.behind[id] = behind[1:]
}

// drain empties the queue and answers what was in it.
func (q *queue) drain() []*task {
	out := q.waiting
	q.waiting = nil
	for _, ts := range q.behind {
		out = append(out, ts...)
	}
	clear(q.behind)
	return out
}

// taskHeap orders tasks by time, then by their place in the job file.
type taskHeap []*task

func (h taskHeap) Len() int { return len(h) }
func (h taskHeap) Less(i, j int) bool {
	if !h[i].notBefore.Equal(h[j].notBefore) {
		return h[i].notBefore.Before(h[j].notBefore)
	}
	return h[i].order < h[j].order
}
func (h taskHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *taskHeap) Push(x any)   { *h = append(*h, x.(*task)) } //nolint:errcheck // only push puts something in
func (h *taskHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return t
}
