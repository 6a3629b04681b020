// Package script holds the JavaScript that drivers run in pages: both drivers behave alike because they run the
// same scripts.
//
// Each function gives an expression to evaluate in the page's main frame. It may yield a promise, which is to be
// awaited, and its value is JSON. A new document ends a script before its promise resolves; the driver then runs
// it again in the new one, with the time that is left. A selector that is no CSS makes a script throw.
package script

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

var (
	//go:embed common.js
	common string
	//go:embed element.js
	element string
	//go:embed form.js
	form string
	//go:embed settle.js
	settle string
	//go:embed snapshot.js
	snapshot string
	//go:embed waiturl.js
	waitURL string
)

// What Snapshot cuts, beside the HTML.
const (
	maxText      = 64 << 10 // characters of visible text, as drivers.Snapshot says
	maxFrames    = 50       // frame elements; walls have one or two, pages with advertising up to 30
	maxFrameHTML = 64 << 10 // characters of each frame's HTML
)

// The defaults of drivers.SettleOptions.
const (
	DefaultQuiet = 300 * time.Millisecond
	DefaultCap   = 10 * time.Second
)

// margin is how long before the deadline of a call a script gives up by itself, so that the caller learns what it
// waited for. On a busy machine the answer itself takes a while.
const margin = 200 * time.Millisecond

// An Outcome is the value of every script that acts on an element.
type Outcome struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason"` // why not, for people
	// The middle of the element in CSS pixels of the viewport; Point alone sets it.
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Budget is how long a script may wait under ctx; 0, which scripts take for no limit, without a deadline.
func Budget(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline)-margin, time.Millisecond)
}

// Snapshot yields a drivers.Snapshot without its ErrorPage; maxBytes of 0 means DefaultSnapshotBytes.
func Snapshot(maxBytes int) string {
	if maxBytes <= 0 {
		maxBytes = drivers.DefaultSnapshotBytes
	}
	return call(snapshot, map[string]any{
		"maxBytes": maxBytes, "maxText": maxText, "maxFrames": maxFrames, "maxFrameHTML": maxFrameHTML,
	})
}

// Settle yields a drivers.Settled, at the latest after o.Cap. It fills in the defaults of o.
func Settle(o drivers.SettleOptions) string {
	if o.Quiet <= 0 {
		o.Quiet = DefaultQuiet
	}
	if o.Cap <= 0 {
		o.Cap = DefaultCap
	}
	return call(settle, map[string]any{"marker": o.Marker, "quietMs": ms(o.Quiet), "capMs": ms(o.Cap)})
}

// WaitVisible waits until the selector matches a visible element. It yields an Outcome, as all that follow do.
func WaitVisible(selector string, budget time.Duration) string {
	return act("waitVisible", map[string]any{"selector": selector, "capMs": ms(budget)})
}

// Point waits until the element is visible, still and on top, and enabled if enabled says so, scrolls it into view
// and yields its middle.
func Point(selector string, enabled bool, budget time.Duration) string {
	return act("point", map[string]any{"selector": selector, "enabled": enabled, "capMs": ms(budget)})
}

// Focus waits until the element is visible and gives it the focus.
func Focus(selector string, budget time.Duration) string {
	return act("focus", map[string]any{"selector": selector, "capMs": ms(budget)})
}

// Scroll scrolls the element into view, or the document by dx, dy when selector is empty.
func Scroll(selector string, dx, dy int, budget time.Duration) string {
	return act("scroll", map[string]any{"selector": selector, "dx": dx, "dy": dy, "capMs": ms(budget)})
}

// Fill replaces the value of a field. The value is in no Outcome.
func Fill(selector, value string, budget time.Duration) string {
	return act("fill", map[string]any{"selector": selector, "value": value, "capMs": ms(budget)})
}

// Select chooses options of a select element by value or, failing that, by label.
func Select(selector string, values []string, budget time.Duration) string {
	return act("select", map[string]any{"selector": selector, "values": append([]string{}, values...), "capMs": ms(budget)})
}

// WaitURL waits until the page's address matches the pattern, in which * stands for any characters.
func WaitURL(pattern string, budget time.Duration) string {
	return call(waitURL, map[string]any{"pattern": pattern, "capMs": ms(budget)})
}

// ReadStorage yields the localStorage of the page's origin as an object of strings.
func ReadStorage() string { return "({...localStorage})" }

// WriteStorage adds items to the localStorage of the page's origin and yields their number.
func WriteStorage(items map[string]string) string {
	return call("items => Object.entries(items).map(([k, v]) => localStorage.setItem(k, v)).length", items)
}

// act runs one of the functions that element.js and form.js define.
func act(function string, arg any) string {
	return call("arg => {\n"+strings.Join([]string{common, element, form}, "\n")+"\nreturn "+function+"(arg);\n}", arg)
}

// call makes the expression that calls function with arg.
func call(function string, arg any) string {
	// Only strings, numbers and booleans are passed, which cannot fail to encode.
	text, _ := json.Marshal(arg) //nolint:errchkjson // see above
	return "(" + strings.TrimSpace(stripComment(function)) + ")(" + string(text) + ")"
}

// stripComment removes the comment lines at the head of a file, since what follows has to be an expression.
func stripComment(js string) string {
	for strings.HasPrefix(js, "//") {
		_, js, _ = strings.Cut(js, "\n")
	}
	return js
}

func ms(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return max(1, d.Milliseconds())
}
