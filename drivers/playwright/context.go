package playwright

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// defaultViewport is the size of a page for which nobody asked another, in CSS pixels.
var defaultViewport = drivers.Size{Width: 1280, Height: 720}

// A Context is one isolated profile.
type Context struct {
	browser *Browser
	context pw.BrowserContext
	id      string // the protocol's
	calls   calls
	queue   *queue
	tags    tags

	closeOnce sync.Once
	closed    chan struct{} // closed when Close begins
	done      chan struct{} // closed when Close has ended
	closeErr  error         // valid after done

	mu        sync.Mutex
	opening   int // NewPage calls under way
	unclaimed []pw.Page
	pages     map[pw.Page]*Page
	own       map[pw.Page]bool // pages of ours whose events are nobody's business
}

// NewContext makes an isolated context.
func (b *Browser) NewContext(ctx context.Context, o drivers.ContextOptions) (drivers.Context, error) {
	var storage *pw.OptionalStorageState
	if o.State != nil {
		storage = toOrigins(o.State.Origins)
	}
	made, err := call(ctx, &b.calls, b.gone, func() (*Context, error) {
		made, err := b.makeContext(contextOptions(o, storage))
		if err == nil && ctx.Err() != nil {
			return nil, errors.Join(errAbandoned, made.context.Close())
		}
		return made, err
	})
	if err != nil {
		return nil, b.explain(ctx, "new context", "", err)
	}
	c := &Context{
		browser: b,
		context: made.context,
		id:      made.id,
		calls:   calls{parent: &b.calls},
		queue:   newQueue(&b.calls, b.gone, o.Sink),
		closed:  make(chan struct{}),
		done:    make(chan struct{}),
		pages:   map[pw.Page]*Page{},
		own:     map[pw.Page]bool{},
	}
	c.listen()
	if o.State != nil {
		if err := c.restore(ctx, o.State.Cookies); err != nil {
			return nil, errors.Join(err, c.discard(ctx))
		}
	}
	return c, nil
}

// makeContext makes the library's context and finds out its id, which the library keeps to itself: the one that was
// not there before.
func (b *Browser) makeContext(o pw.BrowserNewContextOptions) (*Context, error) {
	b.making.Lock()
	defer b.making.Unlock()
	lib, err := b.browser.NewContext(o)
	if err != nil {
		return nil, err
	}
	answer, err := b.session.Send("Target.getBrowserContexts", nil)
	if err != nil {
		return nil, errors.Join(err, lib.Close())
	}
	list, _ := field[[]any](answer, "browserContextIds")
	known := b.contexts
	b.contexts = make(map[string]bool, len(list))
	made := &Context{context: lib}
	for _, entry := range list {
		if id, ok := entry.(string); ok {
			b.contexts[id] = true
			if !known[id] {
				made.id = id
			}
		}
	}
	return made, nil
}

// discard closes a context that came to nothing.
func (c *Context) discard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	return c.Close(ctx)
}

// contextOptions says what cannot change while the context lives.
func contextOptions(o drivers.ContextOptions, storage *pw.OptionalStorageState) pw.BrowserNewContextOptions {
	size := o.Viewport
	if size == (drivers.Size{}) {
		size = defaultViewport
	}
	opts := pw.BrowserNewContextOptions{
		AcceptDownloads: new(false),
		Viewport:        &pw.Size{Width: size.Width, Height: size.Height},
		StorageState:    storage,
	}
	if o.Proxy != "" {
		// The library adds this bypass by itself unless the environment says not to.
		opts.Proxy = &pw.Proxy{Server: "http://" + o.Proxy, Bypass: new("<-loopback>")}
	}
	if o.Locale != "" {
		opts.Locale = &o.Locale
	}
	if o.TimeZone != "" {
		opts.TimezoneId = &o.TimeZone
	}
	if g := o.Geolocation; g != nil {
		opts.Geolocation = &pw.Geolocation{Latitude: g.Latitude, Longitude: g.Longitude, Accuracy: &g.Accuracy}
		opts.Permissions = []string{"geolocation"}
	}
	return opts
}

// NewPage opens an empty page.
func (c *Context) NewPage(ctx context.Context) (drivers.Page, error) {
	lib, err := c.open(ctx, func(lib pw.Page) { c.pages[lib] = newPage(c, lib) })
	if err != nil {
		return nil, c.explain(ctx, "new page", "", err)
	}
	c.mu.Lock()
	p := c.pages[lib]
	c.mu.Unlock()
	p.listen()
	return p, nil
}

// open opens a page and hands it to claim, under mu, before any event can be about it. The library announces a
// page before the call that made it returns, and pages that the site opens in between as well: which is
// which is known when the last call is back.
func (c *Context) open(ctx context.Context, claim func(pw.Page)) (pw.Page, error) {
	c.mu.Lock()
	c.opening++
	c.mu.Unlock()
	return call(ctx, &c.calls, c.closed, func() (pw.Page, error) {
		lib, err := c.context.NewPage()
		if err == nil && ctx.Err() != nil {
			err = errors.Join(errAbandoned, lib.Close())
		}
		c.mu.Lock()
		c.opening--
		if err == nil {
			claim(lib)
		}
		c.unclaimed = slices.DeleteFunc(c.unclaimed, func(p pw.Page) bool { return p == lib })
		popups := c.popups()
		c.mu.Unlock()
		c.dismiss(popups)
		return lib, err
	})
}

// popups takes the pages that the site opened off the list. The caller holds mu.
func (c *Context) popups() []pw.Page {
	if c.opening > 0 {
		return nil
	}
	found := c.unclaimed
	c.unclaimed = nil
	return found
}

// dismiss closes and reports pages that the site opened.
func (c *Context) dismiss(popups []pw.Page) {
	for _, popup := range popups {
		c.queue.put(drivers.Event{Kind: drivers.EventPopup, URL: popup.URL()}, nil)
		c.calls.spawn(func() { _, _ = guarded(void(func() error { return popup.Close() })) })
	}
}

// forget drops a page that is closed.
func (c *Context) forget(p *Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pages, p.page)
	delete(c.own, p.page)
}

// Close closes the pages and disposes of the context.
func (c *Context) Close(ctx context.Context) error {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.calls.parent.spawn(func() {
			_, err := guarded(void(func() error { return c.context.Close() }))
			if err != nil && read(err).kind != drivers.Closed {
				c.closeErr = &drivers.Error{Kind: drivers.DriverLost, Op: "close context", Err: read(err).cause()}
			}
			close(c.done)
		})
	})
	select {
	case <-c.done:
	case <-c.browser.gone:
	case <-ctx.Done():
		c.browser.escalate(c.done)
		return c.explain(ctx, "close context", "", errAbandoned)
	}
	if err := c.calls.wait(ctx); err != nil {
		return c.explain(ctx, "close context", "", errAbandoned)
	}
	c.queue.close()
	if err := c.queue.wait(ctx); err != nil {
		return c.explain(ctx, "close context", "", errAbandoned)
	}
	if n := c.queue.dropped.Swap(0); n > 0 {
		c.browser.log.LogAttrs(ctx, slog.LevelWarn, "events dropped: their sink was too slow", slog.Int64("events", n))
	}
	select {
	case <-c.done:
		return c.closeErr
	default:
		return nil // the browser went first
	}
}
