// Package playwright drives Chromium through Playwright: playwright-go and the npm package playwright-core.
//
// The package's own node runs beside each browser, and both end with it. The exact version of playwright-core
// that the library demands is pinned in node/package-lock.json; "npm ci --prefix drivers/playwright/node" puts
// it in place. Nothing is ever downloaded at run time, and the browser is the system's own.
package playwright

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// Name is the stable name of this driver.
const Name = "playwright"

// cleanUp bounds what a failed or abandoned start leaves to do.
const cleanUp = 5 * time.Second

// Config says where the parts that are not Go are. The zero value looks for them.
type Config struct {
	// DriverDir is the folder that holds node_modules/playwright-core. Empty means the first of these that
	// holds the wanted version: drivers/playwright/node and .limpet/playwright under the working folder,
	// and playwright beside the program.
	DriverDir string
	// NodePath is the node to run. Empty means the one on the PATH.
	NodePath string
}

// A Driver starts browsers through Playwright. It is safe for concurrent use.
type Driver struct{ config Config }

var _ drivers.Driver = (*Driver)(nil)

// New makes a Driver. What is missing on this machine is reported by Launch.
func New(c Config) *Driver { return &Driver{config: c} }

// Name is "playwright".
func (d *Driver) Name() string { return Name }

// Launch starts a node and, through it, a browser.
func (d *Driver) Launch(ctx context.Context, o drivers.LaunchOptions) (drivers.Browser, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	exe, err := drivers.FindExecutable(o.Executable)
	if err != nil {
		return nil, err
	}
	st, err := d.stage(ctx, o.TempRoot)
	if err != nil {
		return nil, err
	}
	b, err := start(ctx, st, exe, o)
	if err != nil {
		return nil, errors.Join(err, st.remove())
	}
	return b, nil
}

// stage finds node and the package, and prepares the folder that joins them.
func (d *Driver) stage(ctx context.Context, tempRoot string) (*stage, error) {
	want, err := Version()
	if err != nil {
		return nil, launchFailed(err)
	}
	dirs := []string{d.config.DriverDir}
	if d.config.DriverDir == "" {
		dirs = defaultDirs()
	}
	core, err := findPackage(dirs, want)
	if err != nil {
		return nil, err
	}
	node, err := findNode(ctx, d.config.NodePath)
	if err != nil {
		return nil, err
	}
	st, err := newStage(tempRoot, node, core)
	if err != nil {
		return nil, launchFailed(err)
	}
	return st, nil
}

// start runs node and the browser. When it fails it leaves no process.
func start(ctx context.Context, st *stage, exe string, o drivers.LaunchOptions) (_ *Browser, err error) {
	line, err := newLifeline(st.stderr)
	if err != nil {
		return nil, launchFailed(err)
	}
	b := &Browser{stage: st, line: line, log: o.Logger, gone: make(chan struct{}), closed: make(chan struct{})}
	if b.node, err = startNode(ctx, b); err != nil {
		return nil, startError(ctx, "start node", err, line.text())
	}
	defer func() {
		if err != nil {
			// ctx may be done by now, and what was started must end all the same.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
			defer cancel()
			b.stop(ctx)
			_ = b.calls.wait(ctx)
		}
	}()
	if b.browser, err = call(ctx, &b.calls, nil, func() (pw.Browser, error) {
		return b.node.Chromium.Launch(launchOptions(ctx, exe, o))
	}); err != nil {
		return nil, startError(ctx, "start "+exe, err, line.text())
	}
	if err := b.identify(ctx); err != nil {
		return nil, startError(ctx, "ask "+exe+" who it is", err, line.text())
	}
	b.watch()
	return b, nil
}

// startNode runs node. When ctx ends first, what still starts is stopped.
func startNode(ctx context.Context, b *Browser) (*pw.Playwright, error) {
	defer b.line.release() // a node that opened its end by now is the one that stays
	node, err := call(ctx, &b.calls, nil, func() (*pw.Playwright, error) {
		// Stderr and Logger stay unset: the library keeps them in variables of the whole process.
		node, err := pw.Run(&pw.RunOptions{DriverDirectory: b.stage.driver, SkipInstallBrowsers: true, Stdout: io.Discard})
		if err == nil && ctx.Err() != nil {
			return nil, errors.Join(errAbandoned, node.Stop())
		}
		return node, err
	})
	if err != nil {
		b.line.kill()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		_ = b.calls.wait(ctx) // or a node that starts late would wait for a reader of its stderr
	}
	return node, err
}

// launchOptions says how the library starts the browser. The switches that keep it behind the proxy are the same for
// every driver.
func launchOptions(ctx context.Context, exe string, o drivers.LaunchOptions) pw.BrowserTypeLaunchOptions {
	return pw.BrowserTypeLaunchOptions{
		ExecutablePath:  &exe,
		Args:            drivers.Flags(o),
		ChromiumSandbox: &o.Sandbox,
		Headless:        new(true),
		Timeout:         timeout(ctx),
		// An interrupt at the terminal reaches node too; jobs in flight are the harness's to finish.
		HandleSIGINT: new(false),
		HandleSIGHUP: new(false),
	}
}

// maxStart caps the text of a failed start, in bytes: the browser's last lines stand at its end.
const maxStart = 2000

// startError says why a start failed, with the last lines of the browser or of node. When ctx ended it, the cause
// says so.
func startError(ctx context.Context, what string, err error, tail string) error {
	if errors.Is(err, errAbandoned) {
		err = fmt.Errorf("%s: %w", what, context.Cause(ctx))
		if drivers.KindOf(context.Cause(ctx)) == drivers.Cancelled {
			return &drivers.Error{Kind: drivers.Cancelled, Op: "launch", What: Name, Err: err}
		}
	} else {
		text := stripUser(err.Error())
		err = fmt.Errorf("%s: %s", what, text[max(0, len(text)-maxStart):])
	}
	if tail != "" {
		err = fmt.Errorf("%w; node wrote: %s", err, tail)
	}
	return launchFailed(err)
}
