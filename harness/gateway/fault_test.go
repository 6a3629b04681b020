package gateway_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/provider"
)

const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// FC03-11: each way in which a tunnel can be refused has a class of its own.
func TestConnectRefusalsAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		upstream func(*visit)
		class    classify.Class
		status   int
		retry    bool
	}{
		"407":                 {say("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), classify.CredentialRejected, 407, false},
		"407 without a close": {func(v *visit) { say("HTTP/1.1 407 x\r\n\r\n")(v); io.ReadAll(v.in) }, classify.CredentialRejected, 407, false},
		"407 traffic":         {say("HTTP/1.1 407 TRAFFIC_EXHAUSTED\r\n\r\n"), classify.ProviderLimit, 407, false},
		"407 threads":         {say("HTTP/1.1 407 THREADS_EXHAUSTED\r\n\r\n"), classify.ProviderLimit, 407, true},
		"401":                 {say("HTTP/1.1 401 x\r\n\r\n"), classify.CredentialRejected, 401, false},
		"403":                 {say("HTTP/1.1 403 Forbidden\r\n\r\n"), classify.TunnelFailed, 403, false},
		"403 policy":          {say("HTTP/1.1 403 Forbidden\r\nx-fixture-error: policy\r\n\r\n"), classify.ProviderPolicy, 403, false},
		"429":                 {say("HTTP/1.1 429 Too Many\r\n\r\n"), classify.ProviderLimit, 429, true},
		"502":                 {say("HTTP/1.1 502 Bad Gateway\r\n\r\n"), classify.TunnelFailed, 502, false},
		"502 session":         {say("HTTP/1.1 502 Bad\r\nX-Fixture-Error: session_lost\r\n\r\n"), classify.ExitLost, 502, false},
		"503 no exit":         {say("HTTP/1.1 503 x\r\nX-Fixture-Error: no_exit\r\n\r\n"), classify.NoExit, 503, false},
		"502 target":          {say("HTTP/1.1 502 x\r\nX-Fixture-Error: target_unreachable\r\n\r\n"), classify.Connect, 502, false},
		"502 dns":             {say("HTTP/1.1 502 x\r\nProxy-Status: gw; error=dns_error\r\n\r\n"), classify.DNS, 502, false},
		"599":                 {say("HTTP/1.0 599\r\n\r\n"), classify.TunnelFailed, 599, false},
		"101":                 {say("HTTP/1.1 101 Switching\r\n\r\n"), classify.TunnelFailed, 101, false},
		"garbage":             {say("SSH-2.0-OpenSSH\r\n\r\n"), classify.TunnelFailed, 0, false},
		"endless header":      {say("HTTP/1.1 200 " + strings.Repeat("x", 40<<10)), classify.TunnelFailed, 0, false},
		"half a header":       {say("HTTP/1.1 200 OK\r\nX: y"), classify.TunnelFailed, 0, false},
		"close":               {say(""), classify.TunnelFailed, 0, false},
		"reset":               {reset, classify.TunnelFailed, 0, false},
		"silence":             {func(v *visit) { io.ReadAll(v.in) }, classify.TunnelFailed, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t, c.upstream)
			p := openPort(t, gateway.Config{AnswerTimeout: 200 * time.Millisecond}, gateway.Grant{Route: route(t, u)})
			_, r := connect(t, p, "shop.test:443")
			require.NotContains(t, []int{200, 401, 407}, r.StatusCode)
			require.Equal(t, "fault="+string(c.class), r.Header.Get(gateway.FaultHeader))
			require.Contains(t, r.Header.Get("Proxy-Status"), "limpet; error=")
			require.Empty(t, r.Header.Get("Proxy-Authenticate"))

			got := p.Take() // the evidence is there before the browser has its answer
			require.Len(t, got, 1)
			require.Equal(t, c.class, got[0].Fault, got[0].Detail)
			require.Equal(t, c.status, got[0].Status)
			require.Equal(t, c.retry, got[0].Retry)
			require.NotEmpty(t, got[0].Detail)
			require.Eventually(t, func() bool { return p.Live() == 0 }, patience, time.Millisecond)
			require.Empty(t, p.Take(), "a fault is handed out once")
			require.Equal(t, gateway.Usage{Up: u.received.Load(), Down: p.Usage().Down}, p.Usage())
		})
	}
}

// FC03-08: a fifth of the requests answered with 407 under a credential that works.
func TestRejectionOnARouteThatHasWorkedIsALimit(t *testing.T) {
	var u *upstream
	u = newUpstream(t, func(v *visit) {
		if u.visits.Load() == 2 {
			io.WriteString(v, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
			return
		}
		echo(v)
	})
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	b.Close()
	finished(t, p)
	connect(t, p, "shop.test:443")
	got := finished(t, p)
	require.Equal(t, classify.ProviderLimit, got[0].Fault)
	require.True(t, got[0].Retry)
}

func TestGatewayUnreachable(t *testing.T) {
	u := newUpstream(t, echo)
	r := route(t, u)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	r.Endpoint = l.Addr().String()
	l.Close()
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: r})
	_, answer := connect(t, p, "shop.test:443")
	require.Equal(t, http.StatusBadGateway, answer.StatusCode)
	require.Equal(t, classify.GatewayUnreachable, p.Take()[0].Fault)
}

func TestDirectDialFaults(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	closed := l.Addr().String()
	l.Close()
	noSuchName := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}}
	p := openPort(t, gateway.Config{
		AllowPrivate: loopback, Resolver: noSuchName,
		Hosts: map[string]string{"closed.test": closed, "private.test": "10.1.2.3"},
	}, gateway.Grant{Route: provider.Route{Kind: provider.Direct}})
	for target, class := range map[string]classify.Class{
		"closed.test:443":  classify.Connect,
		"nowhere.test:443": classify.DNS,
		"private.test:443": classify.PolicyDenied,
	} {
		_, r := connect(t, p, target)
		require.Equal(t, "fault="+string(class), r.Header.Get(gateway.FaultHeader), target)
		require.Equal(t, class, p.Take()[0].Fault, target)
	}
}

func TestWhoEndsATunnelAndHow(t *testing.T) {
	const hello = "\x16\x03\x01\x00\x05hello"
	read := func(v *visit) { v.in.Discard(len(hello)) }
	for name, c := range map[string]struct {
		upstream func(*visit)
		class    classify.Class
	}{
		"reset before the first byte": {func(v *visit) { say(established)(v); read(v); reset(v) }, classify.Reset},
		"close before the first byte": {func(v *visit) { say(established)(v); read(v) }, classify.Reset},
		"alert": {
			func(v *visit) { say(established)(v); read(v); say("\x15\x03\x03\x00\x02\x02\x28")(v) }, classify.TLS,
		},
		"reset after bytes both ways": {func(v *visit) { say(established)(v); read(v); say("\x16data")(v); reset(v) }, ""},
		"close after bytes both ways": {func(v *visit) { say(established)(v); read(v); say("\x16data")(v) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t, c.upstream)
			p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
			b, _ := connect(t, p, "shop.test:443")
			b.send(t, hello)
			io.ReadAll(b.in)
			got := p.Take() // there before the browser sees the end
			require.Equal(t, c.class, got[0].Fault)
			b.Close()
		})
	}
}

func TestBrowserThatLeavesIsNobodysFault(t *testing.T) {
	for name, c := range map[string]func(*visit){
		"while the provider is silent": func(v *visit) { io.ReadAll(v.in) },
		"inside the tunnel":            func(v *visit) { say(established)(v); io.ReadAll(v.in) },
		"after it spoke":               func(v *visit) { say(established)(v); v.in.Discard(1); io.ReadAll(v.in); reset(v) },
	} {
		for _, how := range []string{"end", "reset"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				called := make(chan struct{}, 1)
				u := newUpstream(t, func(v *visit) { called <- struct{}{}; c(v) })
				p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
				b := dialPort(t, p)
				b.send(t, "CONNECT shop.test:443 HTTP/1.1\r\n\r\n")
				<-called
				if name != "while the provider is silent" {
					b.answer(t, "CONNECT")
					b.send(t, "x")
				}
				if how == "reset" {
					b.SetLinger(0)
				}
				b.Close()
				got := finished(t, p) // long before AnswerTimeout and IdleTimeout
				require.Empty(t, got[0].Fault, got[0].Detail)
			})
		}
	}
}

func TestIdleTunnelEnds(t *testing.T) {
	u := newUpstream(t, func(v *visit) { say(established)(v); io.ReadAll(v.in) })
	p := openPort(t, gateway.Config{IdleTimeout: 50 * time.Millisecond}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	_, err := io.ReadAll(b.in)
	require.Error(t, err, "a reset, not a farewell")
	got := finished(t, p)
	require.Empty(t, got[0].Fault)
	require.Contains(t, got[0].Detail, "idle")
}

// The traffic of one direction keeps the other alive.
func TestOneWayTrafficIsNotIdle(t *testing.T) {
	u := newUpstream(t, func(v *visit) {
		say(established)(v)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range 20 {
			<-tick.C
			say(".")(v)
		}
	})
	p := openPort(t, gateway.Config{IdleTimeout: 150 * time.Millisecond}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	text, err := io.ReadAll(b.in)
	require.NoError(t, err)
	require.Len(t, text, 20)
}
