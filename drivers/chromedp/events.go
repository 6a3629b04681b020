package chromedp

import (
	"context"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/limpet-dev/limpet/drivers"
)

// onEvent runs on the goroutine that reads the tab's messages: it notes, enqueues, and never waits.
func (p *Page) onEvent(event any) {
	if a := p.serve.Load(); a != nil {
		a.on(event)
	}
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.onRequest(e)
	case *network.EventResponseReceived:
		main := p.isMain(e.Type, e.FrameID)
		if main {
			p.nav.answer(e)
		}
		p.respond(e.RequestID, e.Type, e.Response, main)
	case *network.EventResponseReceivedExtraInfo:
		p.nav.raw(e)
	case *network.EventLoadingFinished:
		p.nav.finished(e.RequestID)
		p.queue.put(drivers.Event{
			Kind: drivers.EventFinished, RequestID: string(e.RequestID), Bytes: int64(e.EncodedDataLength),
			MainFrame: p.nav.current(e.RequestID),
		})
	case *network.EventLoadingFailed:
		p.nav.fail(e)
		p.queue.put(drivers.Event{
			Kind: drivers.EventFailed, RequestID: string(e.RequestID), Type: strings.ToLower(string(e.Type)), Text: e.ErrorText,
			MainFrame: p.nav.current(e.RequestID),
		})
	case *page.EventFrameNavigated:
		if e.Frame.ParentID == "" {
			p.nav.committed(e.Frame)
			p.queue.put(drivers.Event{Kind: drivers.EventNavigated, URL: e.Frame.URL, MIMEType: e.Frame.MimeType, MainFrame: true})
		}
	case *page.EventNavigatedWithinDocument:
		if p.isMainFrame(e.FrameID) {
			p.nav.moved(e.URL)
			p.queue.put(drivers.Event{Kind: drivers.EventNavigated, URL: e.URL, MainFrame: true})
		}
	case *page.EventDomContentEventFired:
		p.nav.loaded()
	case *page.EventJavascriptDialogOpening:
		p.onDialog(e)
	case *inspector.EventTargetCrashed:
		p.queue.put(drivers.Event{Kind: drivers.EventCrash, URL: p.nav.address()})
		p.end(errCrashed)
	case *runtime.EventConsoleAPICalled:
		p.onConsole(e)
	case *runtime.EventExceptionThrown:
		p.queue.put(drivers.Event{Kind: drivers.EventPageError, URL: e.ExceptionDetails.URL, Text: thrown(e.ExceptionDetails)})
	}
}

// isMainFrame reports whether a frame is the tab's main frame, which has the id of the tab.
func (p *Page) isMainFrame(id cdp.FrameID) bool { return id != "" && id == p.nav.mainFrame() }

func (p *Page) isMain(t network.ResourceType, frame cdp.FrameID) bool {
	return t == network.ResourceTypeDocument && p.isMainFrame(frame)
}

func (p *Page) onRequest(e *network.EventRequestWillBeSent) {
	main := p.isMain(e.Type, e.FrameID)
	if main {
		p.nav.asked(e)
	}
	if e.RedirectResponse != nil {
		p.respond(e.RequestID, e.Type, e.RedirectResponse, main)
	}
	if p.queue == nil {
		return
	}
	p.queue.put(drivers.Event{
		Kind: drivers.EventRequest, RequestID: string(e.RequestID), Method: e.Request.Method,
		URL: e.Request.URL + e.Request.URLFragment, Type: strings.ToLower(string(e.Type)), Header: headerOf(e.Request.Headers),
		MainFrame: main,
	})
}

func (p *Page) respond(id network.RequestID, t network.ResourceType, r *network.Response, main bool) {
	if p.queue == nil {
		return
	}
	p.queue.put(drivers.Event{
		Kind: drivers.EventResponse, RequestID: string(id), URL: r.URL, Type: strings.ToLower(string(t)), Status: int(r.Status),
		Header: headerOf(r.Headers), MIMEType: r.MimeType, MainFrame: main, FromCache: r.FromDiskCache || r.FromPrefetchCache,
	})
}

// onDialog leaves a page that asks whether to, and dismisses every other dialog. While a dialog is open the tab
// answers nothing else.
func (p *Page) onDialog(e *page.EventJavascriptDialogOpening) {
	p.queue.put(drivers.Event{Kind: drivers.EventDialog, URL: e.URL, Type: string(e.Type), Text: e.Message})
	accept := e.Type == page.DialogTypeBeforeunload
	p.context.spawn(func() {
		<-p.attached // the answer goes to the tab, which a page may outrun
		if p.target != nil {
			_, _ = command(context.Background(), p, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept})
		}
	})
}

func (p *Page) onConsole(e *runtime.EventConsoleAPICalled) {
	if p.queue == nil {
		return
	}
	words := make([]string, len(e.Args))
	for i, arg := range e.Args {
		words[i] = describe(arg)
	}
	p.queue.put(drivers.Event{Kind: drivers.EventConsole, Type: string(e.Type), Text: strings.Join(words, " ")})
}
