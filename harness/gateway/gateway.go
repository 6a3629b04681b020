package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/limpet-dev/limpet/harness/provider"
)

// A Gateway opens ports. It is safe for concurrent use.
type Gateway struct {
	cfg     Config
	guard   *guard
	dialer  *dialer
	buffers sync.Pool // *[bufferBytes]byte

	mu      sync.Mutex
	closed  bool
	ports   map[*Port]struct{}
	retired map[int]time.Time // when a port number was given up
}

// New makes a Gateway. Close ends it.
func New(cfg Config) *Gateway {
	cfg = cfg.withDefaults()
	g := newGuard(cfg)
	return &Gateway{
		cfg: cfg, guard: g, dialer: newDialer(cfg, g),
		buffers: sync.Pool{New: func() any { return new([bufferBytes]byte) }},
		ports:   map[*Port]struct{}{},
		retired: map[int]time.Time{},
	}
}

// ErrClosed reports that the gateway was closed.
var ErrClosed = errors.New("gateway is closed")

// Open opens a loopback port that carries one lease. It stays open until Close, whatever becomes of ctx.
func (g *Gateway) Open(ctx context.Context, grant Grant) (*Port, error) {
	if grant.Route.Kind == provider.Connect && grant.Route.Endpoint == "" {
		return nil, fmt.Errorf("lease %s: the route through %s has no endpoint", grant.Lease, grant.Route.Source)
	}
	l, err := g.listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("lease %s: open a loopback port: %w", grant.Lease, err)
	}
	p := newPort(g, grant, l)
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, errors.Join(ErrClosed, l.Close())
	}
	g.ports[p] = struct{}{}
	g.mu.Unlock()
	p.start(context.WithoutCancel(ctx))
	return p, nil
}

// listen takes a port number that no lease had within portCoolOff.
func (g *Gateway) listen(ctx context.Context) (*net.TCPListener, error) {
	var lc net.ListenConfig
	for {
		l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		tcp, ok := l.(*net.TCPListener)
		if !ok {
			return nil, fmt.Errorf("listener is a %T", l)
		}
		if g.fresh(portOf(tcp), time.Now()) {
			return tcp, nil
		}
		if err := tcp.Close(); err != nil {
			return nil, err
		}
	}
}

func (g *Gateway) fresh(port int, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n, at := range g.retired {
		if now.Sub(at) > portCoolOff {
			delete(g.retired, n)
		}
	}
	_, used := g.retired[port]
	return !used
}

// retire forgets a closed port.
func (g *Gateway) retire(p *Port) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.ports, p)
	g.retired[portOf(p.listener)] = time.Now()
}

// Close closes every port and waits for them. It may be called twice.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	open := make([]*Port, 0, len(g.ports))
	for p := range g.ports {
		open = append(open, p)
	}
	g.mu.Unlock()
	var faults []error
	for _, p := range open {
		faults = append(faults, p.Close())
	}
	return errors.Join(faults...)
}

func portOf(l *net.TCPListener) int {
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}
