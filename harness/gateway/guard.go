package gateway

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/limpet-dev/limpet/classify"
)

// A guard refuses private targets. A page must not reach the worker's own network, nor, through a residential exit,
// a stranger's.
type guard struct {
	allow []netip.Prefix
	hosts map[string]string // lower case
	table *ssrf.Guardian
}

// azureWireServer is public by its range, and yet the metadata service of every Azure machine.
var azureWireServer = netip.MustParsePrefix("168.63.129.16/32")

func newGuard(cfg Config) *guard {
	g := &guard{allow: cfg.AllowPrivate, hosts: make(map[string]string, len(cfg.Hosts))}
	for name, addr := range cfg.Hosts {
		g.hosts[strings.ToLower(name)] = addr
	}
	g.table = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azureWireServer))
	return g
}

// target judges a target before anything is dialled: by its name, and by its address if it is one.
func (g *guard) target(hostport string) *fault {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || host == "" {
		return denied("the target is not host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return denied("the target has no valid port")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.addr(ip)
	}
	// 127.1, 0x7f000001 and 2130706433 are addresses to a resolver, and so to some exits.
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if looksNumeric(name) {
		return denied("the target is an address in disguise")
	}
	if _, known := g.hosts[name]; known {
		return nil
	}
	switch {
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		if g.allows(netip.AddrFrom4([4]byte{127, 0, 0, 1})) {
			return nil
		}
		return denied("the target is this machine (localhost)")
	case strings.HasSuffix(name, ".local"):
		return denied("the target is in the local network (.local)")
	case !strings.Contains(name, "."):
		return denied("the target is a name without a dot, which only a local network knows")
	}
	return nil
}

// addr judges an address.
func (g *guard) addr(ip netip.Addr) *fault {
	ip = ip.Unmap().WithZone("")
	if g.allows(ip) {
		return nil
	}
	if err := g.table.SafeAddr(ip); err != nil {
		return denied(fmt.Sprintf("the target's address %s is private or reserved", ip))
	}
	return nil
}

// control judges the address that a dialler is about to connect to: after resolution, so that no name can lead
// round it.
func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return denied("the target's address cannot be read")
	}
	if f := g.addr(ap.Addr()); f != nil {
		return f
	}
	return nil
}

func (g *guard) allows(ip netip.Addr) bool {
	for _, p := range g.allow {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// looksNumeric reports whether the last label is a number, decimal or hexadecimal: no top-level domain is.
func looksNumeric(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, err := strconv.ParseUint(strings.TrimPrefix(last, "0x"), 16, 64)
	return err == nil && (strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == "")
}

func denied(why string) *fault { return &fault{class: classify.PolicyDenied, detail: why} }
