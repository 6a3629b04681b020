package gateway_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/provider"
)

// patience is how long a test waits for something that must happen.
const patience = 5 * time.Second

// A visit is one connection to an upstream: its request head, and the rest of the conversation.
type visit struct {
	*countingConn
	in     *bufio.Reader
	head   string // raw, with the blank line
	method string
	target string
}

// countingConn counts what the wire carried, from the peer's point of view. It embeds nothing: io.Copy would find
// a way past the count.
type countingConn struct {
	tcp *net.TCPConn
	u   *upstream
}

func (c *countingConn) CloseWrite() error { return c.tcp.CloseWrite() }

func (c *countingConn) reset() {
	c.tcp.SetLinger(0)
	c.tcp.Close()
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.tcp.Read(p)
	c.u.received.Add(int64(n))
	return n, err
}

func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.tcp.Write(p)
	c.u.sent.Add(int64(n))
	return n, err
}

// upstream is a server on loopback that stands for a provider's gateway, or for an origin.
type upstream struct {
	addr           string
	received, sent atomic.Int64
	visits         atomic.Int64

	mu    sync.Mutex
	heads []string
	conns map[net.Conn]struct{}
}

// newUpstream serves each connection's first request with handle. A connection is closed when handle returns.
func newUpstream(t *testing.T, handle func(v *visit)) *upstream {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	u := &upstream{addr: l.Addr().String(), conns: map[net.Conn]struct{}{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			u.track(conn, true)
			running.Go(func() {
				defer u.track(conn, false)
				defer conn.Close()
				u.visits.Add(1)
				tcp, _ := conn.(*net.TCPConn)
				u.serve(&visit{countingConn: &countingConn{tcp, u}}, handle)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		u.mu.Lock()
		for c := range u.conns {
			c.Close()
		}
		u.mu.Unlock()
		running.Wait()
	})
	return u
}

func (u *upstream) track(c net.Conn, on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if on {
		u.conns[c] = struct{}{}
		return
	}
	delete(u.conns, c)
}

func (u *upstream) serve(v *visit, handle func(*visit)) {
	v.in = bufio.NewReader(v.countingConn)
	var raw bytes.Buffer
	for {
		l, err := v.in.ReadString('\n')
		raw.WriteString(l)
		if err != nil {
			return
		}
		if l == "\r\n" {
			break
		}
	}
	v.head = raw.String()
	v.method, v.target, _ = strings.Cut(strings.SplitN(v.head, "\r\n", 2)[0], " ")
	v.target, _, _ = strings.Cut(v.target, " ")
	u.mu.Lock()
	u.heads = append(u.heads, v.head)
	u.mu.Unlock()
	handle(v)
}

func (u *upstream) lastHead(t *testing.T) string {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	require.NotEmpty(t, u.heads)
	return u.heads[len(u.heads)-1]
}

// say answers with a fixed text.
func say(text string) func(*visit) {
	return func(v *visit) { io.WriteString(v, text) }
}

// echo answers 200 to CONNECT and sends back what comes, until the peer ends.
func echo(v *visit) {
	io.WriteString(v, "HTTP/1.1 200 OK\r\nX-Fixture-Exit-Ip: 198.51.100.7\r\nX-Fixture-Exit-Country: de\r\n\r\n")
	io.Copy(v, v.in)
	v.CloseWrite()
}

// reset drops the connection with an RST.
func reset(v *visit) { v.reset() }

const (
	user     = "customer-ada-session-canary1"
	password = "p@ss:/#?ü canary2"
)

// route goes through the upstream, with the fixture provider's vocabulary.
func route(t *testing.T, u *upstream) provider.Route {
	t.Helper()
	def, err := provider.Lookup("limpet-fixture")
	require.NoError(t, err)
	errs, err := provider.NewErrorCatalogue(def.Errors)
	require.NoError(t, err)
	return provider.Route{
		Source: "fixture", Kind: provider.Connect, Endpoint: u.addr,
		Username: provider.NewSecret(user), Password: provider.NewSecret(password),
		ExitAddrHeader: def.ExitAddrHeader, ExitCountryHeader: def.ExitCountryHeader, Errors: errs,
	}
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func openPort(t *testing.T, cfg gateway.Config, grant gateway.Grant) *gateway.Port {
	t.Helper()
	g := gateway.New(cfg)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	grant.Lease = "lease-1"
	p, err := g.Open(t.Context(), grant)
	require.NoError(t, err)
	return p
}

// browser is the test's own end of a connection to a port.
type browser struct {
	*net.TCPConn
	in *bufio.Reader
}

func dialPort(t *testing.T, p *gateway.Port) *browser {
	t.Helper()
	conn, err := net.Dial("tcp4", p.Addr())
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { conn.Close() })
	tcp, ok := conn.(*net.TCPConn)
	require.True(t, ok)
	return &browser{tcp, bufio.NewReader(tcp)}
}

// send writes raw text.
func (b *browser) send(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(b, text)
	require.NoError(t, err)
}

// answer reads one answer; its body is still to be read.
func (b *browser) answer(t *testing.T, method string) *http.Response {
	t.Helper()
	r, err := http.ReadResponse(b.in, &http.Request{Method: method})
	require.NoError(t, err)
	return r
}

func (b *browser) body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

// connect opens a tunnel through p.
func connect(t *testing.T, p *gateway.Port, target string) (*browser, *http.Response) {
	t.Helper()
	b := dialPort(t, p)
	b.send(t, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\nProxy-Connection: keep-alive\r\n\r\n")
	return b, b.answer(t, http.MethodConnect)
}

// finished waits until nothing runs in p, and takes its evidence.
func finished(t *testing.T, p *gateway.Port) []gateway.Connection {
	t.Helper()
	require.Eventually(t, func() bool { return p.Live() == 0 }, patience, time.Millisecond)
	return p.Take()
}

func stages(c gateway.Connection) (names []string) {
	for _, s := range c.Stages {
		names = append(names, s.Name)
	}
	return names
}
