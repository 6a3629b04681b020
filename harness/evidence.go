package harness

import (
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/gateway"
)

// evidenceOf puts together what the driver and the gateway saw.
func evidenceOf(s saw, conns []gateway.Connection, expect *classify.Expectation, now time.Time) classify.Evidence {
	ev := classify.Evidence{
		Transport: transportOf(s, conns), Step: s.step, Extracted: s.extracted, Expect: expect, Now: now,
		ObservedCountry: observed(conns).Country,
	}
	if s.response != nil && s.response.Status > 0 {
		ev.HTTP = exchangeOf(s)
	}
	if s.snapshot != nil {
		ev.Page = pageOf(s.snapshot)
	}
	return ev
}

func exchangeOf(s saw) *classify.Exchange {
	r := s.response
	x := &classify.Exchange{
		Status: r.Status, Header: r.Header, MIMEType: r.MIMEType, URL: r.URL, Requested: s.requested,
	}
	for _, h := range r.Redirects {
		x.Redirects = append(x.Redirects, h.URL)
	}
	return x
}

func pageOf(s *drivers.Snapshot) *classify.Page {
	p := &classify.Page{
		URL: s.URL, Title: s.Title, HTML: s.HTML, ContentType: s.ContentType, VisibleText: s.VisibleText,
		HasVisible: true, Truncated: s.Truncated, BrowserError: s.ErrorPage,
	}
	for _, f := range s.Frames {
		p.Frames = append(p.Frames, classify.Frame{URL: f.URL, Width: f.Width, Height: f.Height, Visible: f.Visible})
	}
	return p
}

// transportOf joins the driver's error with the gateway's evidence of the connection that it concerns. The
// browser calls every refusal of a tunnel by one name; only the gateway knows who failed.
func transportOf(s saw, conns []gateway.Connection) classify.Transport {
	var t classify.Transport
	t.Committed = s.response != nil && s.response.Status > 0
	if s.err != nil {
		t.Driver = string(drivers.KindOf(s.err))
		if e, ok := asDriverError(s.err); ok {
			t.NetError = e.Net
		}
	}
	address := s.requested
	if s.response != nil && s.response.URL != "" {
		address = s.response.URL
	}
	fault := faultOf(address, conns)
	if fault == nil {
		return t
	}
	// A header of our own gateway proves nothing by itself, since an origin can send one like it. It counts
	// where the gateway's own record says that it answered.
	local := !fault.Tunnel && s.response != nil && s.response.Header[gateway.FaultHeader] != ""
	if s.err != nil && !t.Committed || local {
		t.Fault, t.FaultDetail, t.LocalReply = fault.Fault, fault.Detail, local
	}
	return t
}

// faultOf is the last connection to the host of address that failed; nil if none did.
func faultOf(address string, conns []gateway.Connection) *gateway.Connection {
	host := hostPort(address)
	for i := len(conns) - 1; i >= 0; i-- {
		if conns[i].Fault != "" && (host == "" || conns[i].Target == host) {
			return &conns[i]
		}
	}
	return nil
}

// hostPort is the host:port that a browser dials for address.
func hostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https" || u.Scheme == "wss":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// observed is the last exit that the connections showed.
func observed(conns []gateway.Connection) gateway.Observation {
	for _, c := range slices.Backward(conns) {
		if c.Exit.Addr != "" {
			return c.Exit
		}
	}
	return gateway.Observation{}
}
