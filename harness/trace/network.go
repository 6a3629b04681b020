package trace

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// The types below are the part of the HAR 1.2 format, and of what the viewer adds to it, that can be known from
// a driver's events. Bodies and cookies are not in it.

type harLog struct {
	Log struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Browser harCreator `json:"browser"`
		Entries []harEntry `json:"entries"`
	} `json:"log"`
}

type harCreator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type harEntry struct {
	Started  string      `json:"startedDateTime"`
	Time     float64     `json:"time"` // ms; -1 while unfinished
	Request  harRequest  `json:"request"`
	Response harResponse `json:"response"`
	Cache    struct{}    `json:"cache"`
	Timings  harTimings  `json:"timings"`

	PageRef   string  `json:"pageref"`
	FrameRef  string  `json:"_frameref"`
	Monotonic float64 `json:"_monotonicTime"`
	Type      string  `json:"_resourceType,omitempty"`
	FromCache bool    `json:"_fromCache,omitempty"`
}

type harRequest struct {
	Method      string      `json:"method"`
	URL         string      `json:"url"`
	HTTPVersion string      `json:"httpVersion"`
	Cookies     []harHeader `json:"cookies"`
	Headers     []harHeader `json:"headers"`
	Query       []harHeader `json:"queryString"`
	HeadersSize int         `json:"headersSize"`
	BodySize    int         `json:"bodySize"`
}

type harResponse struct {
	Status       int         `json:"status"` // -1 if there was none
	StatusText   string      `json:"statusText"`
	HTTPVersion  string      `json:"httpVersion"`
	Cookies      []harHeader `json:"cookies"`
	Headers      []harHeader `json:"headers"`
	Content      harContent  `json:"content"`
	RedirectURL  string      `json:"redirectURL"`
	HeadersSize  int         `json:"headersSize"`
	BodySize     int64       `json:"bodySize"`
	TransferSize int64       `json:"_transferSize"`
	FailureText  string      `json:"_failureText,omitempty"`
}

type harContent struct {
	Size     int64  `json:"size"`
	MIMEType string `json:"mimeType"`
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

type harHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// exchanges pairs the network events into HAR entries, in the order of the requests. An answer whose request
// fell out of the ring stands alone.
func exchanges(entries []entry, red *Redactor, at func(time.Time) float64) []harEntry {
	var all []*exchange
	open := map[string]*exchange{}
	begin := func(e entry) *exchange {
		x := &exchange{request: e}
		all, open[e.event.RequestID] = append(all, x), x
		return x
	}
	for _, e := range entries {
		switch x := open[e.event.RequestID]; e.event.Kind {
		case drivers.EventRequest: // a redirect asks again under the same id
			begin(e)
		case drivers.EventResponse:
			if x == nil {
				x = begin(e)
			}
			x.response = &e.event
		case drivers.EventFinished:
			if x != nil {
				x.finished = &e.event
			}
		case drivers.EventFailed:
			if x == nil {
				x = begin(e)
			}
			x.failed = &e.event
		default:
		}
	}
	hars := make([]harEntry, len(all))
	for i, x := range all {
		hars[i] = x.har(red, at)
	}
	return hars
}

// An exchange is what is known of one request.
type exchange struct {
	request  entry
	response *drivers.Event
	finished *drivers.Event
	failed   *drivers.Event
}

func (x *exchange) har(red *Redactor, at func(time.Time) float64) harEntry {
	q := x.request.event
	h := harEntry{
		Started: q.At.UTC().Format("2006-01-02T15:04:05.000Z"), Time: -1, PageRef: pageID, FrameRef: frameID,
		Monotonic: at(q.At), Type: q.Type, FromCache: q.FromCache,
		Request: harRequest{
			Method: q.Method, URL: red.address(x.request), Cookies: []harHeader{}, Query: []harHeader{}, HeadersSize: -1, BodySize: -1,
		},
		Response: harResponse{Status: -1, Cookies: []harHeader{}, Headers: []harHeader{}, HeadersSize: -1, BodySize: -1},
		Timings:  harTimings{Send: -1, Wait: -1, Receive: -1},
	}
	if h.Request.Method == "" {
		h.Request.Method = http.MethodGet
	}
	h.Request.Headers = headersOf(q.Header, red)
	if q.Kind != drivers.EventRequest { // the header is that of the answer
		h.Request.Headers = []harHeader{}
	}
	x.answer(&h, red)
	return h
}

// answer fills in how the exchange went on.
func (x *exchange) answer(h *harEntry, red *Redactor) {
	since := func(t time.Time) float64 { return max(millis(t.Sub(x.request.event.At)), 0) }
	if r := x.response; r != nil {
		h.Response.Status, h.Response.StatusText = r.Status, http.StatusText(r.Status)
		h.Response.Headers = headersOf(r.Header, red)
		h.Response.Content.MIMEType = r.MIMEType
		h.Response.RedirectURL = red.URL(r.Header["location"])
		h.FromCache = h.FromCache || r.FromCache
		h.Timings.Wait = since(r.At)
		h.Time = h.Timings.Wait
	}
	if f := x.finished; f != nil {
		h.Response.Content.Size, h.Response.BodySize, h.Response.TransferSize = f.Bytes, f.Bytes, f.Bytes
		h.Time = since(f.At)
		h.Timings.Receive = max(h.Time-max(h.Timings.Wait, 0), 0)
	}
	if f := x.failed; f != nil {
		h.Response.FailureText = red.Text(f.Text)
		h.Time = since(f.At)
	}
}

// headersOf lists a header sorted by name, with one line for each cookie that was set.
func headersOf(h drivers.Header, red *Redactor) []harHeader {
	list := []harHeader{}
	for name, value := range red.Header(h) {
		for line := range strings.SplitSeq(value, "\n") {
			list = append(list, harHeader{name, line})
		}
	}
	slices.SortStableFunc(list, func(a, b harHeader) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// address is the redacted URL of an entry.
func (r *Redactor) address(e entry) string {
	if e.cut {
		return r.cut(redactURL(e.event.URL))
	}
	return r.URL(e.event.URL)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
