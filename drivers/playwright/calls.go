package playwright

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// grace is how long a call that ran into its deadline may still answer: the library, told the same deadline,
// says what it waited for.
const grace = 100 * time.Millisecond

// errAbandoned reports that a call's ctx ended while the library was still at work.
var errAbandoned = errors.New("the library did not answer in time")

// calls counts the goroutines that are inside the library on behalf of a page, a context or a browser. The
// library takes no context.Context and some of its calls have no timeout, so each one runs on a goroutine that
// its caller may leave behind; whoever closes the page waits for them here. A nil parent ends the chain.
type calls struct {
	parent *calls

	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil while nobody waits
}

func (c *calls) begin() {
	for ; c != nil; c = c.parent {
		c.mu.Lock()
		c.n++
		c.mu.Unlock()
	}
}

func (c *calls) end() {
	for ; c != nil; c = c.parent {
		c.mu.Lock()
		c.n--
		if c.n == 0 && c.idle != nil {
			close(c.idle)
			c.idle = nil
		}
		c.mu.Unlock()
	}
}

// spawn runs f on a goroutine that c counts.
func (c *calls) spawn(f func()) {
	c.begin()
	go func() {
		defer c.end()
		f()
	}()
}

// wait waits until nobody is inside.
func (c *calls) wait(ctx context.Context) error {
	c.mu.Lock()
	if c.n == 0 {
		c.mu.Unlock()
		return nil
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// call runs f and answers when it does, soon after ctx ends, or when gone is closed, whichever comes first. In
// the last two cases f is left to its goroutine and the error is errAbandoned.
func call[T any](ctx context.Context, c *calls, gone <-chan struct{}, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var zero T
	if ctx.Err() != nil {
		return zero, errAbandoned
	}
	done := make(chan answer, 1) // so that a goroutine left behind can end
	c.spawn(func() {
		var a answer
		a.value, a.err = guarded(f)
		done <- a
	})
	select {
	case a := <-done:
		return a.value, a.err
	case <-gone:
		return zero, errAbandoned
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-gone:
	case <-late.C:
	}
	return zero, errAbandoned
}

// guarded turns a panic of the library into an error: it asserts the types of what node sends, and a connection
// that breaks in mid-answer must not end the program.
func guarded[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the library panicked: %v", r)
		}
	}()
	return f()
}

// void adapts a call that answers nothing but an error.
func void(f func() error) func() (struct{}, error) {
	return func() (struct{}, error) { return struct{}{}, f() }
}

// timeout is the time left until ctx's deadline as the library wants it: milliseconds, 0 for no limit.
func timeout(ctx context.Context) *float64 {
	ms := 0.0
	if deadline, ok := ctx.Deadline(); ok {
		ms = max(1, float64(time.Until(deadline))/float64(time.Millisecond))
	}
	return &ms
}
