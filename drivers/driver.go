// Package drivers is the contract between Limpet and a browser: Driver, Browser, Context and Page.
//
// An implementation lives in a package of its own (drivers/chromedp, drivers/playwright), imports its
// browser library alone, and passes the conformance suite drivers/drivertest. A driver knows nothing of
// leases, identities or verdicts: it is told the address of a loopback proxy and does what it is asked.
//
// Rules that every implementation keeps:
//
//   - Every call returns soon after its ctx is done, whatever the browser does; the error is then of kind
//     Cancelled or Timeout and wraps the cause of ctx. A deadline of one call never ends the browser.
//   - An error is an *Error with a Kind, so that a caller can tell whose fault it is without reading text.
//   - Nothing leaves the machine except through ContextOptions.Proxy. A context without a proxy reaches
//     nothing at all; loopback addresses go through the proxy like any other.
//   - Closing is idempotent, bounded by its ctx, and leaves no process and no folder behind.
//
// Methods of Browser and Context are safe for concurrent use. A Page belongs to one goroutine at a time;
// its Close may be called from another.
package drivers

import (
	"context"
	"log/slog"
	"time"
)

// A Driver starts browsers of one library.
type Driver interface {
	// Name is the stable name of the driver: "chromedp" or "playwright".
	Name() string
	// Launch starts a browser. ctx bounds the start alone: the browser lives until Close. The error is of
	// kind LaunchFailed and says what to do, with the exit status and the last lines the browser wrote.
	Launch(ctx context.Context, o LaunchOptions) (Browser, error)
}

// LaunchOptions says which browser to start and how. The zero value starts the default browser.
type LaunchOptions struct {
	// Executable is the path of the browser. Empty means the first found of chromium-headless-shell,
	// chromium, as FindExecutable says.
	Executable string
	// TempRoot is the folder under which the browser's profile and temporary files are made, in a folder of
	// their own that Close removes. Empty means the system's temporary folder.
	TempRoot string
	// Sandbox asks for Chromium's sandbox. It cannot be had as root.
	Sandbox bool
	// TrustSPKI lists base64 SHA-256 hashes of public keys whose certificates are accepted although no
	// system root signed them: an operator's own test authority. Empty means none.
	TrustSPKI []string
	// Logger receives what the driver cannot return. Nil means that it is dropped.
	Logger *slog.Logger
}

// A Browser is one running browser process.
type Browser interface {
	// Version is the browser's own name and version, such as "HeadlessChrome/156.0.8078.114".
	Version() string
	// PID is the process id of the browser's main process; 0 if the driver cannot know it.
	PID() int
	// NewContext makes an isolated context: own cookies, storage, cache and proxy. The error is of kind
	// BrowserLost if the browser is gone.
	NewContext(ctx context.Context, o ContextOptions) (Context, error)
	// Done is closed when the browser is gone, whoever ended it.
	Done() <-chan struct{}
	// Err says why the browser is gone: nil after Close and while it runs, else of kind BrowserLost or
	// DriverLost.
	Err() error
	// Close ends the browser, waits for its processes and removes its folders. When ctx ends first it
	// kills what is left.
	Close(ctx context.Context) error
}

// ContextOptions fixes what cannot change while a context lives.
type ContextOptions struct {
	// Proxy is the host:port of the HTTP proxy on loopback that is this context's only way out. Empty
	// means that the context reaches nothing.
	Proxy string
	// Locale is a BCP 47 tag such as "de-DE": what navigator.language, Intl and Accept-Language say.
	// Empty means the browser's own.
	Locale string
	// TimeZone is an IANA name such as "Europe/Berlin". Empty means the browser's own.
	TimeZone string
	// Viewport is the size of the page in CSS pixels. The zero value means 1280 x 720.
	Viewport Size
	// Geolocation is granted and answered if not nil.
	Geolocation *Geolocation
	// State is put into the context before its first page. Nil means an empty jar.
	State *StorageState
	// Sink receives the context's events. Nil means that nobody listens.
	Sink Sink
}

// Size is a width and a height in CSS pixels.
type Size struct{ Width, Height int }

// Geolocation is a place, in degrees and metres.
type Geolocation struct{ Latitude, Longitude, Accuracy float64 }

// A Context is an isolated profile in a browser. It is used for one identity under one lease.
type Context interface {
	// NewPage opens an empty page. Pages the site opens by itself are closed and reported as Popup events.
	NewPage(ctx context.Context) (Page, error)
	// State reads cookies and, for the given origins ("https://shop.test"), localStorage.
	State(ctx context.Context, origins ...string) (*StorageState, error)
	// SetCookies adds cookies. A cookie that the browser refuses is named in the error; the others are set.
	SetCookies(ctx context.Context, cookies ...Cookie) error
	// Close closes the pages without running their leave handlers and disposes of the context.
	Close(ctx context.Context) error
}

// A Page is one tab.
//
// After a failed Goto the page is spent: every later call but Snapshot, Screenshot and Close answers an
// error of kind PageSpent, because a browser may commit its error page late and abort the next navigation.
// A dialog is dismissed (beforeunload: left) as it opens and reported as an event. A download is refused
// and ends a Goto with kind Download.
type Page interface {
	// Goto navigates and waits for DOMContentLoaded of the final document. A status of 400 and above is no
	// error. When ctx ends first the error is of kind Timeout, and Response is not nil if the navigation
	// had committed.
	Goto(ctx context.Context, url string) (*Response, error)
	// Settle waits until the document holds still, as SettleOptions says. Not settling is no error: the
	// answer says which condition ended the wait.
	Settle(ctx context.Context, o SettleOptions) (Settled, error)
	// Snapshot reads the settled DOM, capped at maxBytes of HTML (0 means DefaultSnapshotBytes).
	Snapshot(ctx context.Context, maxBytes int) (*Snapshot, error)
	// URL is the address of the page's main document as last seen. It does not ask the browser.
	URL() string
	// Response is the last main-document response seen, also of a navigation that a click or a script
	// began; nil before the first.
	Response() *Response

	// Click waits for the element to be visible and still, scrolls to it and clicks its middle.
	Click(ctx context.Context, selector string) error
	// Hover moves the pointer over the middle of the element.
	Hover(ctx context.Context, selector string) error
	// Fill replaces the value of an input, textarea or contenteditable and fires input and change.
	Fill(ctx context.Context, selector, value string) error
	// Select chooses the options of a select element by value or, failing that, by label.
	Select(ctx context.Context, selector string, values ...string) error
	// Press sends one key, such as "Enter", "Tab", "ArrowDown" or "a", to the element, or to whatever has
	// the focus when selector is empty.
	Press(ctx context.Context, selector, key string) error
	// Scroll scrolls the element into view, or the document by dx, dy CSS pixels when selector is empty.
	Scroll(ctx context.Context, selector string, dx, dy int) error
	// WaitVisible waits until the selector matches a visible element.
	WaitVisible(ctx context.Context, selector string) error
	// WaitURL waits until the page's address matches the pattern, in which * stands for any characters.
	WaitURL(ctx context.Context, pattern string) error
	// Evaluate runs a JavaScript expression in the page, awaits a promise, and decodes its JSON value into
	// out (nil: dropped). What the script throws is of kind Script.
	Evaluate(ctx context.Context, expression string, out any) error
	// Screenshot is a PNG of the viewport, or of the whole document clamped to MaxScreenshotSide.
	Screenshot(ctx context.Context, fullPage bool) ([]byte, error)
	// Close closes the tab without running its leave handlers.
	Close(ctx context.Context) error
}

const (
	// DefaultSnapshotBytes caps the HTML of a snapshot; the largest real page of the classifier's corpus
	// has 1.96 MB.
	DefaultSnapshotBytes = 4 << 20
	// MaxScreenshotSide clamps a full-page screenshot, in CSS pixels: taller pages exhaust the browser's
	// memory (field case FC06-13).
	MaxScreenshotSide = 8192
)

// SettleOptions says when a page counts as settled.
type SettleOptions struct {
	// Marker ends the wait as soon as this selector matches. Empty means none.
	Marker string
	// Quiet is how long the DOM must hold still when the marker does not show. Zero means 300 ms.
	Quiet time.Duration
	// Cap ends the wait whatever happens. Zero means 10 s. Missing quiet is a note, never a failure.
	Cap time.Duration
}

// Settled says what ended the wait of Settle.
type Settled string

// What ends the wait of Settle.
const (
	SettledMarker Settled = "marker" // the marker showed
	SettledQuiet  Settled = "quiet"  // the DOM held still
	SettledCap    Settled = "cap"    // neither, and the cap was reached
)

// A Response is what answered a main-document navigation.
type Response struct {
	URL        string // of the final document
	Status     int    // of the final answer; 0 if there was none (about:blank, data:)
	Header     Header // of the final answer, names in lower case
	MIMEType   string // as the browser took it, without parameters
	Redirects  []Hop  // the answers before the final one, first to last
	RemoteAddr string // as the browser saw it: the proxy's address
	FromCache  bool   // served by the browser's cache
	Timing     Timing // zero where the browser does not say
	Protocol   string // "http/1.1", "h2"
}

// Header is a set of HTTP header fields. Names are in lower case; fields of one name are joined by "\n" for
// set-cookie and by ", " for all others.
type Header map[string]string

// A Hop is one redirect.
type Hop struct {
	URL      string `json:"url"`
	Status   int    `json:"status"`
	Location string `json:"location"`
}

// Timing is how long the parts of an exchange took.
type Timing struct{ Connect, FirstByte, Total time.Duration }

// A Snapshot is the settled DOM as classify wants it. All text is UTF-8.
type Snapshot struct {
	URL         string  `json:"url"`
	Title       string  `json:"title"`
	Lang        string  `json:"lang"`        // <html lang>
	ContentType string  `json:"contentType"` // document.contentType
	HTML        string  `json:"html"`        // open shadow roots inlined as <template shadowrootmode="open">
	HTMLBytes   int     `json:"htmlBytes"`   // before the cap
	Truncated   bool    `json:"truncated"`   // HTML is a prefix
	VisibleText string  `json:"visibleText"` // innerText of the body, capped at 64 Ki characters
	VisibleLen  int     `json:"visibleLen"`  // characters of visible text before that cap, white space folded
	Frames      []Frame `json:"frames"`
	ErrorPage   bool    `json:"errorPage"` // the browser's own error document, not the site's
}

// A Frame is one frame element of the main document.
type Frame struct {
	URL     string `json:"url"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Visible bool   `json:"visible"`
	HTML    string `json:"html,omitempty"` // same-origin frames only, capped
}
