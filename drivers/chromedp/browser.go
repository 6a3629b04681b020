package chromedp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/cdproto/target"
	lib "github.com/chromedp/chromedp"

	"github.com/limpet-dev/limpet/drivers"
)

// cleanUp bounds what is left to do for a browser that died or whose start was abandoned.
const cleanUp = 10 * time.Second

// A Browser is one browser process. It is safe for concurrent use.
type Browser struct {
	// root is the library's context of the browser, to which the library ties the process. Each launch has a
	// new one: the library panics when a context is used again after a failed start.
	root   context.Context //nolint:containedctx // see above
	cancel context.CancelFunc
	conn   *lib.Browser

	// life ends, with an *end as its cause, when the browser is lost or closed.
	life context.Context //nolint:containedctx // what it ends is in no caller's scope
	end  context.CancelCauseFunc

	version, agent string
	pid, group     int
	stage          stage
	log            *slog.Logger

	done chan struct{} // closed when process and folder are gone
	left error         // what could not be cleaned up; valid after done

	closing sync.Once
	close   chan struct{} // closed by the first Close

	agency   sync.Mutex // held while metadata is asked for; never with mu
	metadata *emulation.UserAgentMetadata

	mu       sync.Mutex
	contexts map[cdp.BrowserContextID]*Context
}

// launch starts exe. When it fails it leaves neither process nor folder.
func launch(ctx context.Context, exe string, o drivers.LaunchOptions) (*Browser, error) {
	if ctx.Err() != nil {
		return nil, startError(ctx, exe, ctx.Err(), "")
	}
	st, err := newStage(o.TempRoot)
	if err != nil {
		return nil, &drivers.Error{Kind: drivers.LaunchFailed, Op: "launch", What: exe, Err: err}
	}
	output := &tail{}
	alloc, release := lib.NewExecAllocator(context.Background(), st.options(exe, o, output)...)
	root, cancel := lib.NewContext(alloc, lib.WithLogf(func(string, ...any) {}))
	b := &Browser{
		root: root, stage: st, log: o.Logger, done: make(chan struct{}), close: make(chan struct{}),
		contexts: map[cdp.BrowserContextID]*Context{},
	}
	b.cancel = func() {
		cancel()
		release()
	}
	b.life, b.end = context.WithCancelCause(context.Background())
	if err := b.start(ctx); err != nil {
		b.cancel()
		clean, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer stop()
		return nil, startError(ctx, exe, errors.Join(err, endGroup(clean, b.group), st.remove()), output.String())
	}
	go b.watch() //nolint:contextcheck,gosec // ctx bounds the start alone
	return b, nil
}

// start runs the process and asks it who it is. The library ties the process to the context of the first call, so
// that call is made with the browser's own, and ctx ends the wait from outside.
func (b *Browser) start(ctx context.Context) error {
	stop := context.AfterFunc(ctx, b.cancelProcess())
	defer stop()
	version, err := lib.CallBrowser(b.root, browser.GetVersion, cdp.Empty{}) //nolint:contextcheck // see above
	if c := lib.FromContext(b.root); c.Browser != nil {                      //nolint:contextcheck // see above
		b.conn = c.Browser
		if process := b.conn.Process(); process != nil {
			b.pid, b.group = process.Pid, process.Pid
		}
	}
	if err != nil {
		return err
	}
	b.version, b.agent = version.Product, version.UserAgent
	if info, err := cdp.Call(ctx, b.conn, systeminfo.GetProcessInfo, cdp.Empty{}); err == nil {
		// Where a script stands before the browser, the process that was started is not the browser.
		for _, p := range info.ProcessInfo {
			if p.Type == "browser" && p.ID > 0 {
				b.pid = int(p.ID)
			}
		}
	}
	if err := lib.ListenBrowser(b.root, b.onEvent); err != nil { //nolint:contextcheck // see above
		return err
	}
	only := target.Filter{{Type: "page"}, {Exclude: true}}
	_, err = cdp.Call(ctx, b.conn, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true, Filter: only})
	return err
}

// cancelProcess gives a function that ends the library's context without waiting.
func (b *Browser) cancelProcess() func() {
	cancel := b.cancel
	return func() { go cancel() }
}

// startError says why a start failed.
func startError(ctx context.Context, exe string, err error, output string) error {
	out := &drivers.Error{Kind: drivers.LaunchFailed, Op: "launch", What: exe, Err: err}
	if cause := context.Cause(ctx); cause != nil {
		out.Err = cause
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			out.Kind = drivers.Cancelled
			return out
		}
	}
	if output != "" {
		out.Err = fmt.Errorf("%w; the browser wrote: %s", out.Err, output)
	}
	return out
}

// watch waits for the end of the browser and cleans up after it.
func (b *Browser) watch() {
	defer close(b.done)
	select {
	case <-b.root.Done(): // the library noticed that the connection broke
		_, err := lib.CallBrowser(b.root, browser.GetVersion, cdp.Empty{}) // says how the process ended
		select {
		case <-b.close:
			b.end(errClosed)
		default:
			b.end(&end{kind: drivers.BrowserLost, why: fmt.Errorf("the browser is gone: %w", err)})
		}
	case <-b.life.Done():
	}
	b.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), cleanUp)
	defer cancel()
	b.left = errors.Join(endGroup(ctx, b.group), b.stage.remove())
}

// Version is the browser's name and version.
func (b *Browser) Version() string { return b.version }

// PID is the id of the browser's main process.
func (b *Browser) PID() int { return b.pid }

// Done is closed when the browser is gone.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err says why the browser is gone.
func (b *Browser) Err() error {
	why, ok := errors.AsType[*end](context.Cause(b.life))
	if !ok || why.kind == drivers.Closed {
		return nil
	}
	return &drivers.Error{Kind: why.kind, Op: "browser", Err: why.why}
}

// Close ends the browser and waits for its processes.
func (b *Browser) Close(ctx context.Context) error {
	b.closing.Do(func() { close(b.close) })
	// Nothing of the profile is kept, so there is nothing for a graceful end to save.
	b.end(errClosed)
	select {
	case <-b.done:
	case <-ctx.Done():
		return fault(ctx, context.Background(), "close browser", "", ctx.Err())
	}
	b.forget()
	if b.left != nil {
		return &drivers.Error{Kind: drivers.BrowserLost, Op: "close browser", Err: b.left}
	}
	return nil
}

// forget lets go of the contexts that were left open.
func (b *Browser) forget() {
	b.mu.Lock()
	contexts := b.contexts
	b.contexts = map[cdp.BrowserContextID]*Context{}
	b.mu.Unlock()
	for _, c := range contexts {
		c.release()
	}
}

// onEvent runs on the goroutine that reads the connection: it must not wait.
func (b *Browser) onEvent(event any) {
	switch e := event.(type) {
	case *target.EventTargetCreated:
		if c := b.context(e.TargetInfo.BrowserContextID); c != nil && e.TargetInfo.Type == "page" {
			c.onTarget(e.TargetInfo)
		}
	case *browser.EventDownloadWillBegin:
		for _, c := range b.all() {
			if c.onDownload(e) {
				return
			}
		}
	}
}

func (b *Browser) context(id cdp.BrowserContextID) *Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.contexts[id]
}

func (b *Browser) all() []*Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]*Context, 0, len(b.contexts))
	for _, c := range b.contexts {
		all = append(all, c)
	}
	return all
}

// call sends a command to the browser on behalf of what lives as long as life.
func call[P, R any](ctx, life context.Context, s cdp.Session, c cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	return cdp.Call(ctx, s, c, params)
}
