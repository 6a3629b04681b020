package gateway

import (
	"bufio"
	"context"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/provider"
)

// tunnel serves a CONNECT. The browser is answered 200 only when the whole way stands and the exit is admitted:
// until then nothing of the browser's has left.
func (c *client) tunnel(ctx context.Context, r *record, h *head) {
	c.port.begin(r)
	defer c.port.finish(ctx, r)
	defer c.detach()
	stop := c.watch()
	m, in, f := c.open(ctx, r, h.target)
	stop()
	if f != nil {
		c.refuse(r, f)
		return
	}
	c.bound(headTimeout)
	if _, err := c.conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	c.relay(r, m, in)
}

// open makes the upstream leg of a tunnel, and answers what the origin has sent already.
func (c *client) open(ctx context.Context, r *record, target string) (*meter, *bufio.Reader, *fault) {
	if f := c.gate(r, target); f != nil {
		return nil, nil, f
	}
	route := c.port.grant.Route
	if route.Kind == provider.Direct {
		// Nothing about the exit will be learned, so the question comes first and costs the origin nothing.
		if f := c.admit(Observation{}); f != nil {
			return nil, nil, f
		}
		m, f := c.dial(ctx, r, target)
		if f != nil {
			return nil, nil, f
		}
		return m, bufio.NewReaderSize(m, 1), nil
	}
	m, f := c.dial(ctx, r, target)
	if f != nil {
		return nil, nil, f
	}
	m.quiet = true
	m.deadline(c.port.gw.cfg.AnswerTimeout)
	in := bufio.NewReader(m)
	answer, f := connect(m, in, r, route, target)
	if f != nil {
		if f.class == classify.CredentialRejected && c.port.worked.Load() {
			f = c.degraded(answer)
		}
		return nil, nil, f
	}
	m.deadline(0)
	m.quiet = false
	if f := c.admit(exitOf(answer, route)); f != nil {
		return nil, nil, f
	}
	c.port.worked.Store(true)
	return m, in, nil
}

// admit asks the lease's owner.
func (c *client) admit(o Observation) *fault {
	if c.port.grant.Admit == nil {
		return nil
	}
	if err := c.port.grant.Admit(o); err != nil {
		return refusalOf(err)
	}
	return nil
}

// degraded reads a rejection again on a route that has worked.
func (c *client) degraded(answer *head) *fault {
	return faultOf(c.port.grant.Route.Errors.Connect(replyOf(answer)).AfterSuccess(), answer.status)
}

func faultOf(f provider.Fault, status int) *fault {
	return &fault{class: f.Class, detail: f.Detail, status: status, retry: f.Retry}
}
