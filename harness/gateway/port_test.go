package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/provider"
)

func TestBudgetCutsEverythingAndOvershootsByABufferAtMost(t *testing.T) {
	const budget = 300_000
	begin := make(chan struct{})
	u := newUpstream(t, func(v *visit) {
		say(established)(v)
		<-begin
		block := make([]byte, 1<<20)
		for {
			if _, err := v.Write(block); err != nil {
				return
			}
		}
	})
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	p.SetBudget(budget)
	b, _ := connect(t, p, "shop.test:443")
	idle, _ := connect(t, p, "shop.test:443")
	go io.Copy(io.Discard, idle)
	close(begin)
	_, err := io.Copy(io.Discard, b.in)
	require.Error(t, err, "cut, not ended")

	got := finished(t, p)
	require.Len(t, got, 2)
	for _, c := range got {
		require.Equal(t, classify.BudgetExhausted, c.Fault)
	}
	used := p.Usage()
	require.GreaterOrEqual(t, used.Up+used.Down, int64(budget))
	require.LessOrEqual(t, used.Up+used.Down, int64(budget+2*32<<10))

	_, r := connect(t, p, "shop.test:443")
	require.Equal(t, 403, r.StatusCode)
	require.Equal(t, classify.BudgetExhausted, p.Take()[0].Fault)
	require.EqualValues(t, 2, u.visits.Load())

	p.SetBudget(-1)
	_, r = connect(t, p, "shop.test:443")
	require.Equal(t, 200, r.StatusCode)
}

func TestOneStreamEndsExactlyAtItsBudget(t *testing.T) {
	const budget = 100_001
	u := newUpstream(t, func(v *visit) { say(established + strings.Repeat("x", 1<<20))(v) })
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	p.SetBudget(budget)
	b, _ := connect(t, p, "shop.test:443")
	io.Copy(io.Discard, b.in)
	finished(t, p)
	require.EqualValues(t, budget, p.Usage().Up+p.Usage().Down)
}

func TestUsageIsLive(t *testing.T) {
	u := newUpstream(t, echo)
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	before := p.Usage()
	b.send(t, "12345")
	io.ReadFull(b.in, make([]byte, 5))
	require.Equal(t, gateway.Usage{Up: before.Up + 5, Down: before.Down + 5}, p.Usage())
	require.Equal(t, 1, p.Live())
	got := p.Take()
	require.Len(t, got, 1, "a running connection is evidence too")
	require.Equal(t, "198.51.100.7", got[0].Exit.Addr)
	require.Equal(t, gateway.Usage{Up: got[0].Up, Down: got[0].Down}, p.Usage())
	require.Len(t, p.Take(), 1)
}

func TestTakeForgetsAndIsBounded(t *testing.T) {
	origin := newUpstream(t, say(ok))
	p := direct(t, origin)
	b := dialPort(t, p)
	for i := range 300 {
		b.send(t, fmt.Sprintf("GET http://shop.test/%d HTTP/1.1\r\n\r\n", i))
		b.body(t, b.answer(t, "GET"))
	}
	got := finished(t, p)
	require.Len(t, got, 256)
	for i := 1; i < len(got); i++ {
		require.False(t, got[i].Started.Before(got[i-1].Started))
	}
	require.Empty(t, p.Take())
}

// FC03-01: after the end of a lease nothing runs on in its tunnels.
func TestCloseResetsBothLegsAndRefusesTheRest(t *testing.T) {
	over := make(chan error, 1)
	u := newUpstream(t, func(v *visit) {
		say(established)(v)
		_, err := io.Copy(io.Discard, v.in)
		over <- err
	})
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	b.send(t, "x")
	waiting := dialPort(t, p) // has not asked for anything yet
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	require.ErrorContains(t, <-over, "reset")
	_, err := b.in.ReadByte()
	require.ErrorContains(t, err, "reset")
	_, err = waiting.in.ReadByte()
	require.Error(t, err)
	_, err = net.Dial("tcp4", p.Addr())
	require.ErrorContains(t, err, "refused")
	require.Zero(t, p.Live())
	require.Empty(t, p.Take()[0].Fault, "a revoked lease is nobody's failure")
}

func TestCloseEndsAWaitForAnAnswer(t *testing.T) {
	u := newUpstream(t, func(v *visit) { io.ReadAll(v.in) })
	p := openPort(t, gateway.Config{AnswerTimeout: time.Hour}, gateway.Grant{Route: route(t, u)})
	b := dialPort(t, p)
	b.send(t, "CONNECT shop.test:443 HTTP/1.1\r\n\r\n")
	require.Eventually(t, func() bool { return u.visits.Load() == 1 }, patience, time.Millisecond)
	started := time.Now()
	require.NoError(t, p.Close())
	require.Less(t, time.Since(started), patience)
}

func TestCloseTunnelsKeepsThePort(t *testing.T) {
	u := newUpstream(t, echo)
	p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
	b, _ := connect(t, p, "shop.test:443")
	p.CloseTunnels()
	_, err := b.in.ReadByte()
	require.ErrorContains(t, err, "reset")
	finished(t, p)
	_, r := connect(t, p, "shop.test:443")
	require.Equal(t, 200, r.StatusCode)
}

func TestConnectionCap(t *testing.T) {
	u := newUpstream(t, echo)
	p := openPort(t, gateway.Config{MaxConnections: 2}, gateway.Grant{Route: route(t, u)})
	for range 2 {
		_, r := connect(t, p, "shop.test:443")
		require.Equal(t, 200, r.StatusCode)
	}
	_, r := connect(t, p, "shop.test:443")
	require.Equal(t, 403, r.StatusCode)
	require.EqualValues(t, 2, u.visits.Load())
}

func TestPortsAreApart(t *testing.T) {
	u := newUpstream(t, echo)
	g := gateway.New(gateway.Config{})
	a, err := g.Open(t.Context(), gateway.Grant{Lease: "a", Route: route(t, u)})
	require.NoError(t, err)
	b, err := g.Open(t.Context(), gateway.Grant{Lease: "b", Route: route(t, u)})
	require.NoError(t, err)
	require.NotEqual(t, a.Addr(), b.Addr())
	connect(t, a, "shop.test:443")
	require.NotZero(t, a.Usage().Up)
	require.Zero(t, b.Usage())
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	_, err = g.Open(t.Context(), gateway.Grant{Lease: "c", Route: route(t, u)})
	require.ErrorIs(t, err, gateway.ErrClosed)
	_, err = gateway.New(gateway.Config{}).Open(t.Context(), gateway.Grant{Route: provider.Route{Kind: provider.Connect}})
	require.ErrorContains(t, err, "no endpoint")
}

func TestPrivateTargetsAreRefusedOnEveryRoute(t *testing.T) {
	u := newUpstream(t, echo)
	targets := []string{
		"127.0.0.1:80", "127.8.8.8:443", "[::1]:443", "[::ffff:127.0.0.1]:443", "10.0.0.1:443", "192.168.1.1:80",
		"172.16.0.1:80", "100.64.0.1:80", "169.254.169.254:80", "[fd00:ec2::254]:80", "[fe80::1%25eth0]:80", "0.0.0.0:80",
		"168.63.129.16:80", "224.0.0.1:80", "[64:ff9b::7f00:1]:80", "localhost:80", "LOCALHOST.:80", "app.localhost:80",
		"printer.local:80", "router:80", "2130706433:80", "0x7f000001:80", "127.1:80", "0x7f.1:80",
	}
	for name, r := range map[string]provider.Route{"provider": route(t, u), "direct": {Kind: provider.Direct}} {
		t.Run(name, func(t *testing.T) {
			p := openPort(t, gateway.Config{}, gateway.Grant{Route: r})
			for _, target := range targets {
				_, answer := connect(t, p, target)
				require.Equal(t, 403, answer.StatusCode, target)
				got := p.Take()
				require.Equal(t, classify.PolicyDenied, got[len(got)-1].Fault, target)
			}
			b := dialPort(t, p)
			b.send(t, "GET http://127.0.0.1/ HTTP/1.1\r\n\r\n")
			require.Equal(t, 403, b.answer(t, "GET").StatusCode)
		})
	}
	require.Zero(t, u.visits.Load())

	p := openPort(t, gateway.Config{AllowPrivate: append(loopback, netip.MustParsePrefix("10.0.0.0/8"))},
		gateway.Grant{Route: route(t, u)})
	for _, target := range []string{"localhost:80", "127.0.0.1:80", "10.0.0.1:443", "example.com:443", "1.1.1.1:443"} {
		_, answer := connect(t, p, target)
		require.Equal(t, 200, answer.StatusCode, target)
	}
}

func BenchmarkRelay(b *testing.B) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	block := bytes.Repeat([]byte{1}, 1<<20)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for {
					if _, err := conn.Write(block); err != nil {
						return
					}
				}
			}()
		}
	}()
	g := gateway.New(gateway.Config{AllowPrivate: loopback, Hosts: map[string]string{"shop.test": l.Addr().String()}})
	defer g.Close()
	p, err := g.Open(b.Context(), gateway.Grant{Route: provider.Route{Kind: provider.Direct}})
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.Dial("tcp4", p.Addr())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "CONNECT shop.test:443 HTTP/1.1\r\n\r\n")
	io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n")))
	b.SetBytes(1 << 20)
	buf := make([]byte, 1<<20)
	for b.Loop() {
		if _, err := io.ReadFull(conn, buf); err != nil {
			b.Fatal(err)
		}
	}
}
