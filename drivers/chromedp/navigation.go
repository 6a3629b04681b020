package chromedp

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"github.com/limpet-dev/limpet/drivers"
)

// A navigation follows the main document of a page through the protocol's events.
type navigation struct {
	mu       sync.Mutex
	main     cdp.FrameID   // the tab's main frame; empty until it is known
	changed  chan struct{} // closed and replaced whenever a field below changes
	url      string
	request  network.RequestID // of the last main document asked for
	hops     []drivers.Hop
	response *drivers.Response // the last seen; nil before the first
	answered network.RequestID // the request of response
	// extra is the raw header of an answer to request, maybe of one of its redirects: these events and the others
	// come in no order. Nil before the first.
	extra    *network.EventResponseReceivedExtraInfo
	failed   map[cdp.LoaderID]string   // why documents failed: net::ERR_…
	ready    map[cdp.LoaderID]struct{} // documents whose DOMContentLoaded fired
	shown    map[cdp.LoaderID]struct{} // documents that were committed since begin
	loader   cdp.LoaderID              // of the document that is shown
	error    bool                      // it is the browser's error page
	download bool                      // a download began
	begun    bool                      // a main document was asked for since begin
	timing   time.Time                 // when request left, for Timing.Total
}

func newNavigation() *navigation {
	return &navigation{changed: make(chan struct{}), url: "about:blank", failed: map[cdp.LoaderID]string{}, ready: map[cdp.LoaderID]struct{}{}, shown: map[cdp.LoaderID]struct{}{}}
}

// update changes the navigation under its lock and wakes whoever waits for it.
func (n *navigation) update(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	close(n.changed)
	n.changed = make(chan struct{})
}

// in names the tab's main frame.
func (n *navigation) in(main cdp.FrameID) { n.update(func() { n.main = main }) }

func (n *navigation) mainFrame() cdp.FrameID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.main
}

// begin forgets what concerned earlier navigations.
func (n *navigation) begin() {
	n.update(func() {
		n.download, n.begun = false, false
		clear(n.failed)
		clear(n.shown)
		for loader := range n.ready {
			if loader != n.loader {
				delete(n.ready, loader)
			}
		}
	})
}

// asked notes that a main document is asked for, and the redirect that led to it.
func (n *navigation) asked(e *network.EventRequestWillBeSent) {
	n.update(func() {
		if hop := e.RedirectResponse; hop != nil && e.RequestID == n.request {
			n.hops = append(n.hops, drivers.Hop{URL: hop.URL, Status: int(hop.Status), Location: headerOf(hop.Headers)["location"]})
		} else {
			n.hops = nil
			n.timing = time.Now()
		}
		n.request, n.extra, n.begun = e.RequestID, nil, true
	})
}

// answer notes the answer to a main document.
func (n *navigation) answer(e *network.EventResponseReceived) {
	n.update(func() {
		if e.RequestID != n.request {
			return
		}
		r := e.Response
		header := headerOf(r.Headers)
		if n.extra != nil && n.extra.StatusCode == r.Status {
			maps.Copy(header, headerOf(n.extra.Headers))
		}
		n.answered = e.RequestID
		n.response = &drivers.Response{
			URL: r.URL, Status: int(r.Status), Header: header, MIMEType: r.MimeType,
			Redirects: slices.Clone(n.hops), RemoteAddr: remote(r), FromCache: r.FromDiskCache || r.FromPrefetchCache,
			Protocol: r.Protocol, Timing: timing(r.Timing),
		}
	})
}

// raw notes the header of an answer as it came over the wire, which the other events leave parts out of.
func (n *navigation) raw(e *network.EventResponseReceivedExtraInfo) {
	n.update(func() {
		if e.RequestID != n.request {
			return
		}
		n.extra = e
		if n.answered == e.RequestID && n.response.Status == int(e.StatusCode) {
			maps.Copy(n.response.Header, headerOf(e.Headers))
		}
	})
}

// finished notes that the body of a main document has arrived.
func (n *navigation) finished(id network.RequestID) {
	n.update(func() {
		if id == n.answered && n.response != nil {
			n.response.Timing.Total = time.Since(n.timing)
		}
	})
}

// fail notes that a request failed. A main document's request has the id of its loader.
func (n *navigation) fail(e *network.EventLoadingFailed) {
	n.update(func() {
		if e.RequestID == n.request {
			n.failed[cdp.LoaderID(e.RequestID)] = e.ErrorText
		}
	})
}

// committed notes the document that is shown.
func (n *navigation) committed(f *cdp.Frame) {
	n.update(func() {
		n.url, n.loader, n.error = f.URL+f.URLFragment, f.LoaderID, f.UnreachableURL != ""
		n.shown[f.LoaderID] = struct{}{}
	})
}

// moved notes a new address of the same document.
func (n *navigation) moved(url string) { n.update(func() { n.url = url }) }

// loaded notes DOMContentLoaded of the document that is shown.
func (n *navigation) loaded() { n.update(func() { n.ready[n.loader] = struct{}{} }) }

// still reports whether the document that is shown is complete and no error page.
func (n *navigation) still() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ready := n.ready[n.loader]
	return ready && !n.error
}

// current reports whether a request is that of the last main document.
func (n *navigation) current(id network.RequestID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return id == n.request
}

func (n *navigation) downloaded() { n.update(func() { n.download = true }) }

// address is the address of the document that is shown.
func (n *navigation) address() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.url
}

// last gives a copy of the last response.
func (n *navigation) last() *drivers.Response {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.response == nil {
		return nil
	}
	response := *n.response
	response.Header = maps.Clone(n.response.Header)
	response.Redirects = slices.Clone(n.response.Redirects)
	return &response
}

// A progress is how far the navigation to one document has come.
type progress struct {
	response *drivers.Response // of this document; nil before it came
	net      string            // why it failed; "" if it did not
	ready    bool              // DOMContentLoaded fired in it or in one that replaced it
	error    bool              // the browser's error page is shown
	download bool
	begun    bool            // a main document was asked for
	changed  <-chan struct{} // closed at the next change
}

// progress says how far the document of loader has come.
func (n *navigation) progress(loader cdp.LoaderID) progress {
	last := n.last()
	n.mu.Lock()
	defer n.mu.Unlock()
	p := progress{net: n.failed[loader], error: n.error, download: n.download, begun: n.begun, changed: n.changed}
	if n.answered == network.RequestID(loader) {
		p.response = last
	}
	if _, shown := n.shown[loader]; shown {
		_, p.ready = n.ready[n.loader]
	}
	return p
}

// headerOf gives names in lower case and joins what the protocol separates by line ends.
func headerOf(raw map[string]any) drivers.Header {
	header := make(drivers.Header, len(raw))
	for name, value := range raw {
		text, ok := value.(string)
		if !ok {
			continue
		}
		name = strings.ToLower(name)
		if name != "set-cookie" {
			text = strings.ReplaceAll(text, "\n", ", ")
		}
		header[name] = text
	}
	return header
}

func remote(r *network.Response) string {
	if r.RemoteIPAddress == "" {
		return ""
	}
	return net.JoinHostPort(strings.Trim(r.RemoteIPAddress, "[]"), strconv.FormatInt(r.RemotePort, 10))
}

func timing(t *network.ResourceTiming) drivers.Timing {
	if t == nil {
		return drivers.Timing{}
	}
	ms := func(from, to float64) time.Duration {
		if from < 0 || to < from {
			return 0
		}
		return time.Duration((to - from) * float64(time.Millisecond))
	}
	return drivers.Timing{Connect: ms(t.ConnectStart, t.ConnectEnd), FirstByte: ms(t.SendStart, t.ReceiveHeadersStart)}
}
