package harness

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

const (
	launchTimeout = 60 * time.Second // Debian's Chromium needs 0.25 to 0.55 s to start on a loaded machine
	closeTimeout  = 15 * time.Second
	// maxLaunches is how many starts in a row may fail before the machine is given up: every job would only spend
	// its attempts on it.
	maxLaunches    = 3
	contextTimeout = 30 * time.Second
)

// keeper keeps one browser running and hands out contexts in it. A browser that is lost is replaced when the
// next context is wanted; those who want one at the same time share the start.
type keeper struct {
	driver drivers.Driver
	launch drivers.LaunchOptions
	log    *slog.Logger

	mu      sync.Mutex // held during a start: one at a time
	browser drivers.Browser
	failed  int // starts in a row
}

// open makes a context. The channel is closed when its browser is gone. A browser that turns out to be gone only now
// is replaced once: its end and the word of it may lie apart.
func (k *keeper) open(ctx context.Context, o drivers.ContextOptions) (drivers.Context, <-chan struct{}, error) {
	for again := true; ; again = false {
		b, err := k.running(ctx)
		if err != nil {
			return nil, nil, err
		}
		cctx, cancel := context.WithTimeout(ctx, contextTimeout)
		c, err := b.NewContext(cctx, o)
		cancel()
		if err == nil {
			return c, b.Done(), nil
		}
		if kind := drivers.KindOf(err); !again || kind != drivers.BrowserLost && kind != drivers.DriverLost {
			return nil, nil, err
		}
		k.drop(ctx, b)
	}
}

// drop closes b, unless another has taken its place already.
func (k *keeper) drop(ctx context.Context, b drivers.Browser) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.browser != b {
		return
	}
	if err := k.shut(ctx); err != nil {
		k.log.LogAttrs(ctx, slog.LevelWarn, "lost browser left something behind", slog.String("error", err.Error()))
	}
}

// running answers the live browser, starting one if there is none.
func (k *keeper) running(ctx context.Context) (drivers.Browser, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.browser != nil {
		select {
		case <-k.browser.Done():
			k.log.LogAttrs(ctx, slog.LevelWarn, "browser lost", slog.Any("error", k.browser.Err()))
			if err := k.shut(ctx); err != nil {
				k.log.LogAttrs(ctx, slog.LevelWarn, "lost browser left something behind", slog.String("error", err.Error()))
			}
		default:
			return k.browser, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	b, err := k.driver.Launch(ctx, k.launch)
	if err != nil {
		k.failed++
		return nil, err
	}
	k.browser, k.failed = b, 0
	k.log.LogAttrs(ctx, slog.LevelInfo, "browser started", slog.String("driver", k.driver.Name()),
		slog.String("version", b.Version()), slog.Int("pid", b.PID()))
	return b, nil
}

// shut closes the browser. The caller holds mu.
func (k *keeper) shut(ctx context.Context) error {
	if k.browser == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	err := k.browser.Close(ctx)
	k.browser = nil
	return err
}

// close ends the browser and waits for it.
func (k *keeper) close(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.shut(ctx); err != nil {
		return errors.Join(errors.New("browser did not close cleanly"), err)
	}
	return nil
}

// lost reports whether browsers cannot be started any more.
func (k *keeper) lost() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed >= maxLaunches
}

// version is that of the browser that runs; empty if none does.
func (k *keeper) version() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.browser == nil {
		return ""
	}
	return k.browser.Version()
}
