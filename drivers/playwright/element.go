package playwright

import (
	"context"
	"errors"
	"time"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/script"
)

// Click clicks the middle of the element with the library's mouse.
func (p *Page) Click(ctx context.Context, selector string) error {
	const op = "click"
	at, err := p.point(ctx, op, selector, true)
	if err != nil {
		return err
	}
	return p.input(ctx, op, selector, func() error { return p.page.Mouse().Click(at.X, at.Y) })
}

// Hover moves the library's mouse over the middle of the element.
func (p *Page) Hover(ctx context.Context, selector string) error {
	const op = "hover"
	at, err := p.point(ctx, op, selector, false)
	if err != nil {
		return err
	}
	return p.input(ctx, op, selector, func() error { return p.page.Mouse().Move(at.X, at.Y) })
}

// Fill replaces the value of a field.
func (p *Page) Fill(ctx context.Context, selector, value string) error {
	_, err := p.act(ctx, "fill", selector, func(d time.Duration) string { return script.Fill(selector, value, d) })
	return err
}

// Select chooses options of a select element.
func (p *Page) Select(ctx context.Context, selector string, values ...string) error {
	_, err := p.act(ctx, "select", selector, func(d time.Duration) string { return script.Select(selector, values, d) })
	return err
}

// Press sends one key with the library's keyboard.
func (p *Page) Press(ctx context.Context, selector, key string) error {
	const op = "press"
	if selector == "" {
		if err := p.usable(op, key); err != nil {
			return err
		}
	} else if _, err := p.act(ctx, op, selector, func(d time.Duration) string { return script.Focus(selector, d) }); err != nil {
		return err
	}
	return p.input(ctx, op, selector, func() error { return p.page.Keyboard().Press(key) })
}

// Scroll scrolls to the element, or by dx, dy.
func (p *Page) Scroll(ctx context.Context, selector string, dx, dy int) error {
	_, err := p.act(ctx, "scroll", selector, func(d time.Duration) string { return script.Scroll(selector, dx, dy, d) })
	return err
}

// WaitVisible waits until the selector matches a visible element.
func (p *Page) WaitVisible(ctx context.Context, selector string) error {
	_, err := p.act(ctx, "wait", selector, func(d time.Duration) string { return script.WaitVisible(selector, d) })
	return err
}

// WaitURL waits until the page's address matches the pattern.
func (p *Page) WaitURL(ctx context.Context, pattern string) error {
	_, err := p.act(ctx, "wait url", pattern, func(d time.Duration) string { return script.WaitURL(pattern, d) })
	if e, ok := errors.AsType[*drivers.Error](err); ok && e.Kind == drivers.Element {
		e.Kind = drivers.Timeout
	}
	return err
}

// point waits for the element to be fit for the pointer.
func (p *Page) point(ctx context.Context, op, selector string, enabled bool) (script.Outcome, error) {
	return p.act(ctx, op, selector, func(d time.Duration) string { return script.Point(selector, enabled, d) })
}

// act runs a script that acts on an element, again in the next document when the one it ran in goes away.
func (p *Page) act(ctx context.Context, op, selector string, source func(time.Duration) string) (script.Outcome, error) {
	var out script.Outcome
	if err := p.usable(op, selector); err != nil {
		return out, err
	}
	err := p.persist(ctx, op, func() string { return source(script.Budget(ctx)) }, &out)
	if err != nil {
		if e, ok := errors.AsType[*drivers.Error](err); ok {
			e.What = stripUser(selector)
		}
		return out, err
	}
	if out.OK {
		return out, nil
	}
	why := errors.New(out.Reason)
	if ctx.Err() != nil || script.Budget(ctx) == time.Millisecond {
		why = errors.Join(why, context.DeadlineExceeded)
	}
	return out, &drivers.Error{Kind: drivers.Element, Op: op, What: stripUser(selector), Err: why}
}

// input sends mouse or keyboard events. What nothing else explains, the element was unfit for.
func (p *Page) input(ctx context.Context, op, what string, f func() error) error {
	if _, err := call(ctx, &p.calls, p.crashed, void(f)); err != nil {
		err = p.explain(ctx, op, what, err)
		if e, ok := errors.AsType[*drivers.Error](err); ok && e.Kind == "" {
			e.Kind = drivers.Element
		}
		return err
	}
	return nil
}
