package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/provider"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// direct opens a port that reaches origin as shop.test.
func direct(t *testing.T, origin *upstream) *gateway.Port {
	t.Helper()
	return openPort(t, gateway.Config{AllowPrivate: loopback, Hosts: map[string]string{"shop.test": origin.addr}},
		gateway.Grant{Route: provider.Route{Kind: provider.Direct}})
}

func TestPlainRequestToTheOriginKeepsItsBytes(t *testing.T) {
	origin := newUpstream(t, say(ok))
	p := direct(t, origin)
	b := dialPort(t, p)
	b.send(t, "GET http://shop.test/a%20b?q=%2F HTTP/1.1\r\nHost: shop.test\r\nuSer-AGENT:  odd  case\r\n"+
		"Proxy-Connection: keep-alive\r\nConnection: keep-alive, X-Private\r\nX-Private: 1\r\nTE: trailers\r\nZ-Last: 1\r\n"+
		"Proxy-Authorization: Basic bm8=\r\nA-First: 2\r\n\r\n")
	r := b.answer(t, "GET")
	require.Equal(t, "ok", b.body(t, r))
	require.Equal(t, "GET /a%20b?q=%2F HTTP/1.1\r\nHost: shop.test\r\nuSer-AGENT:  odd  case\r\nZ-Last: 1\r\nA-First: 2\r\n\r\n",
		origin.lastHead(t))
	got := finished(t, p)
	require.Equal(t, "shop.test:80", got[0].Target)
	require.False(t, got[0].Tunnel)
	require.Empty(t, got[0].Fault)
	require.Equal(t, gateway.Usage{Up: origin.received.Load(), Down: origin.sent.Load()}, p.Usage())
	require.Equal(t, []string{"accept", "parse", "gate", "dial", "first_up", "first_down", "close"}, stages(got[0]))
}

func TestPlainRequestThroughAProvider(t *testing.T) {
	u := newUpstream(t, say("HTTP/1.1 200 OK\r\nX-Fixture-Exit-Ip: 198.51.100.9\r\nContent-Length: 2\r\n\r\nok"))
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b := dialPort(t, p)
	b.send(t, "GET http://shop.test:8080/x HTTP/1.1\r\nHost: evil.test\r\n\r\n")
	r := b.answer(t, "GET")
	require.Equal(t, "ok", b.body(t, r))
	head := u.lastHead(t)
	require.True(t, strings.HasPrefix(head, "GET http://shop.test:8080/x HTTP/1.1\r\nHost: shop.test:8080\r\n"), head)
	require.Contains(t, head, "Proxy-Authorization: Basic ")
	require.Equal(t, "198.51.100.9", finished(t, p)[0].Exit.Addr)
}

func TestPlainBodiesAndKeepAlive(t *testing.T) {
	origin := newUpstream(t, func(v *visit) {
		switch v.target {
		case "/length":
			say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfixed")(v)
		case "/chunked":
			say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nchu\r\n4\r\nnked\r\n0\r\nT: 1\r\n\r\n")(v)
		case "/none":
			say("HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n")(v)
		case "/interim":
			say("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok)(v)
		case "/post":
			body := make([]byte, 4)
			io.ReadFull(v.in, body)
			say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))(v)
		case "/upload":
			var got strings.Builder
			for !strings.HasSuffix(got.String(), "0\r\n\r\n") {
				l, _ := v.in.ReadString('\n')
				got.WriteString(l)
			}
			say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", got.Len(), got.String()))(v)
		case "/old":
			say("HTTP/1.0 200 OK\r\n\r\nuntil the end")(v)
		}
	})
	p := direct(t, origin)
	b := dialPort(t, p)
	ask := func(method, path, fields, body string) (*http.Response, string) {
		b.send(t, method+" http://shop.test"+path+" HTTP/1.1\r\nHost: shop.test\r\n"+fields+"\r\n"+body)
		r := b.answer(t, method)
		return r, b.body(t, r)
	}
	r, body := ask("GET", "/length", "", "")
	require.Equal(t, "fixed", body)
	require.False(t, r.Close, "the origin's end is not the browser's")
	_, body = ask("GET", "/chunked", "", "")
	require.Equal(t, "chunked", body)
	_, body = ask("HEAD", "/length", "", "")
	require.Empty(t, body)
	r, _ = ask("GET", "/none", "", "")
	require.Equal(t, 304, r.StatusCode)
	_, body = ask("POST", "/post", "Content-Length: 4\r\n", "data")
	require.Equal(t, "data", body)
	_, body = ask("POST", "/upload", "Transfer-Encoding: chunked\r\n", "2\r\nab\r\n0\r\n\r\n")
	require.Equal(t, "2\r\nab\r\n0\r\n\r\n", body)

	b.send(t, "GET http://shop.test/interim HTTP/1.1\r\nHost: shop.test\r\n\r\n")
	require.Equal(t, 103, b.answer(t, "GET").StatusCode)
	require.Equal(t, "ok", b.body(t, b.answer(t, "GET")))

	r, body = ask("GET", "/old", "", "")
	require.Equal(t, "until the end", body)
	require.True(t, r.Close)
	_, err := b.in.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, finished(t, p), 8)
}

func TestPipelinedRequestsAreAnsweredInTurn(t *testing.T) {
	origin := newUpstream(t, func(v *visit) {
		say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(v.target), v.target))(v)
	})
	b := dialPort(t, direct(t, origin))
	b.send(t, "GET http://shop.test/1 HTTP/1.1\r\n\r\nGET http://shop.test/2 HTTP/1.1\r\n\r\n")
	require.Equal(t, "/1", b.body(t, b.answer(t, "GET")))
	require.Equal(t, "/2", b.body(t, b.answer(t, "GET")))
	require.Contains(t, origin.lastHead(t), "Host: shop.test\r\n")
}

func TestWebSocketOverPlainHTTP(t *testing.T) {
	u := newUpstream(t, func(v *visit) {
		say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nwelcome ")(v)
		io.Copy(v, v.in)
	})
	for name, p := range map[string]*gateway.Port{
		"direct":   direct(t, u),
		"provider": openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)}),
	} {
		t.Run(name, func(t *testing.T) {
			b := dialPort(t, p)
			b.send(t, "GET http://shop.test/ws HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			r := b.answer(t, "GET")
			require.Equal(t, 101, r.StatusCode)
			require.Equal(t, "websocket", r.Header.Get("Upgrade"))
			require.Contains(t, u.lastHead(t), "Connection: Upgrade\r\nUpgrade: websocket\r\n")
			b.send(t, "frame")
			b.CloseWrite()
			text, err := io.ReadAll(b.in)
			require.NoError(t, err)
			require.Equal(t, "welcome frame", string(text))
			require.Empty(t, finished(t, p)[0].Fault)
		})
	}
}

// FC03-13: the proxy's own failure and the site's must not be confused.
func TestPlainAnswersOfProviderAndOriginAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		class  classify.Class
		status int
	}{
		"the site's 503":     {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "", 503},
		"the site's 401":     {"HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n", "", 401},
		"the provider's 503": {"HTTP/1.1 503 x\r\nX-Fixture-Error: no_exit\r\nContent-Length: 0\r\n\r\n", classify.NoExit, 502},
		"policy":             {"HTTP/1.1 403 x\r\nX-Fixture-Error: policy\r\nContent-Length: 0\r\n\r\n", classify.ProviderPolicy, 403},
		"407":                {"HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n\r\n", classify.CredentialRejected, 502},
		"garbage":            {"what?\r\n\r\n", classify.TunnelFailed, 502},
		"no answer":          {"", classify.Reset, 502},
		"unasked upgrade":    {"HTTP/1.1 101 x\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n", classify.TunnelFailed, 502},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t, say(c.answer))
			p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
			b := dialPort(t, p)
			b.send(t, "GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\n\r\n")
			r := b.answer(t, "GET")
			require.Equal(t, c.status, r.StatusCode)
			require.Empty(t, r.Header.Get("Proxy-Authenticate"))
			text := b.body(t, r)
			require.NotContains(t, text, "canary")
			got := finished(t, p)
			require.Equal(t, c.class, got[0].Fault)
			require.Equal(t, c.class != "", r.Header.Get(gateway.FaultHeader) != "")
		})
	}
}

func TestPlainAnswerOfARefusedExitIsWithheld(t *testing.T) {
	u := newUpstream(t, say("HTTP/1.1 200 OK\r\nX-Fixture-Exit-Ip: 198.51.100.9\r\nContent-Length: 6\r\n\r\nsecret"))
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u), Admit: func(o gateway.Observation) error {
		return &gateway.Refusal{Class: classify.ExitChanged, Detail: o.Addr}
	}})
	b := dialPort(t, p)
	b.send(t, "GET http://shop.test/ HTTP/1.1\r\n\r\n")
	r := b.answer(t, "GET")
	require.Equal(t, 502, r.StatusCode)
	require.NotContains(t, b.body(t, r), "secret")
	require.Equal(t, classify.ExitChanged, finished(t, p)[0].Fault)
}

func TestBrokenAnswerIsNotPassedForTheWhole(t *testing.T) {
	origin := newUpstream(t, say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"))
	p := direct(t, origin)
	b := dialPort(t, p)
	b.send(t, "GET http://shop.test/ HTTP/1.1\r\n\r\n")
	r := b.answer(t, "GET")
	_, err := io.ReadAll(r.Body)
	require.Error(t, err)
	got := finished(t, p)
	require.Empty(t, got[0].Fault)
	require.Contains(t, got[0].Detail, "broke off")
}

func TestEarlyAnswerEndsTheUpload(t *testing.T) {
	origin := newUpstream(t, say("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"))
	p := direct(t, origin)
	b := dialPort(t, p)
	b.send(t, "POST http://shop.test/ HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nonly the start")
	require.Equal(t, 413, b.answer(t, "POST").StatusCode)
	require.Empty(t, finished(t, p)[0].Fault)
	_, err := b.in.ReadByte()
	require.Error(t, err, "the rest of the body must not be read as a request")
}

func TestBrowserLeavesWhileTheOriginThinks(t *testing.T) {
	called := make(chan struct{})
	origin := newUpstream(t, func(v *visit) { close(called); io.ReadAll(v.in) })
	p := direct(t, origin)
	b := dialPort(t, p)
	b.send(t, "GET http://shop.test/ HTTP/1.1\r\n\r\n")
	<-called
	b.Close()
	require.Empty(t, finished(t, p)[0].Fault)
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	origin := newUpstream(t, say(ok))
	p := direct(t, origin)
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n",
		"GET https://shop.test/ HTTP/1.1\r\n\r\n",
		"GET http://user:pw@shop.test/ HTTP/1.1\r\n\r\n",
		"GET http://shop.test/ HTTP/2.0\r\n\r\n",
		"GET  http://shop.test/\r\n\r\n",
		"POST http://shop.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"POST http://shop.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"POST http://shop.test/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
		"GET http://shop.test/ HTTP/1.1\r\nBad Name: x\r\n\r\n",
		"GET http://shop.test/ HTTP/1.1\r\nX: y\r\n folded\r\n\r\n",
		"GET http://shop.test/ HTTP/1.1\r\nX: " + strings.Repeat("y", 40<<10) + "\r\n\r\n",
		"CONNECT shop.test HTTP/1.1\r\n\r\n",
		"CONNECT shop.test:0 HTTP/1.1\r\n\r\n",
		"CONNECT shop.test:99999 HTTP/1.1\r\n\r\n",
	} {
		b := dialPort(t, p)
		b.send(t, text)
		r, err := http.ReadResponse(bufio.NewReader(b), nil)
		require.NoError(t, err, text)
		require.GreaterOrEqual(t, r.StatusCode, 400, text)
		b.Close()
	}
	require.Zero(t, origin.visits.Load())
}
