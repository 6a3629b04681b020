package gateway

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/telemetry"
)

// A Port is one loopback address that carries one lease. It is safe for concurrent use.
type Port struct {
	gw       *Gateway
	grant    Grant
	listener *net.TCPListener
	log      *slog.Logger
	cancel   context.CancelFunc
	running  sync.WaitGroup // the accept loop and every client
	shut     sync.Once
	closeErr error

	up, down atomic.Int64
	limit    atomic.Int64 // of up + down; math.MaxInt64 means none
	worked   atomic.Bool  // the route has carried traffic: a later 407 is a limit, not a wrong credential

	mu      sync.Mutex
	closed  bool
	clients map[*client]struct{}
	live    map[*record]struct{}
	ring    []*record // finished, oldest first, at most ringSize
}

func newPort(g *Gateway, grant Grant, l *net.TCPListener) *Port {
	p := &Port{
		gw: g, grant: grant, listener: l, clients: map[*client]struct{}{}, live: map[*record]struct{}{},
		log: g.cfg.Logger.With(slog.String(telemetry.KeyLease, grant.Lease)),
	}
	p.limit.Store(math.MaxInt64)
	return p
}

// start begins to accept. ctx carries values only: Close ends the port.
func (p *Port) start(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.running.Go(func() { p.accept(ctx) })
}

func (p *Port) accept(ctx context.Context) {
	for {
		conn, err := p.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of file descriptors, or a peer that left at once
			p.log.LogAttrs(ctx, slog.LevelWarn, "accept failed", slog.Any(telemetry.KeyError, err))
			if !pause(ctx) {
				return
			}
			continue
		}
		c := newClient(p, conn)
		if !p.add(c) {
			c.reset()
			return
		}
		p.running.Go(func() {
			defer p.remove(c)
			c.serve(ctx)
		})
	}
}

// pause waits before the next accept, so that running out of descriptors does not spin. It reports whether to go on.
func pause(ctx context.Context) bool {
	t := time.NewTimer(50 * time.Millisecond) // net/http backs off from 5 ms to 1 s
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Addr is the host:port that the browser is given as its proxy.
func (p *Port) Addr() string { return p.listener.Addr().String() }

// Usage is what the port has carried since it was opened. It is exact at any moment.
func (p *Port) Usage() Usage { return Usage{Up: p.up.Load(), Down: p.down.Load()} }

// Live is how many tunnels and requests run now.
func (p *Port) Live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.live)
}

// SetBudget allows bytesLeft more bytes, both directions together; negative means no limit. When they are spent
// every connection is cut, with at most one buffer (32 KiB) a connection above the limit, and new ones are refused.
func (p *Port) SetBudget(bytesLeft int64) {
	if bytesLeft < 0 {
		p.limit.Store(math.MaxInt64)
		return
	}
	used := p.up.Load() + p.down.Load()
	p.limit.Store(used + min(bytesLeft, math.MaxInt64-used))
	if bytesLeft == 0 {
		p.cutSpent()
	}
}

// left is how many bytes may still be carried.
func (p *Port) left() int64 { return p.limit.Load() - p.up.Load() - p.down.Load() }

// cutSpent ends everything that runs, because the budget is used up.
func (p *Port) cutSpent() {
	p.mu.Lock()
	for r := range p.live {
		r.fail(spentFault())
	}
	p.mu.Unlock()
	p.CloseTunnels()
}

func spentFault() *fault {
	return &fault{class: classify.BudgetExhausted, detail: errSpent.Error()}
}

// Take hands out the evidence since the last Take in the order in which connections started, and forgets it. A
// connection that still runs is in it as it stands, with its bytes so far, and will be again; evidence of a fault
// is handed out once. A fault is here before the browser can see it. Of more than 256 finished connections the
// oldest are lost.
func (p *Port) Take() []Connection {
	p.mu.Lock()
	records := slices.Clone(p.ring)
	p.ring = p.ring[:0]
	for r := range p.live {
		records = append(records, r)
	}
	p.mu.Unlock()
	out := make([]Connection, 0, len(records))
	for _, r := range records {
		if c, fresh := r.take(); fresh {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Connection) int { return a.Started.Compare(b.Started) })
	return out
}

// CloseTunnels resets every connection and keeps the port open.
func (p *Port) CloseTunnels() {
	p.mu.Lock()
	clients := make([]*client, 0, len(p.clients))
	for c := range p.clients {
		clients = append(clients, c)
	}
	p.mu.Unlock()
	for _, c := range clients {
		c.reset()
	}
}

// Close resets every connection on both legs, frees the port and waits for its goroutines. From then on the
// browser's connections are refused: nothing takes the port's place. It may be called twice.
func (p *Port) Close() error {
	p.shut.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.cancel()
		p.closeErr = p.listener.Close()
		p.CloseTunnels()
		p.running.Wait()
		p.gw.retire(p)
	})
	p.running.Wait()
	return p.closeErr
}

// add makes c known to Close; false if it came too late.
func (p *Port) add(c *client) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.clients[c] = struct{}{}
	return true
}

func (p *Port) remove(c *client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.clients, c)
}

// begin starts the evidence of one connection.
func (p *Port) begin(r *record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[r] = struct{}{}
}

// finish files the evidence of one connection.
func (p *Port) finish(ctx context.Context, r *record) {
	r.reach(stageClose)
	p.mu.Lock()
	delete(p.live, r)
	if len(p.ring) == ringSize {
		p.ring = slices.Delete(p.ring, 0, 1)
	}
	p.ring = append(p.ring, r)
	p.mu.Unlock()
	if !p.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	c := r.snapshot()
	p.log.LogAttrs(ctx, slog.LevelDebug, "connection ended", slog.String(telemetry.KeyTarget, c.Target),
		slog.String(telemetry.KeyFault, string(c.Fault)), slog.Int64(telemetry.KeyBytesUp, c.Up),
		slog.Int64(telemetry.KeyBytesDown, c.Down))
}
