package playwright

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

const (
	// settleFault is how long the event that explains an error may come after the error: a crash, the end of
	// the browser, the end of node. Measured: 0 to 40 ms.
	settleFault = 500 * time.Millisecond
	// probeTime is how long a tab may take to evaluate 1: twice, and it counts as unresponsive.
	probeTime = 750 * time.Millisecond
)

// explain makes the error of a call on a page out of what the library said and what the events tell.
func (p *Page) explain(ctx context.Context, op, what string, err error) error {
	f := fault{}
	if !errors.Is(err, errAbandoned) {
		f = read(err)
	}
	e := &drivers.Error{Kind: f.kind, Op: op, What: stripUser(what), Net: f.net, Err: f.cause()}
	switch {
	case isClosed(p.crashed), f.kind == drivers.Crashed:
		p.crash()
		e.Kind, e.Net, e.Err = drivers.Crashed, "", errors.New("the renderer crashed")
	case f.kind == drivers.Closed:
		return p.whoClosed(op, what)
	case isClosed(p.closed), isClosed(p.context.closed):
		e.Kind, e.Err = drivers.Closed, nil
	case isClosed(p.context.browser.gone):
		return p.context.browser.gonePage(op, what)
	case ctx.Err() != nil, f.kind == drivers.Timeout:
		e.Kind, e.Err = p.late(ctx, f)
	}
	return e
}

// late says why a call ran out of time: its caller cancelled it, the tab is stuck, or the site is slow.
func (p *Page) late(ctx context.Context, f fault) (drivers.Kind, error) {
	cause := context.Cause(ctx)
	if cause == nil {
		cause = context.DeadlineExceeded // the library's timer was the first
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return drivers.Cancelled, cause
	}
	if f.why != "" {
		cause = fmt.Errorf("%s: %w", f.why, cause)
	}
	if p.answers(ctx) {
		return drivers.Timeout, cause
	}
	p.stopLoading(ctx)
	if p.answers(ctx) {
		return drivers.Timeout, cause
	}
	if isClosed(p.crashed) {
		return drivers.Crashed, cause
	}
	return drivers.Unresponsive, cause
}

// answers reports whether the tab evaluates a trivial expression.
func (p *Page) answers(ctx context.Context) bool {
	// ctx is done, and the question needs a limit of its own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	defer cancel()
	_, err := call(ctx, &p.calls, p.crashed, func() (any, error) { return p.page.Evaluate("1") })
	return err == nil
}

// stopLoading ends a navigation that has not committed. The browser's main process does it, so that it works in a
// tab that is stuck.
func (p *Page) stopLoading(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	defer cancel()
	_, _ = call(ctx, &p.calls, p.crashed, func() (any, error) { // what is stuck stays stuck
		session, err := p.context.context.NewCDPSession(p.page)
		if err != nil {
			return nil, err
		}
		return session.Send("Page.stopLoading", nil)
	})
}

// whoClosed finds out why the library says that the tab is closed. The event that tells may still be on its way.
func (p *Page) whoClosed(op, what string) error {
	e := &drivers.Error{Op: op, What: stripUser(what)}
	b := p.context.browser
	wait := time.NewTimer(settleFault)
	defer wait.Stop()
	select {
	case <-p.closed:
		e.Kind = drivers.Closed
	case <-p.context.closed:
		e.Kind = drivers.Closed
	case <-b.gone:
		return b.gonePage(op, what)
	case <-p.crashed:
		e.Kind = drivers.Crashed
	case <-wait.C:
		p.spend()
		e.Kind, e.Err = drivers.PageSpent, errors.New("the site closed the tab")
	}
	return e
}

// explain makes the error of a call on a context.
func (c *Context) explain(ctx context.Context, op, what string, err error) error {
	if isClosed(c.closed) && ctx.Err() == nil && c.browser.Err() == nil {
		return &drivers.Error{Kind: drivers.Closed, Op: op, What: stripUser(what)}
	}
	return c.browser.explain(ctx, op, what, err)
}

// explain makes the error of a call on a browser.
func (b *Browser) explain(ctx context.Context, op, what string, err error) error {
	f := fault{}
	if !errors.Is(err, errAbandoned) {
		f = read(err)
	}
	e := &drivers.Error{Kind: f.kind, Op: op, What: stripUser(what), Net: f.net, Err: f.cause()}
	if f.kind == drivers.Closed {
		wait := time.NewTimer(settleFault)
		defer wait.Stop()
		select {
		case <-b.gone:
		case <-wait.C:
		}
	}
	switch {
	case isClosed(b.gone):
		return b.gonePage(op, what)
	case ctx.Err() != nil:
		e.Kind, e.Err = drivers.KindOf(ctx.Err()), context.Cause(ctx)
	case e.Kind == "":
		e.Kind = drivers.DriverLost
	}
	return e
}

// gonePage is the error of a call on what belonged to a browser that is gone.
func (b *Browser) gonePage(op, what string) error {
	e := &drivers.Error{Kind: drivers.Closed, Op: op, What: stripUser(what)}
	if err := b.Err(); err != nil {
		e.Kind, e.Err = drivers.KindOf(err), err
	}
	return e
}

// escalate kills the browser when a context does not close in time.
func (b *Browser) escalate(done <-chan struct{}) {
	b.calls.spawn(func() {
		wait := time.NewTimer(escalateAfter)
		defer wait.Stop()
		select {
		case <-done:
		case <-b.gone:
		case <-wait.C:
			b.lose(drivers.BrowserLost, errors.New("a context did not close, and the browser was ended"))
			b.line.kill()
			killGroup(b.pid)
		}
	})
}
