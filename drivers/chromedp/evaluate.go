package chromedp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/script"
)

// maxThrown caps the text of what a script threw, in bytes.
const maxThrown = 1000

// Evaluate runs an expression in the main frame.
func (p *Page) Evaluate(ctx context.Context, expression string, out any) error {
	const op = "evaluate"
	if err := p.usable(ctx, op, ""); err != nil {
		return err
	}
	if err := p.evaluate(ctx, op, "", expression, out); err != nil {
		if replaced(err) {
			return &drivers.Error{Kind: drivers.Script, Op: op, Err: errors.New("the document went away")}
		}
		return p.fail(ctx, op, "", err)
	}
	return nil
}

// evaluate runs an expression once. An error for which replaced holds says that the document went away meanwhile.
func (p *Page) evaluate(ctx context.Context, op, what, expression string, out any) error {
	result, err := command(ctx, p, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, AwaitPromise: new(true), ReturnByValue: new(out != nil),
	})
	if err != nil {
		return err
	}
	if result.ExceptionDetails != nil {
		return &drivers.Error{Kind: drivers.Script, Op: op, What: what, Err: errors.New(thrown(result.ExceptionDetails))}
	}
	if out == nil || len(result.Result.Value) == 0 { // undefined
		return nil
	}
	if err := json.Unmarshal(result.Result.Value, out); err != nil {
		return &drivers.Error{Kind: drivers.Script, Op: op, What: what, Err: fmt.Errorf("decode the value: %w", err)}
	}
	return nil
}

// run evaluates a script and, when a new document takes the old one's place, again there. build is given how long
// the script may still take: what is left of budget, which is 0 for no limit.
func (p *Page) run(ctx context.Context, op, what string, budget time.Duration, build func(time.Duration) string, out any) error {
	start := time.Now()
	for {
		left := budget
		if budget > 0 {
			left = max(budget-time.Since(start), time.Millisecond)
		}
		changed := p.nav.progress("").changed
		err := p.evaluate(ctx, op, what, build(left), out)
		if err == nil {
			return nil
		}
		if !replaced(err) {
			return p.fail(ctx, op, what, err)
		}
		// The new document may have been noticed already, so the wait is short.
		again := time.NewTimer(20 * time.Millisecond)
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
		case <-p.life.Done():
		}
		again.Stop()
		if ctx.Err() != nil || p.life.Err() != nil {
			return p.fail(ctx, op, what, context.Canceled)
		}
	}
}

// Settle waits until the document holds still.
func (p *Page) Settle(ctx context.Context, o drivers.SettleOptions) (drivers.Settled, error) {
	const op = "settle"
	if err := p.usable(ctx, op, o.Marker); err != nil {
		return "", err
	}
	if o.Cap <= 0 {
		o.Cap = script.DefaultCap
	}
	var settled drivers.Settled
	err := p.run(ctx, op, o.Marker, o.Cap, func(left time.Duration) string {
		o.Cap = left
		return script.Settle(o)
	}, &settled)
	return settled, err
}

// Snapshot reads the document. It works on a spent page too.
func (p *Page) Snapshot(ctx context.Context, maxBytes int) (*drivers.Snapshot, error) {
	const op = "snapshot"
	if p.life.Err() != nil || ctx.Err() != nil {
		return nil, fault(ctx, p.life, op, "", errors.New("not started"))
	}
	var snapshot drivers.Snapshot
	if err := p.run(ctx, op, "", 0, func(time.Duration) string { return script.Snapshot(maxBytes) }, &snapshot); err != nil {
		return nil, err
	}
	snapshot.ErrorPage = strings.HasPrefix(snapshot.URL, "chrome-error://")
	return &snapshot, nil
}

// thrown is what a script threw, in words.
func thrown(e *runtime.ExceptionDetails) string {
	text := e.Text
	if e.Exception != nil {
		if said := describe(e.Exception); said != "" {
			text = said
		}
	}
	return strings.ToValidUTF8(text[:min(len(text), maxThrown)], "")
}

// describe is a value of the page as its console would show it.
func describe(o *runtime.RemoteObject) string {
	if len(o.Value) > 0 {
		var text string
		if json.Unmarshal(o.Value, &text) == nil {
			return text
		}
		return string(o.Value)
	}
	if o.Description != "" {
		return o.Description
	}
	return string(o.Type)
}
