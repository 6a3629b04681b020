package playwright

import (
	"maps"
	"slices"
	"sync"
	"time"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// failGrace is how long the library may take to report by itself that a main document failed. Where it would
// not (a body cut short, a proxy's 407 to CONNECT), it waits for its timeout.
const failGrace = 250 * time.Millisecond

// A navigation follows the main document of a page through the library's events.
type navigation struct {
	mu       sync.Mutex
	request  pw.Request // of the last main document asked for
	hops     []drivers.Hop
	response *drivers.Response // the last seen; nil before the first
	lib      pw.Response       // the same, to ask for more
	attempt  *attempt          // the Goto under way; nil for none
}

// An attempt is one Goto.
type attempt struct {
	over     chan struct{} // closed when the library need not be waited for any longer
	once     sync.Once
	net      string // why the document failed; "" if it did not
	answered bool   // a response came
}

func (a *attempt) end() { a.once.Do(func() { close(a.over) }) }

// begin starts an attempt.
func (n *navigation) begin() *attempt {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.attempt = &attempt{over: make(chan struct{})}
	return n.attempt
}

// crashed ends the attempt under way.
func (n *navigation) crashed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.attempt != nil {
		n.attempt.end()
	}
}

// started notes that the page asks for a main document.
func (n *navigation) started(r pw.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.RedirectedFrom() == nil {
		n.hops = nil
	}
	n.request = r
}

// answered notes the answer to a main document: a hop, or a document.
func (n *navigation) answered(resp pw.Response) {
	n.mu.Lock()
	defer n.mu.Unlock()
	header := resp.Headers()
	if location := header["location"]; location != "" && isRedirect(resp.Status()) {
		n.hops = append(n.hops, drivers.Hop{URL: resp.URL(), Status: resp.Status(), Location: location})
		return
	}
	n.lib = resp
	n.response = &drivers.Response{
		URL: resp.URL(), Status: resp.Status(), Header: maps.Clone(header), MIMEType: mimeType(header),
		Redirects: slices.Clone(n.hops), Timing: timing(resp.Request().Timing()),
	}
	if n.attempt != nil {
		n.attempt.answered = true
	}
}

// finished notes that the body of a main document has arrived.
func (n *navigation) finished(r pw.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.response != nil && n.lib.Request() == r {
		n.response.Timing = timing(r.Timing())
	}
}

// failed notes that a main document failed, and lets the attempt end soon.
func (n *navigation) failed(r pw.Request, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.attempt
	if a == nil || r != n.request || text == "net::ERR_ABORTED" {
		return // an aborted document was replaced by another, or the library says so at once
	}
	a.net = text
	time.AfterFunc(failGrace, a.end)
}

// last gives a copy of the last response, and the library's own.
func (n *navigation) last() (*drivers.Response, pw.Response) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.response == nil {
		return nil, nil
	}
	response := *n.response
	response.Header = maps.Clone(n.response.Header)
	response.Redirects = slices.Clone(n.response.Redirects)
	return &response, n.lib
}

// verdict says what the events know of an attempt.
func (n *navigation) verdict(a *attempt) (net string, answered bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return a.net, a.answered
}

// enrich stores what was asked for later.
func (n *navigation) enrich(lib pw.Response, add func(*drivers.Response)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lib == lib && n.response != nil {
		add(n.response)
	}
}

// isRedirect reports whether a status sends the browser elsewhere.
func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// timing translates the library's: milliseconds since the start of the request, -1 for unknown.
func timing(t *pw.RequestTiming) drivers.Timing {
	if t == nil {
		return drivers.Timing{}
	}
	span := func(from, to float64) time.Duration {
		if from < 0 || to < from {
			return 0
		}
		return time.Duration((to - from) * float64(time.Millisecond))
	}
	return drivers.Timing{
		Connect:   span(t.ConnectStart, t.ConnectEnd),
		FirstByte: span(0, t.ResponseStart),
		Total:     span(0, t.ResponseEnd),
	}
}
