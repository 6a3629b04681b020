package playwright

import (
	"context"
	"sync"
	"time"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// A Page is one tab.
type Page struct {
	context *Context
	page    pw.Page
	calls   calls
	nav     navigation

	crashOnce sync.Once
	crashed   chan struct{} // closed when the renderer is gone
	closeOnce sync.Once
	closed    chan struct{} // closed when Close begins
	done      chan struct{} // closed when the library has closed the tab
	closeErr  error         // valid after done

	mu    sync.Mutex
	spent bool // a navigation failed
}

// newPage makes the Page of a tab.
func newPage(c *Context, lib pw.Page) *Page {
	return &Page{
		context: c,
		page:    lib,
		calls:   calls{parent: &c.calls},
		crashed: make(chan struct{}),
		closed:  make(chan struct{}),
		done:    make(chan struct{}),
	}
}

// listen attaches to what the library tells of the tab alone.
func (p *Page) listen() {
	p.page.OnCrash(func(pw.Page) {
		p.context.queue.put(drivers.Event{Kind: drivers.EventCrash, URL: p.page.URL()}, nil)
		p.crash()
	})
	p.page.OnDownload(func(d pw.Download) {
		p.context.queue.put(drivers.Event{Kind: drivers.EventDownload, URL: d.URL(), Text: d.SuggestedFilename()}, nil)
	})
	p.page.OnFrameNavigated(func(f pw.Frame) {
		if f.ParentFrame() == nil {
			p.context.queue.put(drivers.Event{Kind: drivers.EventNavigated, URL: f.URL(), MainFrame: true}, nil)
		}
	})
}

// crash notes that the renderer is gone.
func (p *Page) crash() {
	p.crashOnce.Do(func() { close(p.crashed) })
	p.nav.crashed()
}

// URL is the address of the main document as last seen.
func (p *Page) URL() string { return p.page.URL() }

// Response is the last main-document response seen.
func (p *Page) Response() *drivers.Response {
	response, _ := p.nav.last()
	return response
}

// usable says why the page takes no more orders; nil if it does.
func (p *Page) usable(op, what string) error {
	var kind drivers.Kind
	p.mu.Lock()
	spent := p.spent
	p.mu.Unlock()
	switch {
	case isClosed(p.closed), isClosed(p.context.closed):
		kind = drivers.Closed
	case isClosed(p.context.browser.gone):
		return p.context.browser.gonePage(op, what)
	case isClosed(p.crashed):
		kind = drivers.Crashed
	case spent:
		kind = drivers.PageSpent
	default:
		return nil
	}
	return &drivers.Error{Kind: kind, Op: op, What: stripUser(what)}
}

// spend marks the page as failed.
func (p *Page) spend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent = true
}

// Screenshot is a PNG of the viewport, or of the whole document.
func (p *Page) Screenshot(ctx context.Context, fullPage bool) ([]byte, error) {
	const op = "screenshot"
	if err := p.usable(op, ""); err != nil && drivers.KindOf(err) != drivers.PageSpent {
		return nil, err
	}
	opts := pw.PageScreenshotOptions{Timeout: timeout(ctx), FullPage: &fullPage}
	if fullPage {
		var size struct{ Width, Height float64 }
		if err := p.run(ctx, op, documentSize, &size); err != nil {
			return nil, err
		}
		opts.Clip = &pw.Rect{
			Width:  max(1, min(size.Width, drivers.MaxScreenshotSide)),
			Height: max(1, min(size.Height, drivers.MaxScreenshotSide)),
		}
	}
	png, err := call(ctx, &p.calls, p.crashed, func() ([]byte, error) { return p.page.Screenshot(opts) })
	if err != nil {
		return nil, p.explain(ctx, op, "", err)
	}
	return png, nil
}

// documentSize yields the size of the whole document in CSS pixels.
const documentSize = `(d => ({
	width: Math.max(d.scrollWidth, innerWidth),
	height: Math.max(d.scrollHeight, innerHeight),
}))(document.documentElement)`

// Close closes the tab.
func (p *Page) Close(ctx context.Context) error {
	p.closeOnce.Do(func() {
		close(p.closed)
		p.context.calls.spawn(func() {
			_, err := guarded(void(func() error { return p.page.Close() }))
			if err != nil && read(err).kind != drivers.Closed {
				p.closeErr = &drivers.Error{Kind: drivers.Crashed, Op: "close page", Err: read(err).cause()}
			}
			p.context.forget(p)
			close(p.done)
		})
	})
	select {
	case <-p.done:
	case <-p.context.browser.gone:
		return nil
	case <-ctx.Done():
		p.escalate(ctx)
		return p.context.explain(ctx, "close page", "", errAbandoned)
	}
	if err := p.calls.wait(ctx); err != nil {
		p.escalate(ctx)
		return p.context.explain(ctx, "close page", "", errAbandoned)
	}
	return p.closeErr
}

// escalateAfter is how long each step of closing by force may take. A tab whose renderer spins closes in less than 1 s.
const escalateAfter = 3 * time.Second

// escalate closes the context when the tab does not close, and the browser when the context does not: a call that
// has no timeout ends with whatever it waits for.
func (p *Page) escalate(ctx context.Context) {
	ctx = context.WithoutCancel(ctx) // it is done
	p.context.browser.calls.spawn(func() {
		step, cancel := context.WithTimeout(ctx, escalateAfter)
		defer cancel()
		select {
		case <-p.done:
			if p.calls.wait(step) == nil {
				return
			}
		case <-step.Done():
		case <-p.context.browser.gone:
			return
		}
		step, again := context.WithTimeout(ctx, escalateAfter)
		defer again()
		_ = p.context.Close(step) // which goes on to the browser by itself
	})
}

// isClosed reports whether a channel that carries nothing is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
