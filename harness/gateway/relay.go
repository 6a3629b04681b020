package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limpet-dev/limpet/classify"
)

// A relay moves bytes both ways between a client and its upstream leg, and judges how it ended. Only what the
// connection itself suffered is a fault: once bytes have gone both ways, what follows is the application's affair.
type relay struct {
	c     *client
	m     *meter
	r     *record
	idle  time.Duration
	drain time.Duration

	active    atomic.Int64 // unix nanoseconds of the last byte in either direction
	half      atomic.Bool  // one side has ended
	left      atomic.Bool  // the browser ended first
	sent, got atomic.Int64 // payload bytes, without the CONNECT exchange
	opening   atomic.Uint32
}

// The content types of TLS records (RFC 8446, section 5.1), which are not encrypted at a connection's start.
const (
	recordAlert     = 0x15
	recordHandshake = 0x16
)

// relay runs until both directions have ended.
func (c *client) relay(r *record, m *meter, in *bufio.Reader) {
	cfg := c.port.gw.cfg
	l := &relay{c: c, m: m, r: r, idle: cfg.IdleTimeout, drain: cfg.DrainTimeout}
	l.active.Store(time.Now().UnixNano())
	var up sync.WaitGroup
	up.Go(l.upward)
	l.downward(in)
	up.Wait()
}

// upward carries the browser's bytes.
func (l *relay) upward() {
	buf := l.c.port.gw.buffer()
	defer l.c.port.gw.buffers.Put(buf)
	for {
		l.arm(l.c.conn)
		n, err := l.c.in.Read(buf[:])
		if n > 0 {
			l.touch()
			l.opening.CompareAndSwap(0, uint32(buf[0]))
			l.sent.Add(int64(n))
			_ = l.m.conn.SetWriteDeadline(time.Now().Add(l.idle))
			if _, werr := l.m.Write(buf[:n]); werr != nil {
				return // the other direction sees what ended it, and judges
			}
		}
		switch {
		case err == nil, isTimeout(err) && !l.expired():
		case errors.Is(err, io.EOF):
			l.left.Store(!l.half.Load())
			l.half.Store(true)
			_ = l.m.conn.CloseWrite()
			l.arm(l.m.conn)
			return
		case isTimeout(err):
			l.tooQuiet()
			return
		default:
			l.left.Store(!l.half.Load())
			l.c.reset()
			return
		}
	}
}

// downward carries the origin's bytes.
func (l *relay) downward(in *bufio.Reader) {
	buf := l.c.port.gw.buffer()
	defer l.c.port.gw.buffers.Put(buf)
	for {
		l.arm(l.m.conn)
		n, err := in.Read(buf[:])
		if n > 0 {
			l.touch()
			if l.got.Add(int64(n)) == int64(n) {
				l.sniff(buf[:n])
			}
			_ = l.c.conn.SetWriteDeadline(time.Now().Add(l.idle))
			if _, werr := l.c.conn.Write(buf[:n]); werr != nil {
				l.c.reset()
				return
			}
		}
		switch {
		case err == nil, isTimeout(err) && !l.expired():
		case errors.Is(err, io.EOF):
			l.judge("closed")
			l.half.Store(true)
			_ = l.c.conn.CloseWrite()
			l.arm(l.c.conn)
			return
		case isTimeout(err):
			l.tooQuiet()
			return
		default:
			l.judge(cause(err))
			l.c.reset()
			return
		}
	}
}

// arm gives a leg's next read its limit. The other direction may end between the two lines that matter, and arms
// this leg too: whoever is last must have seen it.
func (l *relay) arm(leg *net.TCPConn) {
	limit := l.limit()
	_ = leg.SetReadDeadline(time.Now().Add(limit))
	if now := l.limit(); now != limit {
		_ = leg.SetReadDeadline(time.Now().Add(now))
	}
}

// tooQuiet ends a relay without traffic.
func (l *relay) tooQuiet() {
	l.r.note("idle for " + l.limit().String())
	l.c.reset()
}

// judge notes how the upstream leg ended, before the browser can see it.
func (l *relay) judge(how string) {
	switch {
	case l.left.Load() || l.c.gone():
	case l.got.Load() == 0 && l.sent.Load() > 0:
		l.r.fail(&fault{class: classify.Reset, detail: "the connection was " + how + " before the first byte came back"})
	case l.got.Load() > 0 && how != "closed":
		l.r.note(fmt.Sprintf("the connection was %s after %d bytes", how, l.got.Load()))
	}
}

// sniff looks at the first bytes that came back. An alert in answer to a handshake is the origin's refusal to
// speak TLS with this client; it can be read without decrypting anything.
func (l *relay) sniff(first []byte) {
	if first[0] != recordAlert || l.opening.Load() != recordHandshake {
		return
	}
	detail := "the origin answered the handshake with a TLS alert"
	if len(first) >= 7 { // type, version, length, level, description
		detail += fmt.Sprintf(" (%d)", first[6])
	}
	l.r.fail(&fault{class: classify.TLS, detail: detail})
}

func (l *relay) touch() { l.active.Store(time.Now().UnixNano()) }

// limit is how long the relay waits without traffic.
func (l *relay) limit() time.Duration {
	if l.half.Load() {
		return l.drain
	}
	return l.idle
}

// expired reports whether there was no traffic in either direction for the limit.
func (l *relay) expired() bool {
	return time.Now().UnixNano()-l.active.Load() >= int64(l.limit())
}

// buffer lends a buffer; it goes back with buffers.Put.
func (g *Gateway) buffer() *[bufferBytes]byte {
	buf, ok := g.buffers.Get().(*[bufferBytes]byte)
	if !ok {
		return new([bufferBytes]byte)
	}
	return buf
}
