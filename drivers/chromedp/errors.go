package chromedp

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/chromedp/cdproto"
	lib "github.com/chromedp/chromedp"

	"github.com/limpet-dev/limpet/drivers"
)

// An end is why a page, a context or a browser can do nothing any more. It is the cause of their lives' contexts.
type end struct {
	kind drivers.Kind
	why  error // may be nil
}

// Error satisfies error.
func (e *end) Error() string {
	if e.why != nil {
		return e.why.Error()
	}
	return string(e.kind)
}

var (
	errClosed  = &end{kind: drivers.Closed}
	errCrashed = &end{kind: drivers.Crashed, why: errors.New("the page's renderer is gone")}
)

const (
	// notice is how long a failed call waits to learn whether its page or browser is gone: the loss of the
	// connection is noticed by several goroutines, in no order.
	notice = 2 * time.Second
	// probeTime is how long a tab has to answer a trivial expression after a deadline. A tab that can answer
	// does so within 50 ms even on a machine whose processors are all busy.
	probeTime = 2 * time.Second
)

// fault translates an error of a call under ctx, made on behalf of what lives as long as life.
func fault(ctx, life context.Context, op, what string, err error) *drivers.Error {
	if e, ok := errors.AsType[*drivers.Error](err); ok {
		return e
	}
	out := &drivers.Error{Op: op, What: what}
	if life.Err() == nil && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, lib.ErrTargetDetached)) {
		// The library ends calls so when the browser or the tab is gone.
		wait, cancel := context.WithTimeout(ctx, notice)
		defer cancel()
		select {
		case <-life.Done():
		case <-wait.Done():
			if ctx.Err() == nil {
				out.Kind, out.Err = drivers.Closed, errors.New("the page closed itself")
				return out
			}
		}
	}
	if why, ok := errors.AsType[*end](context.Cause(life)); ok {
		out.Kind, out.Err = why.kind, why.why
		return out
	}
	if cause := context.Cause(ctx); cause != nil {
		out.Kind, out.Err = drivers.Cancelled, cause
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			out.Kind = drivers.Timeout
		}
		return out
	}
	// What is left is a refusal of the protocol, which says what is wrong with the request.
	out.Kind, out.Err = drivers.Unsupported, err
	return out
}

// replaced reports whether a script ended because its document did. The texts are those of V8's inspector and of
// Chromium's DevTools in version 156.
func replaced(err error) bool {
	var refusal *cdproto.Error
	if !errors.As(err, &refusal) {
		return false
	}
	for _, text := range []string{
		"Inspected target navigated or closed", "Execution context was destroyed", "Promise was collected",
		"Cannot find default execution context", "Cannot find context with specified id",
	} {
		if strings.Contains(refusal.Message, text) {
			return true
		}
	}
	return false
}

var userInfo = regexp.MustCompile(`://[^/\s@]*@`)

// clean is an address without credentials.
func clean(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return userInfo.ReplaceAllString(address, "://")
}
