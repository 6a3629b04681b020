package playwright

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/script"
)

// errorPage is the address of the browser's own error document.
const errorPage = "chrome-error://"

// Evaluate runs an expression in the page.
func (p *Page) Evaluate(ctx context.Context, expression string, out any) error {
	const op = "evaluate"
	if err := p.usable(op, ""); err != nil {
		return err
	}
	return p.run(ctx, op, strings.TrimRight(expression, "; \t\r\n"), out)
}

// Settle waits until the document holds still.
func (p *Page) Settle(ctx context.Context, o drivers.SettleOptions) (drivers.Settled, error) {
	const op = "settle"
	if err := p.usable(op, ""); err != nil {
		return "", err
	}
	if o.Cap <= 0 {
		o.Cap = script.DefaultCap
	}
	limited, cancel := context.WithTimeout(ctx, o.Cap)
	defer cancel()
	var settled drivers.Settled
	err := p.persist(limited, op, func() string { return script.Settle(o) }, &settled)
	if err != nil && ctx.Err() == nil && limited.Err() != nil && drivers.KindOf(err) == drivers.Timeout {
		return drivers.SettledCap, nil
	}
	return settled, err
}

// Snapshot reads the settled DOM.
func (p *Page) Snapshot(ctx context.Context, maxBytes int) (*drivers.Snapshot, error) {
	const op = "snapshot"
	if err := p.usable(op, ""); err != nil && drivers.KindOf(err) != drivers.PageSpent {
		return nil, err
	}
	s := &drivers.Snapshot{}
	if err := p.persist(ctx, op, func() string { return script.Snapshot(maxBytes) }, s); err != nil {
		return nil, err
	}
	s.ErrorPage = strings.HasPrefix(s.URL, errorPage)
	return s, nil
}

// persist runs a script again in the next document when the one it ran in goes away.
func (p *Page) persist(ctx context.Context, op string, source func() string, out any) error {
	for {
		err := p.run(ctx, op, source(), out)
		if !errors.Is(err, errDocumentGone) || ctx.Err() != nil {
			return err
		}
	}
}

// errDocumentGone reports that a navigation took the document away under a script.
var errDocumentGone = errors.New("the document went away")

// run evaluates an expression, awaits it, and decodes its JSON value into out. The page itself makes the JSON: the
// library's own encoding has values that JSON has not.
func (p *Page) run(ctx context.Context, op, expression string, out any) error {
	source := "(async () => JSON.stringify(await (\n" + expression + "\n)))()"
	if out == nil {
		source = "(async () => { await (\n" + expression + "\n) })()"
	}
	value, err := call(ctx, &p.calls, p.crashed, func() (any, error) { return p.page.Evaluate(source) })
	if err != nil {
		return p.explainScript(ctx, op, err)
	}
	if out == nil {
		return nil
	}
	text, ok := value.(string)
	if !ok {
		text = "null" // undefined has no JSON
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		return &drivers.Error{Kind: drivers.Script, Op: op, Err: fmt.Errorf("decode the value: %w", err)}
	}
	return nil
}

// explainScript makes the error of a script. What nothing else explains, the script threw.
func (p *Page) explainScript(ctx context.Context, op string, err error) error {
	err = p.explain(ctx, op, "", err)
	if e, ok := errors.AsType[*drivers.Error](err); ok && e.Kind == "" {
		e.Kind = drivers.Script
	}
	return err
}
