package playwright

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// A Browser is one node and the one browser that it drives.
type Browser struct {
	stage   *stage
	line    *lifeline
	log     *slog.Logger
	node    *pw.Playwright
	browser pw.Browser
	session pw.CDPSession // the browser's own, for what the library has no call for
	version string
	pid     int
	calls   calls

	making   sync.Mutex      // held while a context is made
	contexts map[string]bool // the protocol's ids of those made so far; guarded by making

	gone      chan struct{} // closed when the browser is gone
	closeOnce sync.Once
	closed    chan struct{} // closed when Close has removed everything
	closeErr  error         // valid after closed

	mu      sync.Mutex
	err     error // why it is gone
	lost    bool  // gone is closed
	closing bool
}

// Version is the browser's own name and version.
func (b *Browser) Version() string { return b.version }

// PID is the process id of the browser's main process.
func (b *Browser) PID() int { return b.pid }

// Done is closed when the browser is gone.
func (b *Browser) Done() <-chan struct{} { return b.gone }

// Err says why the browser is gone.
func (b *Browser) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// identify asks the browser for its version and its process id.
func (b *Browser) identify(ctx context.Context) error {
	var err error
	if b.session, err = call(ctx, &b.calls, nil, b.browser.NewBrowserCDPSession); err != nil {
		return err
	}
	version, err := call(ctx, &b.calls, nil, func() (any, error) { return b.session.Send("Browser.getVersion", nil) })
	if err != nil {
		return err
	}
	processes, err := call(ctx, &b.calls, nil, func() (any, error) { return b.session.Send("SystemInfo.getProcessInfo", nil) })
	if err != nil {
		return err
	}
	b.version, _ = field[string](version, "product")
	b.pid = browserPID(processes)
	return nil
}

// browserPID finds the browser's main process in the answer of SystemInfo.getProcessInfo; 0 if it is not there.
func browserPID(answer any) int {
	list, _ := field[[]any](answer, "processInfo")
	for _, process := range list {
		if kind, _ := field[string](process, "type"); kind == "browser" {
			id, _ := field[float64](process, "id")
			return int(id)
		}
	}
	return 0
}

// field reads one field of a protocol answer.
func field[T any](answer any, name string) (T, bool) {
	var zero T
	object, ok := answer.(map[string]any)
	if !ok {
		return zero, false
	}
	value, ok := object[name].(T)
	return value, ok
}

// watch notices the end of the browser, which the library tells, and of node, which it does not.
func (b *Browser) watch() {
	b.browser.OnDisconnected(func(pw.Browser) {
		b.lose(drivers.BrowserLost, errors.New("the browser process is gone"))
	})
	b.calls.spawn(func() {
		<-b.line.gone
		b.lose(drivers.DriverLost, fmt.Errorf("node is gone; it wrote: %q", b.line.text()))
	})
}

// lose records the first reason why the browser is gone.
func (b *Browser) lose(kind drivers.Kind, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost {
		return
	}
	b.lost = true
	if !b.closing {
		b.err = &drivers.Error{Kind: kind, Op: "run", What: b.version, Err: err}
	}
	close(b.gone)
}

// Close ends the browser and node, and removes their folder. Called again, it waits for the first call and answers the
// same.
func (b *Browser) Close(ctx context.Context) error {
	b.closeOnce.Do(func() {
		b.mu.Lock()
		b.closing = true
		b.mu.Unlock()
		b.closeErr = b.shutDown(ctx)
		close(b.closed)
	})
	select {
	case <-b.closed:
		return b.closeErr
	case <-ctx.Done():
		return &drivers.Error{Kind: drivers.KindOf(context.Cause(ctx)), Op: "close", What: b.version, Err: context.Cause(ctx)}
	}
}

// shutDown ends everything: kindly until ctx ends, then by force.
func (b *Browser) shutDown(ctx context.Context) error {
	b.stop(ctx)
	b.lose(drivers.BrowserLost, nil)
	// ctx may be done by now, and what is left must go all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	return errors.Join(b.calls.wait(ctx), waitGone(ctx, b.pid), b.stage.remove())
}

// stop ends node, which ends the browser. When ctx ends first it kills both.
func (b *Browser) stop(ctx context.Context) {
	select {
	case <-b.line.gone: // the library's own reader takes leave of it
	default:
		if b.node != nil {
			_, _ = call(ctx, &b.calls, b.line.gone, void(b.node.Stop))
		}
		select {
		case <-b.line.gone:
		case <-ctx.Done():
			b.line.kill()
			killGroup(b.pid)
		}
	}
}
