package chromedp

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/script"
)

// storage reads the localStorage of origins: through a page that shows one, or else through a tab of its own.
func (c *Context) storage(ctx context.Context, origins []string) ([]drivers.OriginStorage, error) {
	var found []drivers.OriginStorage
	h := &helper{context: c}
	defer h.close(ctx)
	for _, origin := range origins {
		p, err := c.showing(origin), error(nil)
		if p == nil {
			p, err = h.visit(ctx, origin)
		}
		if err != nil {
			return nil, err
		}
		items := map[string]string{}
		if err := p.evaluate(ctx, "read storage", origin, script.ReadStorage(), &items); err != nil {
			return nil, err
		}
		if len(items) > 0 {
			found = append(found, drivers.OriginStorage{Origin: origin, LocalStorage: items})
		}
	}
	return found, nil
}

// showing gives a healthy page that shows a document of the origin; nil if there is none.
func (c *Context) showing(origin string) *Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.pages {
		u, err := url.Parse(p.URL())
		if err == nil && u.Scheme+"://"+u.Host == origin && p.life.Err() == nil && p.nav.still() {
			return p
		}
	}
	return nil
}

// restore puts a state into the context.
func (c *Context) restore(ctx context.Context, s *drivers.StorageState) error {
	if err := c.setCookies(ctx, s.Cookies); err != nil {
		return err
	}
	h := &helper{context: c}
	defer h.close(ctx)
	for _, origin := range s.Origins {
		if len(origin.LocalStorage) == 0 {
			continue
		}
		p, err := h.visit(ctx, origin.Origin)
		if err != nil {
			return err
		}
		if err := p.evaluate(ctx, "restore storage", origin.Origin, script.WriteStorage(origin.LocalStorage), nil); err != nil {
			return err
		}
	}
	return nil
}

// readHints yields what the browser says of itself in the form that emulation.UserAgentMetadata has.
const readHints = `navigator.userAgentData.getHighEntropyValues(
	['architecture', 'bitness', 'formFactors', 'fullVersionList', 'model', 'platformVersion', 'wow64'])`

// hints is what the browser says of itself in client hints. It is asked once, and only in a document of a secure
// origin does it answer.
func (b *Browser) hints(ctx context.Context, c *Context) (*emulation.UserAgentMetadata, error) {
	b.agency.Lock()
	defer b.agency.Unlock()
	if b.metadata != nil {
		return b.metadata, nil
	}
	h := &helper{context: c}
	defer h.close(ctx)
	p, err := h.visit(ctx, "https://limpet.invalid")
	if err != nil {
		return nil, err
	}
	metadata := &emulation.UserAgentMetadata{}
	if err := p.evaluate(ctx, "read client hints", "", readHints, metadata); err != nil {
		return nil, err
	}
	b.metadata = metadata
	return metadata, nil
}

// A helper is a tab in which every request is answered by the driver with an empty document: it belongs to an
// origin without asking its site. It is opened when first needed and reports no events.
type helper struct {
	context *Context
	page    *Page
}

// visit makes the tab belong to the origin.
func (h *helper) visit(ctx context.Context, origin string) (*Page, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &drivers.Error{Kind: drivers.Unsupported, Op: "storage", What: origin, Err: errors.New("an origin looks like https://shop.test")}
	}
	if h.page == nil {
		p, err := h.context.newPage(ctx, nil)
		if err != nil {
			return nil, err
		}
		h.page = p
		p.serve.Store(&answer{p})
		if _, err := command(ctx, p, fetch.Enable, fetch.EnableParams{}); err != nil {
			return nil, err
		}
	}
	h.page.nav.begin()
	begun, err := command(ctx, h.page, page.Navigate, page.NavigateParams{URL: u.Scheme + "://" + u.Host + "/"})
	if err != nil {
		return nil, err
	}
	if begun.ErrorText != "" {
		return nil, fmt.Errorf("open the storage of %s: %s", origin, begun.ErrorText)
	}
	if _, err := h.page.arrive(ctx, "open storage", origin, begun.LoaderID); err != nil {
		return nil, err
	}
	return h.page, nil
}

// close closes the tab.
func (h *helper) close(ctx context.Context) {
	if h.page == nil {
		return
	}
	// ctx may be done by now, and the tab must go all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	_ = h.page.Close(ctx)
}

// An answer answers a tab's requests in the site's place.
type answer struct{ page *Page }

func (a *answer) on(event any) {
	paused, ok := event.(*fetch.EventRequestPaused)
	if !ok {
		return
	}
	a.page.context.spawn(func() {
		_, _ = command(context.Background(), a.page, fetch.FulfillRequest, fetch.FulfillRequestParams{
			RequestID: paused.RequestID, ResponseCode: 200, Body: []byte("<!doctype html>"),
			ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/html"}},
		})
	})
}
