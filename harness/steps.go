package harness

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/jobfile"
)

// step takes one step within its own time.
func (v *visit) step(ctx context.Context, st jobfile.Step) error {
	limit := st.Timeout
	if limit == 0 {
		limit = stepTimeout
		if st.Verb == jobfile.Goto {
			limit = gotoTimeout
		}
	}
	if st.Verb == jobfile.Wait && st.For > 0 {
		limit += st.For
	}
	if st.Verb == jobfile.Paginate {
		limit *= time.Duration(max(st.Max, 1))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if st.Effect {
		v.saw.effect = true
	}
	v.saw.snapshot = nil // of before the step
	switch st.Verb {
	case jobfile.Goto:
		return v.goTo(ctx, st.URL)
	case jobfile.Click:
		return v.patiently(ctx, func(ctx context.Context) error { return v.page.Click(ctx, st.Selector) })
	case jobfile.Fill:
		return v.patiently(ctx, func(ctx context.Context) error { return v.page.Fill(ctx, st.Selector, st.Value) })
	case jobfile.Select:
		return v.patiently(ctx, func(ctx context.Context) error { return v.page.Select(ctx, st.Selector, st.Values...) })
	case jobfile.Press:
		return v.patiently(ctx, func(ctx context.Context) error { return v.page.Press(ctx, st.Selector, st.Key) })
	case jobfile.Scroll:
		return v.page.Scroll(ctx, st.Selector, st.DX, st.DY)
	case jobfile.Wait:
		return v.waitFor(ctx, st)
	case jobfile.Evaluate:
		return v.page.Evaluate(ctx, st.Script, nil)
	case jobfile.Extract:
		return v.extract(ctx, st)
	case jobfile.Paginate:
		return v.paginate(ctx, st)
	case jobfile.Screenshot:
		return v.screenshot(ctx, st)
	case jobfile.Boundary:
		return nil // where a rotation would be allowed; nothing to do on the page
	default:
		return &drivers.Error{Kind: drivers.Unsupported, Op: string(st.Verb)}
	}
}

// goTo navigates. An answer that is an error by its status is looked at before anything is tried on it.
func (v *visit) goTo(ctx context.Context, address string) error {
	v.saw.requested = address
	if v.may != nil && !v.may(ctx, address) {
		v.saw.denied = "robots.txt disallows " + address
		return errStopped
	}
	resp, err := v.page.Goto(ctx, address)
	v.saw.response = resp
	if err != nil {
		return err
	}
	if resp != nil && resp.Status >= 400 {
		return v.checkpoint(ctx)
	}
	return nil
}

// patiently tries act for a moment, then looks at the page, and goes on trying only if it is no wall.
func (v *visit) patiently(ctx context.Context, act func(context.Context) error) error {
	first, cancel := context.WithTimeout(ctx, patience)
	err := act(first)
	cancel()
	if k := drivers.KindOf(err); k != drivers.Element && k != drivers.Timeout || ctx.Err() != nil {
		return err
	}
	if err := v.checkpoint(ctx); err != nil {
		return err
	}
	return act(ctx)
}

func (v *visit) waitFor(ctx context.Context, st jobfile.Step) error {
	switch {
	case st.For > 0:
		return pause(ctx, st.For)
	case st.Idle:
		_, err := v.page.Settle(ctx, drivers.SettleOptions{})
		return err
	case st.URL != "":
		return v.page.WaitURL(ctx, st.URL)
	default:
		return v.patiently(ctx, func(ctx context.Context) error { return v.page.WaitVisible(ctx, st.Selector) })
	}
}

// extract takes records from the page as it is now.
func (v *visit) extract(ctx context.Context, st jobfile.Step) error {
	spec := st.Records
	if spec == nil {
		spec = v.job.Expect.Records
	}
	if spec == nil {
		return &drivers.Error{Kind: drivers.Script, Op: "extract", Err: fmt.Errorf("neither the step nor expect.records says what to extract")}
	}
	if err := v.settle(ctx, 0); err != nil {
		return err
	}
	records, err := v.records(ctx, *spec)
	if err != nil {
		return err
	}
	v.saw.extracted = append(v.saw.extracted, records...)
	return nil
}

func (v *visit) records(ctx context.Context, spec classify.RecordsSpec) ([]classify.Record, error) {
	s, err := v.page.Snapshot(ctx, 0)
	if err != nil {
		return nil, err
	}
	records, err := classify.Extract(s.HTML, s.URL, spec)
	if err != nil {
		return nil, &drivers.Error{Kind: drivers.Script, Op: "extract", Err: err}
	}
	return records, nil
}

// paginate takes the records of every page but the last, which the verdict is given on. The list ends where
// the next link is missing, and at st.Max pages.
func (v *visit) paginate(ctx context.Context, st jobfile.Step) error {
	if v.job.Expect.Records == nil {
		return &drivers.Error{Kind: drivers.Script, Op: "paginate", Err: fmt.Errorf("expect.records does not say what to extract")}
	}
	spec := *v.job.Expect.Records
	if err := v.rest(ctx); err != nil {
		return err
	}
	for n := 1; n < st.Max; n++ {
		var more bool
		if err := v.page.Evaluate(ctx, fmt.Sprintf("document.querySelector(%q) !== null", st.Selector), &more); err != nil {
			return err
		}
		if !more {
			return nil
		}
		records, err := v.records(ctx, spec)
		if err != nil {
			return err
		}
		if err := v.page.Click(ctx, st.Selector); err != nil {
			return err
		}
		if err := v.turned(ctx, spec, records); err != nil {
			return err
		}
		v.saw.extracted = append(v.saw.extracted, records...)
	}
	return nil
}

// turned waits until the page shows other records than before: a click alone says nothing of when the next
// page is there.
func (v *visit) turned(ctx context.Context, spec classify.RecordsSpec, before []classify.Record) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	for {
		if err := v.settle(ctx, 0); err != nil {
			return err
		}
		now, err := v.records(ctx, spec)
		if err == nil && len(now) > 0 && !reflect.DeepEqual(now, before) {
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return &drivers.Error{Kind: drivers.Element, Op: "paginate", Err: fmt.Errorf("the next link did not bring other records: %w", err)}
		}
	}
}

// screenshot keeps a picture in the trace. It is best effort: a font that never loads must not cost a record.
func (v *visit) screenshot(ctx context.Context, st jobfile.Step) error {
	ctx, cancel := context.WithTimeout(ctx, shotTimeout)
	defer cancel()
	png, err := v.page.Screenshot(ctx, st.Full)
	if err != nil {
		v.rec.Log("screenshot " + st.Name + ": " + err.Error())
		return nil
	}
	v.rec.AttachScreenshot(st.Name, "image/png", png)
	return nil
}
