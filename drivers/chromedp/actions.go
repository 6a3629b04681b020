package chromedp

import (
	"context"
	"errors"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/script"
)

// act runs a script that waits for an element and acts on it.
func (p *Page) act(ctx context.Context, op, selector string, build func(time.Duration) string) (script.Outcome, error) {
	var outcome script.Outcome
	if err := p.usable(ctx, op, selector); err != nil {
		return outcome, err
	}
	if err := p.run(ctx, op, selector, script.Budget(ctx), build, &outcome); err != nil {
		if e, ok := errors.AsType[*drivers.Error](err); ok && e.Kind == drivers.Timeout {
			e.Kind = drivers.Element // the tab answers, and the element was not ready: only the reason came too late
		}
		return outcome, err
	}
	if !outcome.OK {
		return outcome, &drivers.Error{Kind: drivers.Element, Op: op, What: selector, Err: errors.New(outcome.Reason)}
	}
	return outcome, nil
}

// Click clicks the middle of an element.
func (p *Page) Click(ctx context.Context, selector string) error {
	const op = "click"
	at, err := p.act(ctx, op, selector, func(left time.Duration) string { return script.Point(selector, true, left) })
	if err != nil {
		return err
	}
	for _, event := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMouseMoved},
		{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1},
		{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1},
	} {
		event.X, event.Y = at.X, at.Y
		if _, err := command(ctx, p, input.DispatchMouseEvent, event); err != nil {
			return p.fail(ctx, op, selector, err)
		}
	}
	return nil
}

// Hover moves the pointer over an element.
func (p *Page) Hover(ctx context.Context, selector string) error {
	const op = "hover"
	at, err := p.act(ctx, op, selector, func(left time.Duration) string { return script.Point(selector, false, left) })
	if err != nil {
		return err
	}
	if _, err := command(ctx, p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at.X, Y: at.Y}); err != nil {
		return p.fail(ctx, op, selector, err)
	}
	return nil
}

// Fill replaces the value of a field.
func (p *Page) Fill(ctx context.Context, selector, value string) error {
	_, err := p.act(ctx, "fill", selector, func(left time.Duration) string { return script.Fill(selector, value, left) })
	return err
}

// Select chooses options.
func (p *Page) Select(ctx context.Context, selector string, values ...string) error {
	_, err := p.act(ctx, "select", selector, func(left time.Duration) string { return script.Select(selector, values, left) })
	return err
}

// Scroll scrolls to an element, or by a distance.
func (p *Page) Scroll(ctx context.Context, selector string, dx, dy int) error {
	_, err := p.act(ctx, "scroll", selector, func(left time.Duration) string { return script.Scroll(selector, dx, dy, left) })
	return err
}

// WaitVisible waits for an element.
func (p *Page) WaitVisible(ctx context.Context, selector string) error {
	_, err := p.act(ctx, "wait for", selector, func(left time.Duration) string { return script.WaitVisible(selector, left) })
	return err
}

// WaitURL waits for an address.
func (p *Page) WaitURL(ctx context.Context, pattern string) error {
	_, err := p.act(ctx, "wait for address", pattern, func(left time.Duration) string { return script.WaitURL(pattern, left) })
	if e, ok := errors.AsType[*drivers.Error](err); ok && e.Kind == drivers.Element {
		e.Kind = drivers.Timeout // no element is at fault
	}
	return err
}

// Press sends one key.
func (p *Page) Press(ctx context.Context, selector, key string) error {
	const op = "press"
	events, err := keyEvents(key)
	if err != nil {
		return &drivers.Error{Kind: drivers.Unsupported, Op: op, What: selector, Err: err}
	}
	if selector == "" {
		err = p.usable(ctx, op, "")
	} else {
		_, err = p.act(ctx, op, selector, func(left time.Duration) string { return script.Focus(selector, left) })
	}
	if err != nil {
		return err
	}
	for _, event := range events {
		if _, err := command(ctx, p, input.DispatchKeyEvent, *event); err != nil {
			return p.fail(ctx, op, selector, err)
		}
	}
	return nil
}
