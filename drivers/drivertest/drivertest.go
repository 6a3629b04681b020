// Package drivertest is the contract of drivers.Driver as a test suite that every implementation runs.
//
// It brings its own site, a proxy for each context and a look at the process table, and needs no network but
// loopback and no browser but the one that the driver finds.
package drivertest

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

const (
	// patience bounds what a loaded machine may take for a call that has nothing to wait for.
	patience = 30 * time.Second
	// prompt is how soon a call returns once its ctx is done or what it waits for is gone: the probe of a tab
	// takes up to a second, and the machine may be busy.
	prompt = 5 * time.Second
)

// Run checks d with the default browser. The subtests share one browser except where they end it.
func Run(t *testing.T, d drivers.Driver) {
	t.Helper()
	RunWith(t, d, drivers.LaunchOptions{})
}

// RunWith is Run with a browser of the caller's choice; TempRoot and TrustSPKI of o are replaced.
func RunWith(t *testing.T, d drivers.Driver, o drivers.LaunchOptions) {
	t.Helper()
	s := &suite{driver: d, options: o, site: newSite(t)}
	s.browser = s.launch(t)
	for _, group := range []struct {
		name string
		run  func(*suite, *testing.T)
	}{
		{"browser", (*suite).testBrowser},
		{"isolation", (*suite).testIsolation},
		{"containment", (*suite).testContainment},
		{"navigation", (*suite).testNavigation},
		{"failures", (*suite).testFailures},
		{"deadlines", (*suite).testDeadlines},
		{"settling", (*suite).testSettling},
		{"snapshots", (*suite).testSnapshots},
		{"actions", (*suite).testActions},
		{"waits", (*suite).testWaits},
		{"evaluate", (*suite).testEvaluate},
		{"state", (*suite).testState},
		{"persona", (*suite).testPersona},
		{"events", (*suite).testEvents},
		{"dialogs", (*suite).testDialogs},
		{"intruders", (*suite).testIntruders},
		{"screenshots", (*suite).testScreenshots},
		{"crashes", (*suite).testCrashes},
		{"ends", (*suite).testEnds},
	} {
		t.Run(group.name, func(t *testing.T) { group.run(s, t) })
	}
}

// A suite is what the subtests share.
type suite struct {
	driver  drivers.Driver
	options drivers.LaunchOptions
	site    *site
	browser drivers.Browser
}

// launch starts a browser in a folder of its own, and checks at the end of t that closing it leaves neither a
// process nor a file.
func (s *suite) launch(t *testing.T) drivers.Browser {
	t.Helper()
	root := shortDir(t)
	o := s.options
	o.TempRoot = root
	o.TrustSPKI = []string{s.site.spki}
	b, err := s.driver.Launch(within(t, patience), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		require.NoError(t, b.Close(ctx))
		requireNothingLeft(t, root)
	})
	return b
}

// shortDir is a folder whose path leaves room for the sockets of full Chromium, which t.TempDir's does not.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "drv-") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// requireNothingLeft checks that no process knows the folder and that the folder is empty.
func requireNothingLeft(t *testing.T, root string) {
	t.Helper()
	// The last children of a killed browser are reaped by process 1, at its leisure.
	require.Eventually(t, func() bool { return len(processesOf(root)) == 0 }, prompt, 20*time.Millisecond,
		"processes left: %v", processesOf(root))
	left, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, left, "files left")
}

// A tab is a context with a proxy, a listener and a page.
type tab struct {
	drivers.Page

	context drivers.Context
	proxy   *proxy
	events  *recorder
}

// open makes a tab in the shared browser.
func (s *suite) open(t *testing.T) *tab {
	t.Helper()
	return s.openWith(t, s.browser, drivers.ContextOptions{})
}

// openWith makes a tab in b; it goes out through a proxy of its own and is closed at the end of t.
func (s *suite) openWith(t *testing.T, b drivers.Browser, o drivers.ContextOptions) *tab {
	t.Helper()
	v := &tab{proxy: newProxy(t, s.site), events: &recorder{changed: make(chan struct{})}}
	o.Proxy, o.Sink = v.proxy.address(), v.events
	var err error
	v.context, err = b.NewContext(within(t, patience), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		require.NoError(t, v.context.Close(ctx))
	})
	v.Page = v.page(t)
	return v
}

// page opens another page in the tab's context.
func (v *tab) page(t *testing.T) drivers.Page {
	t.Helper()
	p, err := v.context.NewPage(within(t, patience))
	require.NoError(t, err)
	return p
}

// visit navigates and requires success.
func (v *tab) visit(t *testing.T, url string) *drivers.Response {
	t.Helper()
	resp, err := v.Goto(within(t, patience), url)
	require.NoError(t, err)
	require.NotNil(t, resp)
	return resp
}

// eval evaluates an expression that yields a T.
func eval[T any](t *testing.T, p drivers.Page, expression string) T {
	t.Helper()
	var out T
	require.NoError(t, p.Evaluate(within(t, patience), expression, &out))
	return out
}

// within is a context that ends with t or after d.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// requireKind checks the kind of an error.
func requireKind(t *testing.T, want drivers.Kind, err error) {
	t.Helper()
	_ = failure(t, want, err)
}

// failure checks that err is a *drivers.Error of the kind and gives it.
func failure(t *testing.T, want drivers.Kind, err error) *drivers.Error {
	t.Helper()
	require.Error(t, err)
	var e *drivers.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Kind, "%v", err)
	require.NotEmpty(t, e.Op)
	return e
}

// requirePrompt checks that f returns soon.
func requirePrompt(t *testing.T, f func()) {
	t.Helper()
	start := time.Now()
	f()
	require.Less(t, time.Since(start), prompt)
}

// A recorder is a Sink that keeps what it gets.
type recorder struct {
	mu      sync.Mutex
	events  []drivers.Event
	changed chan struct{} // closed and replaced at each event
}

// Record keeps e.
func (r *recorder) Record(e drivers.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	close(r.changed)
	r.changed = make(chan struct{})
}

// all gives the events so far that match.
func (r *recorder) all(match func(drivers.Event) bool) (found []drivers.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if match(e) {
			found = append(found, e)
		}
	}
	return found
}

// await waits for n events of a kind and gives those that came.
func (r *recorder) await(t *testing.T, kind drivers.EventKind, n int) []drivers.Event {
	t.Helper()
	return r.awaitMatch(t, n, string(kind), func(e drivers.Event) bool { return e.Kind == kind })
}

// awaitMatch waits for n events that match.
func (r *recorder) awaitMatch(t *testing.T, n int, what string, match func(drivers.Event) bool) []drivers.Event {
	t.Helper()
	ctx := within(t, prompt)
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if found := r.all(match); len(found) >= n {
			return found
		}
		select {
		case <-changed:
		case <-ctx.Done():
			require.Fail(t, "events missing", "%s: want %d, got %v", what, n, r.all(match))
		}
	}
}
