package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/provider"
)

// plain serves one request in absolute form. It reports whether the browser's connection can carry another.
//
// With a provider the exit shows only in the answer, when the origin has seen the request: a plain http request to
// an exit that is then refused costs the origin one request, and the browser never sees the answer. Each request has
// an upstream connection of its own.
func (c *client) plain(ctx context.Context, r *record, h *head, path string) bool {
	c.port.begin(r)
	defer c.port.finish(ctx, r)
	defer c.detach()
	m, f := c.forward(ctx, r, h, path)
	if f != nil {
		c.refuse(r, f)
		return false
	}
	x := newExchange(c, m, r, h)
	keep, f := x.download()
	x.stopUpload()
	if f != nil {
		c.refuse(r, f)
		return false
	}
	return keep && !x.uploadFailed && !c.gone()
}

// forward passes the gates, dials and sends the request's head.
func (c *client) forward(ctx context.Context, r *record, h *head, path string) (*meter, *fault) {
	target := r.snapshot().Target
	if f := c.gate(r, target); f != nil {
		return nil, f
	}
	route := c.port.grant.Route
	if route.ExitAddrHeader == "" {
		if f := c.admit(Observation{}); f != nil {
			return nil, f
		}
	}
	m, f := c.dial(ctx, r, target)
	if f != nil {
		return nil, f
	}
	if _, err := m.Write(requestHead(h, route, target, path)); err != nil {
		return nil, noAnswer(err)
	}
	return m, nil
}

// requestHead is the request as the next hop wants it: in absolute form with the credential for a provider, in
// origin form for the origin itself.
func requestHead(h *head, route provider.Route, target, path string) []byte {
	authority := strings.TrimSuffix(target, ":80")
	uri := path
	var extra []string
	if route.Kind == provider.Connect {
		uri = "http://" + authority + path
		if auth := proxyAuthorization(route); auth != "" {
			extra = append(extra, auth)
		}
	}
	host := authority
	if strings.EqualFold(h.get("host"), target) {
		host = "" // with the default port spelt out: leave it as it came
	}
	if len(h.all("host")) == 0 {
		extra = append(extra, "Host: "+authority)
	}
	return h.write(h.method+" "+uri+" HTTP/1.1", h.upgrades(), host, extra...)
}

// An exchange is one plain request and its answer. The request's body goes up on a goroutine of its own, because an
// origin may answer before it has read all of it.
type exchange struct {
	c       *client
	m       *meter
	r       *record
	request *head
	in      *bufio.Reader // from upstream, each read with the idle limit

	stopping     atomic.Bool
	uploaded     chan struct{} // closed when upload is done
	uploadFailed bool          // owned by upload until then
}

func newExchange(c *client, m *meter, r *record, request *head) *exchange {
	x := &exchange{c: c, m: m, r: r, request: request, uploaded: make(chan struct{})}
	idle := c.port.gw.cfg.IdleTimeout
	x.in = bufio.NewReader(readerFunc(func(p []byte) (int, error) {
		m.deadline(idle)
		_ = c.conn.SetWriteDeadline(time.Now().Add(idle))
		return m.Read(p)
	}))
	go func() {
		defer close(x.uploaded)
		x.upload()
	}()
	return x
}

// upload passes the request's body on, and then watches for the browser leaving: an origin that never answers must
// not hold a connection that nobody waits for.
func (x *exchange) upload() {
	buf := x.c.port.gw.buffer()
	defer x.c.port.gw.buffers.Put(buf)
	to := writerFunc(func(p []byte) (int, error) {
		x.m.deadline(x.c.port.gw.cfg.IdleTimeout)
		if x.stopping.Load() { // and the line above has undone the deadline of stopUpload
			return 0, errStopped
		}
		return x.m.Write(p)
	})
	if err := copyBody(to, x.c.in, requestFraming(x.request), buf[:]); err != nil {
		x.uploadFailed = true
		return // the answer, or its absence, says more
	}
	if !x.request.upgrades() { // else what the browser says next is the other protocol's
		x.c.await()
	}
}

// stopUpload ends the upload and waits for it. What the browser said after the request is kept.
func (x *exchange) stopUpload() {
	x.stopping.Store(true)
	_ = x.c.conn.SetReadDeadline(past)
	_ = x.m.conn.SetWriteDeadline(past) // an origin that has answered may have stopped reading
	<-x.uploaded
	x.c.bound(0)
	x.m.deadline(0)
}

// download reads the answer and passes it on. It reports whether the browser's connection can carry on, or why the
// browser is to get an answer of our own.
func (x *exchange) download() (keep bool, f *fault) {
	for {
		raw, err := readHead(x.in)
		if err != nil {
			return false, noAnswer(err)
		}
		h, err := parseReply(raw)
		if err != nil {
			return false, &fault{class: classify.TunnelFailed, detail: err.Error()}
		}
		if h.status >= 200 || h.upgrades() {
			return x.finish(h)
		}
		if !x.tell(h.write(statusLine(h), false, "")) {
			return false, nil
		}
	}
}

// finish passes the final answer on.
func (x *exchange) finish(h *head) (keep bool, f *fault) {
	if f := x.judge(h); f != nil {
		return false, f
	}
	if h.upgrades() {
		return false, x.upgrade(h)
	}
	body := replyFraming(h, x.request.method)
	readable := body.kind != byChunks || x.request.version == "HTTP/1.1"
	keep = x.request.keepsAlive() && body.kind != byClose && readable
	mark := "Connection: close"
	if keep {
		mark = "Connection: keep-alive"
	}
	if !x.tell(h.write(statusLine(h), false, "", mark)) {
		return false, nil
	}
	buf := x.c.port.gw.buffer()
	defer x.c.port.gw.buffers.Put(buf)
	if err := copyBody(x.c.conn, x.in, body, buf[:]); err != nil {
		if !x.c.gone() {
			x.r.note("the answer broke off: " + cause(err))
			x.c.reset() // a farewell would pass the part for the whole
		}
		return false, nil
	}
	return keep, nil
}

// judge reads an answer that came through a provider: it may be the provider's own, or of the wrong exit.
func (x *exchange) judge(h *head) *fault {
	route := x.c.port.grant.Route
	if route.Kind != provider.Connect {
		return nil
	}
	exit := exitOf(h, route)
	if f, ours := route.Errors.Plain(replyOf(h)); ours {
		if x.c.port.worked.Load() {
			f = f.AfterSuccess()
		}
		x.r.answered(h.status, exit)
		return faultOf(f, h.status)
	}
	x.r.answered(0, exit)
	if route.ExitAddrHeader != "" {
		if f := x.c.admit(exit); f != nil {
			return f
		}
	}
	x.c.port.worked.Store(true)
	return nil
}

// upgrade hands the connection over to the other protocol.
func (x *exchange) upgrade(h *head) *fault {
	if !x.request.upgrades() {
		return &fault{class: classify.TunnelFailed, detail: "a change of protocol that nobody asked for"}
	}
	x.stopUpload()
	if x.tell(h.write(statusLine(h), true, "")) {
		x.c.relay(x.r, x.m, x.in)
	}
	return nil
}

// tell writes to the browser. It reports false if the browser has left, which is nobody's fault.
func (x *exchange) tell(head []byte) bool {
	_, err := x.c.conn.Write(head)
	return err == nil
}

type readerFunc func(p []byte) (int, error)

// Read calls f.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func(p []byte) (int, error)

// Write calls f.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func statusLine(h *head) string {
	return strings.TrimRight(fmt.Sprintf("HTTP/1.1 %d %s", h.status, h.reason), " ")
}

// noAnswer is what it means that a plain request got no answer.
func noAnswer(err error) *fault {
	switch {
	case errors.Is(err, errSpent):
		return spentFault()
	case isTimeout(err):
		return &fault{class: classify.Timeout, detail: "no answer to a plain request: " + cause(err)}
	case errors.Is(err, errHeadTooLarge):
		return &fault{class: classify.TunnelFailed, detail: err.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &fault{class: classify.Reset, detail: "the connection was closed within the answer's header"}
	default:
		return &fault{class: classify.Reset, detail: "the connection was " + cause(err) + " before the answer"}
	}
}
