package chromedp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// queueLength is how many events may wait for the Sink: a page of 300 sub-resources makes about 1000.
const queueLength = 4096

// A queue takes events from the goroutines that read the connection, which must not wait, to the Sink, on one
// goroutine. A nil queue drops them.
type queue struct {
	sink    drivers.Sink
	events  chan drivers.Event
	dropped atomic.Int64
	once    sync.Once
	ended   chan struct{} // closed by stop
	done    chan struct{} // closed when the last event was recorded
}

// newQueue starts the goroutine, which ends after stop; nil if nobody listens.
func newQueue(sink drivers.Sink) *queue {
	if sink == nil {
		return nil
	}
	q := &queue{sink: sink, events: make(chan drivers.Event, queueLength), ended: make(chan struct{}), done: make(chan struct{})}
	go q.drain()
	return q
}

// put adds an event and never waits: when the queue is full the event is dropped.
func (q *queue) put(e drivers.Event) {
	if q == nil {
		return
	}
	e.At = time.Now()
	select {
	case q.events <- e:
	default:
		q.dropped.Add(1)
	}
}

func (q *queue) drain() {
	defer close(q.done)
	for {
		select {
		case e := <-q.events:
			q.sink.Record(e)
			continue
		default:
		}
		select {
		case e := <-q.events:
			q.sink.Record(e)
		case <-q.ended:
			if len(q.events) == 0 {
				return
			}
		}
	}
}

// stop lets the goroutine end once the events that wait are recorded.
func (q *queue) stop() {
	if q != nil {
		q.once.Do(func() { close(q.ended) })
	}
}

// close stops the queue and waits for the last event. Events that were dropped are an error to nobody: a Sink that
// does not return at once breaks its contract.
func (q *queue) close(ctx context.Context) error {
	if q == nil {
		return nil
	}
	q.stop()
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
		return &drivers.Error{Kind: drivers.Timeout, Op: "close context", Err: context.Cause(ctx)}
	}
}
