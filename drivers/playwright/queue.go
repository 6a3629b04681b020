package playwright

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// queueLength is how many events may wait for the Sink: a page of 300 sub-resources makes about 1000.
const queueLength = 4096

// A queue takes events from the library's handlers, which must not wait, to the Sink, on one goroutine.
type queue struct {
	sink    drivers.Sink
	items   chan item
	dropped atomic.Int64
	once    sync.Once
	stop    chan struct{} // closed by close
	done    chan struct{} // closed when the last event was recorded
}

// An item is an event with what only a question to the library can add to it.
type item struct {
	event  drivers.Event
	finish func(*drivers.Event) // may wait; nil for none
}

// newQueue starts the goroutine, which owner counts. It ends after close, or when gone is closed.
func newQueue(owner *calls, gone <-chan struct{}, sink drivers.Sink) *queue {
	q := &queue{sink: sink, stop: make(chan struct{}), done: make(chan struct{})}
	if sink == nil {
		close(q.done)
		return q
	}
	q.items = make(chan item, queueLength)
	owner.spawn(func() { q.drain(gone) })
	return q
}

// put adds an event and never waits: when the queue is full the event is dropped and counted.
func (q *queue) put(e drivers.Event, finish func(*drivers.Event)) {
	if q.sink == nil {
		return
	}
	e.At = time.Now()
	select {
	case q.items <- item{e, finish}:
	default:
		q.dropped.Add(1)
	}
}

// drain records events until it is told to stop, and then those that are left.
func (q *queue) drain(gone <-chan struct{}) {
	defer close(q.done)
	for {
		select {
		case it := <-q.items:
			q.record(it)
			continue
		case <-q.stop:
		case <-gone:
		}
		for {
			select {
			case it := <-q.items:
				q.record(it)
			default:
				return
			}
		}
	}
}

func (q *queue) record(it item) {
	if it.finish != nil {
		it.finish(&it.event)
	}
	q.sink.Record(it.event)
}

// close lets the goroutine end when the queue is empty.
func (q *queue) close() { q.once.Do(func() { close(q.stop) }) }

// wait waits until the last event was recorded.
func (q *queue) wait(ctx context.Context) error {
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
