package drivers

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what went wrong in a driver call, and so whose fault it is.
type Kind string

// The kinds of error. The first group concerns the page or its site, the second the worker, the last the caller.
const (
	// Navigation means that the browser could not load the document; Error.Net is its net::ERR_… text.
	Navigation Kind = "navigation"
	// Download means that the address answered with a file, which was refused.
	Download Kind = "download"
	// Timeout means that ctx's deadline passed and the page still answered a probe, or none was made.
	Timeout Kind = "timeout"
	// Element means that no element matched, or none could be acted upon before the deadline.
	Element Kind = "element"
	// Script means that a script threw or its value could not be decoded.
	Script Kind = "script"
	// Cookie means that the browser refused some cookies.
	CookieRefused Kind = "cookie_refused"

	// LaunchFailed means that no browser could be started.
	LaunchFailed Kind = "launch_failed"
	// Crashed means that the page's renderer is gone.
	Crashed Kind = "crashed"
	// Unresponsive means that a deadline passed and the tab did not answer a trivial expression either.
	Unresponsive Kind = "unresponsive"
	// BrowserLost means that the browser process is gone.
	BrowserLost Kind = "browser_lost"
	// DriverLost means that the library's own process or connection is gone.
	DriverLost Kind = "driver_lost"

	// Cancelled means that ctx was cancelled: nobody's fault.
	Cancelled Kind = "cancelled"
	// PageSpent means that the page failed before and must be replaced.
	PageSpent Kind = "page_spent"
	// Closed means that the page, context or browser had been closed by us.
	Closed Kind = "closed"
	// Unsupported means that this driver cannot do what was asked.
	Unsupported Kind = "unsupported"
)

// An Error is what every method of a driver answers when it fails.
type Error struct {
	Kind Kind
	Op   string // "goto", "click", …
	What string // the URL or selector it concerned, without credentials
	Net  string // "net::ERR_…" for Navigation
	Err  error  // the cause; may be nil
}

// Error says what was done, to what, and why it failed.
func (e *Error) Error() string {
	s := e.Op
	if e.What != "" {
		s += " " + e.What
	}
	s += ": " + string(e.Kind)
	if e.Net != "" {
		s += " " + e.Net
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// WorkerFault reports whether the failure says something about this machine and nothing about the site.
func (k Kind) WorkerFault() bool {
	switch k {
	case LaunchFailed, Crashed, Unresponsive, BrowserLost, DriverLost:
		return true
	default:
		return false
	}
}

// KindOf gives the kind of err: that of the first *Error in its chain, Cancelled or Timeout for the errors of
// a context, and "" otherwise.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Cancelled
	}
	return ""
}

// ErrNoBrowser reports that no browser executable was found.
var ErrNoBrowser = fmt.Errorf("no Chromium found: install Debian's package chromium-headless-shell, or name one with browser.executable")
