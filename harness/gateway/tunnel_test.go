package gateway_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/provider"
)

func TestTunnelCarriesBytesAndCountsThemExactly(t *testing.T) {
	u := newUpstream(t, echo)
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	payload := make([]byte, 3<<20+17)
	rand.Read(payload)

	b, r := connect(t, p, "shop.test:443")
	require.Equal(t, 200, r.StatusCode)
	go func() {
		b.Write(payload)
		b.CloseWrite()
	}()
	back, err := io.ReadAll(b.in)
	require.NoError(t, err)
	require.True(t, bytes.Equal(payload, back))

	got := finished(t, p)
	require.Len(t, got, 1)
	require.Empty(t, got[0].Fault)
	require.Equal(t, "shop.test:443", got[0].Target)
	require.True(t, got[0].Tunnel)
	require.Equal(t, gateway.Observation{Addr: "198.51.100.7", Country: "DE"}, got[0].Exit)
	require.Equal(t, 200, got[0].Status)
	require.Equal(t, []string{
		"accept", "parse", "gate", "dial", "connect_sent", "connect_answer", "first_up", "first_down", "close",
	}, stages(got[0]))
	require.Equal(t, u.received.Load(), got[0].Up, "as the provider counts, CONNECT included")
	require.Equal(t, u.sent.Load(), got[0].Down)
	require.Equal(t, gateway.Usage{Up: u.received.Load(), Down: u.sent.Load()}, p.Usage())
}

// FC03-06, FC09-11: the credential goes along unasked, and byte for byte.
func TestCredentialReachesTheProviderAndNobodyElse(t *testing.T) {
	u := newUpstream(t, echo)
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	b.CloseWrite()
	rest, err := io.ReadAll(b.in)
	require.NoError(t, err)
	require.Empty(t, rest)

	_, auth, _ := strings.Cut(u.lastHead(t), "Proxy-Authorization: Basic ")
	auth, _, _ = strings.Cut(auth, "\r\n")
	plain, err := base64.StdEncoding.DecodeString(auth)
	require.NoError(t, err)
	require.Equal(t, user+":"+password, string(plain))
}

func TestRefusalsLeakNoCredential(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 407 No customer-ada-session-canary1\r\nProxy-Authenticate: Basic realm=\"canary2\"\r\n\r\n",
		"HTTP/1.1 502 canary1\r\nX-Fixture-Error: canary1\r\nProxy-Status: canary1; error=dns_error\r\n\r\ncanary2",
		"canary1 canary2\r\n\r\n",
	} {
		u := newUpstream(t, say(text))
		p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
		b := dialPort(t, p)
		b.send(t, "CONNECT shop.test:443 HTTP/1.1\r\n\r\n")
		all, err := io.ReadAll(b)
		require.NoError(t, err)
		require.NotContains(t, string(all), "canary")
		require.NotContains(t, strings.ToLower(string(all)), "proxy-authenticate")
		for _, c := range finished(t, p) {
			require.NotContains(t, c.Detail, "canary")
		}
	}
}

func TestDirectTunnel(t *testing.T) {
	origin := newUpstream(t, func(v *visit) { io.WriteString(v, "hello back") })
	admitted := 0
	p := openPort(t,
		gateway.Config{AllowPrivate: loopback, Hosts: map[string]string{"Shop.test": origin.addr}},
		gateway.Grant{Route: provider.Route{Kind: provider.Direct}, Admit: func(o gateway.Observation) error {
			admitted++
			require.Equal(t, gateway.Observation{}, o)
			return nil
		}})
	b, r := connect(t, p, "shop.test:443")
	require.Equal(t, 200, r.StatusCode)
	b.send(t, "hello\r\n\r\n")
	back, err := io.ReadAll(b.in)
	require.NoError(t, err)
	require.Equal(t, "hello back", string(back))
	b.Close()
	got := finished(t, p)
	require.Equal(t, 1, admitted)
	require.Equal(t, int64(9), got[0].Up)
	require.Equal(t, int64(10), got[0].Down)
}

func TestBytesBehindTheAnswerAreTheOrigins(t *testing.T) {
	// An HTTP client would take the length at its word and swallow five bytes.
	u := newUpstream(t, say("HTTP/1.1 100 Wait\r\n\r\nHTTP/1.1 200\r\nContent-Length: 5\r\nProxy Connection: x\r\nnonsense\r\n\r\nfirst words"))
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b, r := connect(t, p, "shop.test:443")
	require.Equal(t, 200, r.StatusCode)
	text, err := io.ReadAll(b.in)
	require.NoError(t, err)
	require.Equal(t, "first words", string(text))
}

func TestBytesBehindTheRequestReachTheOrigin(t *testing.T) {
	u := newUpstream(t, echo)
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b := dialPort(t, p)
	b.send(t, "CONNECT shop.test:443 HTTP/1.1\r\n\r\nearly")
	require.Equal(t, 200, b.answer(t, "CONNECT").StatusCode)
	b.CloseWrite()
	text, err := io.ReadAll(b.in)
	require.NoError(t, err)
	require.Equal(t, "early", string(text))
}

func TestOneSideMayEndAndTheOtherGoOn(t *testing.T) {
	ended := make(chan struct{})
	u := newUpstream(t, func(v *visit) {
		io.WriteString(v, "HTTP/1.1 200 OK\r\n\r\n")
		io.ReadAll(v.in) // the browser's end arrives as an end
		close(ended)
		io.WriteString(v, "the answer")
	})
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	b.send(t, "question")
	require.NoError(t, b.CloseWrite())
	<-ended
	text, err := io.ReadAll(b.in)
	require.NoError(t, err)
	require.Equal(t, "the answer", string(text))
	require.Empty(t, finished(t, p)[0].Fault)
}

func TestRefusedExitNeverMeetsTheOrigin(t *testing.T) {
	origin := make(chan struct{}, 1)
	u := newUpstream(t, func(v *visit) {
		io.WriteString(v, "HTTP/1.1 200 OK\r\nX-Fixture-Exit-Ip: 198.51.100.7\r\nX-Fixture-Exit-Country: fr\r\n\r\n")
		if n, _ := io.Copy(io.Discard, v.in); n > 0 {
			origin <- struct{}{}
		}
	})
	for name, c := range map[string]struct {
		err   error
		class classify.Class
	}{
		"typed":   {&gateway.Refusal{Class: classify.ExitLost, Detail: "burned"}, classify.ExitLost},
		"untyped": {errors.New("wrong country FR"), classify.ExitChanged},
	} {
		t.Run(name, func(t *testing.T) {
			p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u), Admit: func(o gateway.Observation) error {
				require.Equal(t, gateway.Observation{Addr: "198.51.100.7", Country: "FR"}, o)
				return c.err
			}})
			b := dialPort(t, p)
			b.send(t, "CONNECT shop.test:443 HTTP/1.1\r\n\r\nclient hello")
			r := b.answer(t, "CONNECT")
			require.Equal(t, 502, r.StatusCode)
			require.Equal(t, "fault="+string(c.class), r.Header.Get(gateway.FaultHeader))
			got := finished(t, p)
			require.Equal(t, c.class, got[0].Fault)
			require.Equal(t, "198.51.100.7", got[0].Exit.Addr)
		})
	}
	require.Empty(t, origin)
}

func TestTunnelsRunSideBySide(t *testing.T) {
	u := newUpstream(t, echo)
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	var all sync.WaitGroup
	faults := make(chan error, 32)
	for i := range 32 {
		all.Go(func() {
			payload := bytes.Repeat([]byte{byte(i)}, 100_000+i)
			conn, err := net.Dial("tcp4", p.Addr())
			if err != nil {
				faults <- err
				return
			}
			defer conn.Close()
			io.WriteString(conn, "CONNECT shop.test:443 HTTP/1.1\r\n\r\n")
			go func() {
				conn.Write(payload)
				conn.(*net.TCPConn).CloseWrite()
			}()
			back, err := io.ReadAll(conn)
			if !bytes.HasSuffix(back, append([]byte("\r\n\r\n"), payload...)) {
				faults <- errors.Join(errors.New("bytes of another tunnel"), err)
			}
		})
	}
	all.Wait()
	require.Empty(t, faults)
	require.Len(t, finished(t, p), 32)
	require.Equal(t, gateway.Usage{Up: u.received.Load(), Down: u.sent.Load()}, p.Usage())
}
