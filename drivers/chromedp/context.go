package chromedp

import (
	"context"
	"errors"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	lib "github.com/chromedp/chromedp"

	"github.com/limpet-dev/limpet/drivers"
)

// A Context is one of the browser's contexts. It is safe for concurrent use.
type Context struct {
	browser *Browser
	id      cdp.BrowserContextID
	options drivers.ContextOptions
	queue   *queue

	// life ends, with an *end as its cause, when the browser is gone or the context closed.
	life context.Context //nolint:containedctx // what it ends is in no caller's scope
	end  context.CancelCauseFunc

	work sync.WaitGroup // goroutines that answer what the browser asks

	mu       sync.Mutex
	pages    map[target.ID]*Page
	creating int            // pages of ours whose ids are not known yet
	strays   []*target.Info // pages seen meanwhile
}

// NewContext makes an isolated context and puts the given state into it.
func (b *Browser) NewContext(ctx context.Context, o drivers.ContextOptions) (drivers.Context, error) {
	const op = "new context"
	if b.life.Err() != nil || ctx.Err() != nil {
		return nil, fault(ctx, b.life, op, "", errors.New("not started"))
	}
	if o.Viewport == (drivers.Size{}) {
		o.Viewport = drivers.Size{Width: 1280, Height: 720}
	}
	params := target.CreateBrowserContextParams{DisposeOnDetach: new(true)}
	if o.Proxy != "" {
		params.ProxyServer, params.ProxyBypassList = "http://"+o.Proxy, "<-loopback>"
	}
	made, err := call(ctx, b.life, b.conn, target.CreateBrowserContext, params)
	if err != nil {
		return nil, fault(ctx, b.life, op, "", err)
	}
	c := &Context{browser: b, id: made.BrowserContextID, options: o, pages: map[target.ID]*Page{}}
	c.life, c.end = context.WithCancelCause(b.life)
	c.queue = newQueue(o.Sink)
	b.mu.Lock()
	b.contexts[c.id] = c
	b.mu.Unlock()
	if err := c.prepare(ctx); err != nil {
		// ctx may be done by now, and the context must not stay.
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		return nil, errors.Join(fault(ctx, b.life, op, "", err), c.Close(clean))
	}
	return c, nil
}

// prepare refuses downloads, grants what the persona has, and restores the state.
func (c *Context) prepare(ctx context.Context) error {
	_, err := call(ctx, c.life, c.browser.conn, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: c.id, EventsEnabled: new(true),
	})
	if err != nil {
		return err
	}
	if c.options.Geolocation != nil {
		_, err := call(ctx, c.life, c.browser.conn, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: "geolocation"}, Setting: browser.PermissionSettingGranted,
			BrowserContextID: c.id,
		})
		if err != nil {
			return err
		}
	}
	if c.options.State != nil {
		return c.restore(ctx, c.options.State)
	}
	return nil
}

// NewPage opens an empty tab.
func (c *Context) NewPage(ctx context.Context) (drivers.Page, error) {
	p, err := c.newPage(ctx, c.queue)
	if err != nil {
		return nil, fault(ctx, c.life, "new page", "", err)
	}
	if err := p.dress(ctx); err != nil {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		return nil, errors.Join(fault(ctx, p.life, "new page", "", err), p.Close(clean))
	}
	return p, nil
}

// newPage opens a tab whose events go to q.
func (c *Context) newPage(ctx context.Context, q *queue) (*Page, error) {
	if c.life.Err() != nil || ctx.Err() != nil {
		return nil, fault(ctx, c.life, "new page", "", errors.New("not started"))
	}
	p := newPage(c, q)
	c.mu.Lock()
	c.creating++
	c.mu.Unlock()
	err := p.attach(ctx)
	c.mu.Lock()
	c.creating--
	if err == nil {
		c.pages[p.target.TargetID] = p
	}
	strays := c.claim()
	c.mu.Unlock()
	c.dismiss(strays) //nolint:contextcheck // strays are closed whatever becomes of ctx
	if err == nil {
		err = p.prepare(ctx)
	}
	if err != nil {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		return nil, errors.Join(fault(ctx, c.life, "new page", "", err), p.Close(clean))
	}
	return p, nil
}

// onTarget notes a page that the browser opened: ours, or one that the site opened by itself.
func (c *Context) onTarget(info *target.Info) {
	c.mu.Lock()
	if c.pages[info.TargetID] == nil {
		c.strays = append(c.strays, info)
	}
	strays := c.claim()
	c.mu.Unlock()
	c.dismiss(strays)
}

// claim gives the pages that are certainly not ours. The caller holds mu.
func (c *Context) claim() (strays []*target.Info) {
	if c.creating > 0 {
		return nil // the next page that is seen may be the one being made
	}
	for _, info := range c.strays {
		if c.pages[info.TargetID] == nil {
			strays = append(strays, info)
		}
	}
	c.strays = nil
	return strays
}

// dismiss closes pages that the site opened.
func (c *Context) dismiss(strays []*target.Info) {
	for _, info := range strays {
		c.queue.put(drivers.Event{Kind: drivers.EventPopup, URL: info.URL})
		c.spawn(func() {
			_, _ = call(context.Background(), c.life, c.browser.conn, target.CloseTarget, target.CloseTargetParams{TargetID: info.TargetID})
		})
	}
}

// onDownload reports a download of one of the context's pages; false if it is of none.
func (c *Context) onDownload(e *browser.EventDownloadWillBegin) bool {
	c.mu.Lock()
	p := c.pages[target.ID(e.FrameID)] // a tab and its main frame have one id
	c.mu.Unlock()
	if p == nil {
		return false
	}
	p.nav.downloaded()
	p.queue.put(drivers.Event{Kind: drivers.EventDownload, URL: e.URL, Text: e.SuggestedFilename})
	return true
}

// spawn runs f on a goroutine that Close waits for. f must end soon after life does.
func (c *Context) spawn(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() == nil {
		c.work.Go(f)
	}
}

// Close closes the pages and disposes of the context.
func (c *Context) Close(ctx context.Context) error {
	b := c.browser
	b.mu.Lock()
	_, open := b.contexts[c.id]
	delete(b.contexts, c.id)
	b.mu.Unlock()
	if !open {
		return nil
	}
	c.release()
	if b.life.Err() != nil {
		return nil //nolint:nilerr // it went with the browser
	}
	_, err := call(ctx, b.life, b.conn, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: c.id})
	if err != nil && b.life.Err() == nil {
		if e := fault(ctx, b.life, "close context", "", err); e.Kind != drivers.BrowserLost {
			return e
		}
	}
	return c.queue.close(ctx)
}

// release ends the context's life and its goroutines. The tabs go with the browser's context.
func (c *Context) release() {
	c.mu.Lock()
	c.end(errClosed)
	pages := c.pages
	c.pages = map[target.ID]*Page{}
	c.mu.Unlock()
	for _, p := range pages {
		p.detach()
	}
	c.work.Wait()
	c.queue.stop()
}

// closedTarget is the library's option to leave a tab alone when its context ends: the driver closes it itself,
// without the library's repeated questions whether it is gone.
func closedTarget() lib.ContextOption { return lib.WithDetachOnCancel() }
