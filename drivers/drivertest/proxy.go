package drivertest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A proxy is an HTTP and CONNECT proxy on loopback through which every host name leads to the site. It records
// what it was asked for.
type proxy struct {
	site   *site
	server *httptest.Server

	mu   sync.Mutex
	seen []string // "shop.test/path?query" of plain requests, "shop.test:443" of tunnels
}

func newProxy(t *testing.T, s *site) *proxy {
	t.Helper()
	p := &proxy{site: s}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {},
		FlushInterval: -1, // what the site trickles is passed on as it comes
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, s.plain.Listener.Addr().String())
			},
		},
		ErrorLog:     quiet(),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { reset(w) },
	}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			p.record(r.Host)
			p.tunnel(w, r)
			return
		}
		p.record(r.URL.Host + r.URL.RequestURI())
		forward.ServeHTTP(w, r)
	}))
	p.server.Config.ErrorLog = quiet()
	t.Cleanup(p.close)
	return p
}

// close stops the proxy; it may be called twice.
func (p *proxy) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

func (p *proxy) address() string { return p.server.Listener.Addr().String() }

func (p *proxy) record(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, what)
}

// requests lists what was asked for and contains part.
func (p *proxy) requests(part string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.seen), func(s string) bool { return !strings.Contains(s, part) })
}

// tunnel joins the client to the site's TLS port.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	target := p.site.trusted.Listener.Addr().String()
	if strings.HasPrefix(r.Host, "untrusted.") {
		target = p.site.untrusted.Listener.Addr().String()
	}
	up, err := new(net.Dialer).DialContext(r.Context(), "tcp", target)
	if err != nil {
		reset(w)
		return
	}
	defer up.Close()
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer down.Close()
	if _, err := io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(up, buffered)
		_ = up.Close()
	})
	both.Go(func() {
		_, _ = io.Copy(down, up)
		_ = down.Close()
	})
	both.Wait()
}

// reset ends a connection with RST.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // an answer has begun
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
