package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/identity"
)

// ports opens a gateway port for each session and keeps it together with the lease that uses it now.
type ports struct {
	gw     *gateway.Gateway
	routes *Routes
	sched  *scheduler.Scheduler

	mu     sync.Mutex
	leases map[string]scheduler.Lease // offered, by id, until Bind or withdraw
}

// offer makes a lease known to Bind, which is told its id alone.
func (p *ports) offer(l scheduler.Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leases[l.ID] = l
}

func (p *ports) withdraw(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.leases, id)
}

// Bind opens the port of an offered lease.
func (p *ports) Bind(ctx context.Context, g identity.Grant) (identity.Port, error) {
	p.mu.Lock()
	l, ok := p.leases[g.Lease]
	p.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("lease %s was not offered: %w", g.Lease, identity.ErrBindingMismatch)
	}
	route, err := p.routes.Route(l)
	if err != nil {
		return nil, err
	}
	b := &boundPort{sched: p.sched, lease: l}
	b.Port, err = p.gw.Open(ctx, gateway.Grant{Lease: l.ID, Route: route, Admit: b.admit})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// A boundPort is a gateway port with the lease that it serves at the moment.
type boundPort struct {
	*gateway.Port
	sched *scheduler.Scheduler

	mu     sync.Mutex
	lease  scheduler.Lease
	burned error // why the exit must not meet the origin; nil while it may
	base   gateway.Usage
}

// begin makes l the lease that the port serves, with a fresh account.
func (b *boundPort) begin(l scheduler.Lease) {
	b.mu.Lock()
	b.lease, b.burned, b.base = l, nil, b.Usage()
	b.mu.Unlock()
	b.SetBudget(l.BytesLeft)
	b.Take() // evidence of an earlier attempt
}

// spent is what the port carried since begin.
func (b *boundPort) spent() gateway.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.Usage()
	return gateway.Usage{Up: u.Up - b.base.Up, Down: u.Down - b.base.Down}
}

// refused is why the exit was turned down before the origin saw a byte; nil if it was not.
func (b *boundPort) refused() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.burned
}

// refusalClass is why the scheduler lets nothing leave by the exit any more.
func refusalClass(err error) classify.Class {
	stopped, ok := errors.AsType[*scheduler.StoppedError](err)
	switch {
	case !ok:
		return classify.ExitChanged
	case stopped.Domain == scheduler.DomainAccount:
		return classify.ProviderLimit
	default:
		return classify.CredentialRejected
	}
}

// admit is asked by the gateway when the exit's address is known. It runs on the connection's goroutine.
func (b *boundPort) admit(o gateway.Observation) error {
	b.mu.Lock()
	l := b.lease
	b.mu.Unlock()
	err := b.sched.Observe(l, o.Addr, o.Country)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*scheduler.BurnedError](err); ok {
		b.mu.Lock()
		b.burned = err
		b.mu.Unlock()
	}
	return &gateway.Refusal{Class: refusalClass(err), Detail: err.Error()}
}
