package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/limpet-dev/limpet/classify"
)

// past is a deadline that has passed: it wakes whoever reads.
var past = time.Unix(1, 0)

// A client is one connection from the browser: one tunnel, or plain requests one after the other.
type client struct {
	port *Port
	conn *net.TCPConn
	in   *bufio.Reader

	lingers bool // a local reply is on its way; owned by serve

	mu     sync.Mutex
	dead   bool
	other  *net.TCPConn // the upstream leg, while there is one
	cancel func()       // ends a dial that is under way; nil before serve
}

func newClient(p *Port, conn *net.TCPConn) *client {
	return &client{port: p, conn: conn, in: bufio.NewReader(conn)}
}

// serve runs until the browser leaves, the port closes or a request ends the connection.
func (c *client) serve(ctx context.Context) {
	defer c.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.onReset(cancel)
	if !c.port.gw.cfg.AnyPeer && !ownPeer(c.conn) {
		c.port.log.LogAttrs(ctx, warn, "connection of another user's process refused")
		c.reset()
		return
	}
	for c.next(ctx) {
	}
}

// next serves one request. It reports whether another may follow.
func (c *client) next(ctx context.Context) bool {
	c.bound(c.port.gw.cfg.IdleTimeout)
	if _, err := c.in.Peek(1); err != nil {
		return false
	}
	accepted := time.Now()
	c.bound(headTimeout)
	raw, err := readHead(c.in)
	if err != nil {
		if errors.Is(err, errHeadTooLarge) {
			c.answer(http.StatusRequestHeaderFieldsTooLarge, nil)
		}
		return false
	}
	c.bound(0)
	h, err := parseRequest(raw)
	if err != nil {
		c.answer(http.StatusBadRequest, &fault{class: classify.PolicyDenied, detail: err.Error()})
		return false
	}
	if h.method == http.MethodConnect {
		c.tunnel(ctx, newRecord(h.target, true, accepted), h)
		return false
	}
	target, path, err := h.absolute()
	if err != nil {
		c.answer(http.StatusBadRequest, &fault{class: classify.PolicyDenied, detail: err.Error()})
		return false
	}
	return c.plain(ctx, newRecord(target, false, accepted), h, path)
}

// gate decides whether a connection may be made at all.
func (c *client) gate(r *record, target string) *fault {
	r.reach(stageGate)
	switch {
	case c.port.left() <= 0:
		return spentFault()
	case c.port.Live() > c.port.gw.cfg.MaxConnections:
		return denied("more than " + strconv.Itoa(c.port.gw.cfg.MaxConnections) + " connections at a time")
	}
	return c.port.gw.guard.target(target)
}

// dial opens the upstream leg and ties it to the client's life.
func (c *client) dial(ctx context.Context, r *record, target string) (*meter, *fault) {
	r.reach(stageDial)
	conn, f := c.port.gw.dialer.dial(ctx, c.port.grant.Route, target)
	if f != nil {
		return nil, f
	}
	m := &meter{conn: conn, rec: r, port: c.port}
	if !c.attach(conn) {
		return nil, &fault{class: classify.Cancelled, detail: "the port was closed"}
	}
	return m, nil
}

// refuse notes a fault and answers the browser with it, in this order: who sees the answer finds the evidence.
func (c *client) refuse(r *record, f *fault) {
	if c.gone() {
		return // revoked or left: nobody's failure, and nobody to tell
	}
	r.fail(f)
	c.answer(localStatus(f.class), f)
}

// answer writes a local reply that ends the connection.
func (c *client) answer(status int, f *fault) {
	c.bound(headTimeout)
	if _, err := c.conn.Write(localReply(status, f)); err == nil {
		c.lingers = true
	}
}

// linger waits for the browser to take a local reply: a close with unread data is a reset, and a reset can overtake
// the reply.
func (c *client) linger() {
	_ = c.conn.CloseWrite()
	c.bound(lingerTimeout)
	_, _ = io.CopyN(io.Discard, c.in, maxHeadBytes)
}

// bound limits the browser's leg from now; zero lifts the limit.
func (c *client) bound(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = c.conn.SetDeadline(at) // fails only when closed, and then so does the next read
}

// attach makes conn the upstream leg. It reports false, and closes conn, if the client was reset meanwhile.
func (c *client) attach(conn *net.TCPConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		abort(conn)
		return false
	}
	c.other = conn
	return true
}

// detach closes the upstream leg in peace.
func (c *client) detach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.other != nil {
		_ = c.other.Close()
		c.other = nil
	}
}

// reset ends both legs at once, and tells both peers by a reset. It may be called at any time, from anywhere.
func (c *client) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	if c.cancel != nil {
		c.cancel()
	}
	abort(c.conn)
	if c.other != nil {
		abort(c.other)
	}
}

// onReset has reset call cancel; at once if it was called already.
func (c *client) onReset(cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	if c.dead {
		cancel()
	}
}

// watch resets the client as soon as the browser leaves, until stop is called. In between nobody else may read from
// the browser; what it says meanwhile is kept. Without the watch a failure that nobody waits for any more would
// count as one.
func (c *client) watch() (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.await()
	}()
	return func() {
		_ = c.conn.SetReadDeadline(past)
		<-done
		c.bound(0)
	}
}

// await blocks until the browser says something, leaves, or the read deadline passes.
func (c *client) await() {
	if _, err := c.in.Peek(1); err != nil && !isTimeout(err) {
		c.reset()
	}
}

// gone reports whether reset was called.
func (c *client) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// close ends both legs in peace.
func (c *client) close() {
	c.detach()
	if c.lingers {
		c.linger()
	}
	_ = c.conn.Close()
}

// abort closes with a reset instead of a farewell: queued data is dropped on both sides.
func abort(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}
