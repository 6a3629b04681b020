package chromedp

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/limpet-dev/limpet/drivers"
)

// errorPageTime bounds the wait for the browser's own error page, which is committed after the failure is reported.
const errorPageTime = time.Second

// Goto navigates and waits for DOMContentLoaded. After an error the page is spent.
func (p *Page) Goto(ctx context.Context, url string) (*drivers.Response, error) {
	const op = "goto"
	what := clean(url)
	if err := p.usable(ctx, op, what); err != nil {
		return nil, err
	}
	resp, err := p.navigate(ctx, op, what, url)
	if err != nil {
		p.spent = true
	}
	return resp, err
}

func (p *Page) navigate(ctx context.Context, op, what, url string) (*drivers.Response, error) {
	p.nav.begin()
	begun, err := command(ctx, p, page.Navigate, page.NavigateParams{URL: url})
	if err != nil {
		return nil, p.unanswered(ctx, op, what, err)
	}
	if begun.ErrorText != "" || begun.IsDownload {
		return p.refused(ctx, op, what, begun)
	}
	if begun.LoaderID == "" { // another place in the same document
		p.nav.moved(url)
		return p.current(url), nil
	}
	return p.arrive(ctx, op, what, begun.LoaderID)
}

// unanswered is the error of a navigation that neither committed nor failed.
func (p *Page) unanswered(ctx context.Context, op, what string, err error) error {
	e := fault(ctx, p.life, op, what, err)
	switch {
	case e.Kind == drivers.Unsupported: // the protocol refuses what is no address
		e.Kind, e.Net = drivers.Navigation, "net::ERR_INVALID_URL"
	case e.Kind == drivers.Timeout && !p.nav.progress("").begun:
		// Nothing was asked of the site, so the tab itself may be stuck. Otherwise it is the site that is waited
		// for, and the browser holds back whatever the tab is asked meanwhile.
		return p.fail(ctx, op, what, err)
	}
	return e
}

// arrive waits for DOMContentLoaded of a document, or of one that takes its place.
func (p *Page) arrive(ctx context.Context, op, what string, loader cdp.LoaderID) (*drivers.Response, error) {
	for {
		now := p.nav.progress(loader)
		switch {
		case now.net != "" && !now.ready:
			return now.response, p.lost(ctx, op, what, now.net)
		case now.ready && now.response == nil:
			return &drivers.Response{URL: p.URL()}, nil // about:blank, data:
		case now.ready:
			return now.response, nil
		}
		select {
		case <-now.changed:
		case <-p.life.Done():
			return now.response, p.fail(ctx, op, what, context.Cause(p.life)) //nolint:contextcheck // both may end it
		case <-ctx.Done():
			return now.response, p.fail(ctx, op, what, ctx.Err())
		}
	}
}

// current is the answer of the document that is shown, at its new address.
func (p *Page) current(url string) *drivers.Response {
	if resp := p.nav.last(); resp != nil {
		return resp
	}
	return &drivers.Response{URL: url}
}

// refused says why a navigation did not begin.
func (p *Page) refused(ctx context.Context, op, what string, begun page.NavigateResult) (*drivers.Response, error) {
	now := p.nav.progress(begun.LoaderID)
	switch {
	case begun.IsDownload || now.download:
		return nil, &drivers.Error{Kind: drivers.Download, Op: op, What: what, Err: errors.New("the address answered with a file")}
	case emptyAnswer(begun.ErrorText) && now.response != nil && now.response.Status >= 400:
		return p.emptyDocument(ctx, op, what, begun.LoaderID)
	}
	return nil, p.lost(ctx, op, what, begun.ErrorText)
}

// emptyAnswer reports whether full Chromium shows an error page in place of an error status without a body. The
// headless shell shows the empty document.
func emptyAnswer(net string) bool {
	return net == "net::ERR_HTTP_RESPONSE_CODE_FAILURE" || net == "net::ERR_INVALID_AUTH_CREDENTIALS"
}

// emptyDocument waits for the page that stands for an empty answer.
func (p *Page) emptyDocument(ctx context.Context, op, what string, loader cdp.LoaderID) (*drivers.Response, error) {
	p.awaitErrorPage(ctx)
	if err := p.usable(ctx, op, what); err != nil {
		return nil, err
	}
	return p.nav.progress(loader).response, nil
}

// lost makes the error of a document that did not load, unless the tab or the browser was lost with it.
func (p *Page) lost(ctx context.Context, op, what, net string) error {
	if net == "net::ERR_ABORTED" {
		// A crash, too, aborts the navigation, and is reported a moment later. A tab that answers has not crashed.
		p.alive(ctx)
	}
	if p.life.Err() != nil {
		return p.fail(ctx, op, what, context.Cause(p.life)) //nolint:contextcheck // both may end it
	}
	if net != "net::ERR_ABORTED" {
		p.awaitErrorPage(ctx)
	}
	return &drivers.Error{Kind: drivers.Navigation, Op: op, What: what, Net: net}
}

// awaitErrorPage waits until the browser's error page is shown, for a moment at most.
func (p *Page) awaitErrorPage(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, errorPageTime)
	defer cancel()
	for {
		now := p.nav.progress("")
		if now.error {
			return
		}
		select {
		case <-now.changed:
		case <-p.life.Done():
			return
		case <-wait.Done():
			return
		}
	}
}
