package chromedp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	lib "github.com/chromedp/chromedp"

	"github.com/limpet-dev/limpet/drivers"
)

// A Page is one tab. It belongs to one goroutine at a time.
type Page struct {
	context *Context
	queue   *queue
	nav     *navigation

	// tab is the library's context of the tab: its goroutines end with it.
	tab    context.Context //nolint:containedctx // the library ties the tab to it
	cancel context.CancelFunc
	target *lib.Target

	// life ends, with an *end as its cause, when the tab crashed, was closed, or went with its context.
	life context.Context //nolint:containedctx // what it ends is in no caller's scope
	end  context.CancelCauseFunc

	attached chan struct{} // closed when target is set, or never will be

	once  sync.Once              // for detach
	spent bool                   // a Goto failed
	serve atomic.Pointer[answer] // answers the tab's requests; nil for the site
}

var _ drivers.Page = (*Page)(nil)

func newPage(c *Context, q *queue) *Page {
	p := &Page{context: c, queue: q, nav: newNavigation(), attached: make(chan struct{})}
	p.life, p.end = context.WithCancelCause(c.life)
	p.tab, p.cancel = lib.NewContext(c.browser.root, lib.WithExistingBrowserContext(c.id), lib.WithListener(p.onEvent), closedTarget())
	return p
}

// attach opens the tab. The library ties the tab's goroutines to the context of this first call, so that is the
// tab's own, and ctx ends the wait from outside.
func (p *Page) attach(ctx context.Context) error {
	defer close(p.attached)
	stop := context.AfterFunc(ctx, func() { go p.cancel() })
	defer stop()
	defer context.AfterFunc(p.life, func() { go p.cancel() })() //nolint:contextcheck // both may end it
	if err := lib.Do(p.tab); err != nil {                       //nolint:contextcheck // see above
		return err
	}
	p.target = lib.FromContext(p.tab).Target //nolint:contextcheck // see above
	p.nav.in(cdp.FrameID(p.target.TargetID)) // a tab and its main frame have one id
	return nil
}

// prepare switches off what the library enabled and nobody reads.
func (p *Page) prepare(ctx context.Context) error {
	// The library's order is kept in reverse: DOM's events stop before its agent forgets the nodes.
	if _, err := command(ctx, p, css.Disable, cdp.Empty{}); err != nil {
		return err
	}
	if _, err := command(ctx, p, dom.Disable, cdp.Empty{}); err != nil {
		return err
	}
	if _, err := command(ctx, p, log.Disable, cdp.Empty{}); err != nil {
		return err
	}
	if _, err := command(ctx, p, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{}); err != nil {
		return err
	}
	if _, err := command(ctx, p, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{}); err != nil {
		return err
	}
	_, err := command(ctx, p, target.SetAutoAttach, target.SetAutoAttachParams{Flatten: new(true)})
	return err
}

// dress applies the context's options, which the protocol keeps per tab.
func (p *Page) dress(ctx context.Context) error {
	o := p.context.options
	_, err := command(ctx, p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(o.Viewport.Width), Height: int64(o.Viewport.Height), DeviceScaleFactor: 1,
	})
	if err != nil {
		return err
	}
	if o.Locale != "" {
		if err := p.speak(ctx, o.Locale); err != nil {
			return err
		}
	}
	if o.TimeZone != "" {
		if _, err := command(ctx, p, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: o.TimeZone}); err != nil {
			return err
		}
	}
	if g := o.Geolocation; g != nil {
		_, err := command(ctx, p, emulation.SetGeolocationOverride, emulation.SetGeolocationOverrideParams{
			Latitude: &g.Latitude, Longitude: &g.Longitude, Accuracy: &g.Accuracy,
		})
		return err
	}
	return nil
}

// speak sets the language of the page and of its requests. The user agent has to be named again with it, down to
// the client hints, and stays what it is.
func (p *Page) speak(ctx context.Context, locale string) error {
	if _, err := command(ctx, p, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: locale}); err != nil {
		return err
	}
	hints, err := p.context.browser.hints(ctx, p.context)
	if err != nil {
		return err
	}
	_, err = command(ctx, p, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: p.context.browser.agent, UserAgentMetadata: hints, AcceptLanguage: locale,
	})
	return err
}

// command sends a command to the tab. It ends with ctx and with the page's life.
func command[P, R any](ctx context.Context, p *Page, c cdp.Command[P, R], params P) (R, error) {
	return call(ctx, p.life, p.target, c, params)
}

// URL is the address of the main document as last seen.
func (p *Page) URL() string { return p.nav.address() }

// Response is the last main-document response.
func (p *Page) Response() *drivers.Response { return p.nav.last() }

// usable is nil if the page can still be acted upon.
func (p *Page) usable(ctx context.Context, op, what string) error {
	if p.life.Err() != nil || ctx.Err() != nil {
		return fault(ctx, p.life, op, what, errors.New("not started"))
	}
	if p.spent {
		return &drivers.Error{Kind: drivers.PageSpent, Op: op, What: what, Err: errors.New("an earlier navigation failed: open a new page")}
	}
	return nil
}

// fail translates an error of the page. After a deadline the tab is asked for a sign of life: a tab that is slow
// says something about the site, a tab that is stuck does not answer at all.
func (p *Page) fail(ctx context.Context, op, what string, err error) *drivers.Error {
	e := fault(ctx, p.life, op, what, err)
	if e.Kind != drivers.Timeout {
		return e
	}
	if p.alive(ctx) {
		return e
	}
	if p.life.Err() != nil {
		return fault(ctx, p.life, op, what, err)
	}
	e.Kind = drivers.Unresponsive
	return e
}

// alive asks the tab for a sign of life. ctx may be done.
func (p *Page) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	defer cancel()
	_, err := command(ctx, p, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"})
	return err == nil || replaced(err)
}

// Close closes the tab. Leave handlers do not run.
func (p *Page) Close(ctx context.Context) error {
	c := p.context
	if p.target == nil {
		p.end(errClosed)
		p.detach()
		return nil
	}
	c.mu.Lock()
	_, open := c.pages[p.target.TargetID]
	delete(c.pages, p.target.TargetID)
	c.mu.Unlock()
	p.end(errClosed)
	if !open {
		p.detach()
		return nil
	}
	_, err := call(ctx, c.life, c.browser.conn, target.CloseTarget, target.CloseTargetParams{TargetID: p.target.TargetID})
	p.detach()
	if err != nil && c.life.Err() == nil && ctx.Err() != nil {
		return fault(ctx, c.life, "close page", "", err)
	}
	return nil // the tab is gone, whoever closed it
}

// detach ends the library's goroutines of the tab and waits for them, for 5 s at most.
func (p *Page) detach() { p.once.Do(p.cancel) }
