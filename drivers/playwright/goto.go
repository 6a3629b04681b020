package playwright

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// Goto navigates and waits for DOMContentLoaded.
func (p *Page) Goto(ctx context.Context, url string) (*drivers.Response, error) {
	const op = "goto"
	if err := p.usable(op, url); err != nil {
		return nil, err
	}
	a := p.nav.begin()
	lib, err := call(ctx, &p.calls, a.over, func() (pw.Response, error) {
		return p.page.Goto(url, pw.PageGotoOptions{WaitUntil: pw.WaitUntilStateDomcontentloaded, Timeout: timeout(ctx)})
	})
	if err != nil {
		p.spend()
		return p.failedGoto(ctx, a, url, err)
	}
	if lib == nil { // another place in the same document, or one that nobody serves: about:blank
		response, _ := p.nav.last()
		if response == nil || !sameDocument(response.URL, p.URL()) {
			response = &drivers.Response{URL: p.URL()}
		}
		return response, nil
	}
	p.enrich(ctx)
	response, _ := p.nav.last()
	return response, nil
}

// sameDocument reports whether two addresses differ at most in their fragment.
func sameDocument(a, b string) bool {
	a, _, _ = strings.Cut(a, "#")
	b, _, _ = strings.Cut(b, "#")
	return a == b
}

// failedGoto says how a navigation failed. What answered it is returned too, if anything did.
func (p *Page) failedGoto(ctx context.Context, a *attempt, url string, err error) (*drivers.Response, error) {
	why, answered := p.nav.verdict(a)
	var response *drivers.Response
	if answered {
		response, _ = p.nav.last()
	}
	if errors.Is(err, errAbandoned) && isClosed(a.over) && !isClosed(p.crashed) {
		return response, &drivers.Error{Kind: drivers.Navigation, Op: "goto", What: stripUser(url), Net: why}
	}
	if read(err).net == "net::ERR_ABORTED" {
		p.awaitCrash() // a dying renderer aborts its navigation before it is reported dead
	}
	if ctx.Err() != nil || read(err).kind == drivers.Timeout {
		p.stopLoading(ctx) // a tab answers no script while it waits for a document
	}
	err = p.explain(ctx, "goto", url, err)
	if e, ok := errors.AsType[*drivers.Error](err); ok && e.Kind == "" {
		e.Kind = drivers.Navigation
	}
	return response, err
}

// awaitCrash waits a moment for the report that the renderer is gone.
func (p *Page) awaitCrash() {
	wait := time.NewTimer(failGrace)
	defer wait.Stop()
	select {
	case <-p.crashed:
	case <-wait.C:
	}
}

// enrich asks for what the response event does not carry. What cannot be had in time stays empty.
func (p *Page) enrich(ctx context.Context) {
	response, lib := p.nav.last()
	if lib == nil {
		return
	}
	more, err := call(ctx, &p.calls, p.crashed, func() (extra, error) { return ask(lib), nil })
	if err != nil {
		return
	}
	if response.MIMEType == "" {
		_ = p.run(ctx, "goto", "document.contentType", &more.mime)
	}
	p.nav.enrich(lib, func(r *drivers.Response) {
		if len(more.header) > 0 {
			r.Header = more.header
		}
		r.RemoteAddr, r.Protocol = more.addr, more.protocol
		if r.MIMEType == "" {
			r.MIMEType = more.mime
		}
	})
}

// extra is what the library tells of a response when it is asked.
type extra struct {
	header               map[string]string
	addr, protocol, mime string
}

// ask puts the questions. An answer that fails is an answer that is missing.
func ask(r pw.Response) extra {
	var x extra
	if header, err := r.AllHeaders(); err == nil {
		x.header = header
	}
	if addr, err := r.ServerAddr(); err == nil && addr != nil {
		x.addr = net.JoinHostPort(addr.IpAddress, strconv.Itoa(addr.Port))
	}
	if protocol, err := r.HttpVersion(); err == nil {
		x.protocol = protocolName(protocol)
	}
	return x
}

// protocolName turns the library's "HTTP/2.0" into the protocol's own "h2".
func protocolName(version string) string {
	switch version := strings.ToLower(version); version {
	case "http/2.0", "http/2":
		return "h2"
	case "http/3.0", "http/3":
		return "h3"
	default:
		return version
	}
}
