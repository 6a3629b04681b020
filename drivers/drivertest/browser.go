package drivertest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

func (s *suite) testBrowser(t *testing.T) {
	t.Helper()
	t.Run("says who it is", func(t *testing.T) {
		require.Regexp(t, `^[A-Za-z]+/\d+\.\d+\.\d+\.\d+$`, s.browser.Version())
		require.NoError(t, s.browser.Err())
		if pid := s.browser.PID(); pid != 0 {
			require.NoError(t, syscall.Kill(pid, 0), "process %d", pid)
		}
		require.Contains(t, []string{"chromedp", "playwright", "fake"}, s.driver.Name())
	})
	t.Run("a browser that cannot start is a failed launch", func(t *testing.T) {
		root := shortDir(t)
		broken := filepath.Join(t.TempDir(), "broken")
		require.NoError(t, os.WriteFile(broken, []byte("#!/bin/sh\necho the reason why >&2\nexit 3\n"), 0o700)) //nolint:gosec // a program
		_, err := s.driver.Launch(within(t, patience), drivers.LaunchOptions{Executable: broken, TempRoot: root})
		requireKind(t, drivers.LaunchFailed, err)
		require.ErrorContains(t, err, "the reason why")
		requireNothingLeft(t, root)
	})
	t.Run("a browser that is not there is a failed launch", func(t *testing.T) {
		root := shortDir(t)
		_, err := s.driver.Launch(within(t, patience), drivers.LaunchOptions{Executable: "/does/not/exist", TempRoot: root})
		requireKind(t, drivers.LaunchFailed, err)
		require.ErrorContains(t, err, "/does/not/exist")
		requireNothingLeft(t, root)
	})
	t.Run("a launch that is cancelled leaves nothing", func(t *testing.T) {
		root := shortDir(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		o := s.options
		o.TempRoot = root
		_, err := s.driver.Launch(ctx, o)
		require.Contains(t, []drivers.Kind{drivers.Cancelled, drivers.LaunchFailed}, drivers.KindOf(err), "%v", err)
		requireNothingLeft(t, root)
	})
}

func (s *suite) testCrashes(t *testing.T) {
	t.Helper()
	t.Run("a renderer crash is the worker's fault and nobody else's", func(t *testing.T) {
		v, other := s.open(t), s.open(t)
		v.visit(t, "http://shop.test/ok")
		other.visit(t, "http://shop.test/ok")
		requirePrompt(t, func() {
			_, err := v.Goto(within(t, patience), "chrome://crash")
			requireKind(t, drivers.Crashed, err)
		})
		v.events.await(t, drivers.EventCrash, 1)
		requirePrompt(t, func() {
			_, err := v.Snapshot(within(t, patience), 0)
			requireKind(t, drivers.Crashed, err)
		})
		require.Equal(t, "Fine", eval[string](t, other, "document.querySelector('#marker').textContent"))
		p := v.page(t)
		_, err := p.Goto(within(t, patience), "http://shop.test/ok")
		require.NoError(t, err)
	})
	t.Run("a killed browser ends every call and says so", func(t *testing.T) {
		b := s.launch(t)
		v := s.openWith(t, b, drivers.ContextOptions{})
		if b.PID() == 0 {
			t.Skip("the driver does not know the process")
		}
		result := make(chan error, 1)
		go func() {
			_, err := v.Goto(t.Context(), "http://shop.test/never")
			result <- err
		}()
		v.events.await(t, drivers.EventRequest, 1)
		require.NoError(t, syscall.Kill(b.PID(), syscall.SIGKILL))
		requirePrompt(t, func() { requireKind(t, drivers.BrowserLost, <-result) })
		requirePrompt(t, func() { <-b.Done() })
		requireKind(t, drivers.BrowserLost, b.Err())
		requirePrompt(t, func() {
			_, err := b.NewContext(within(t, patience), drivers.ContextOptions{})
			requireKind(t, drivers.BrowserLost, err)
			_, err = v.context.NewPage(within(t, patience))
			requireKind(t, drivers.BrowserLost, err)
			_, err = v.context.State(within(t, patience))
			requireKind(t, drivers.BrowserLost, err)
			requireKind(t, drivers.BrowserLost, v.Evaluate(within(t, patience), "1", nil))
			require.NoError(t, v.Close(within(t, patience)))
		})
	})
}

func (s *suite) testEnds(t *testing.T) {
	t.Helper()
	t.Run("closing twice is fine and what was closed says so", func(t *testing.T) {
		b := s.launch(t)
		v := s.openWith(t, b, drivers.ContextOptions{})
		second := v.page(t)
		require.NoError(t, v.Close(within(t, patience)))
		require.NoError(t, v.Close(within(t, patience)))
		requireKind(t, drivers.Closed, v.Evaluate(within(t, patience), "1", nil))
		require.NoError(t, second.Evaluate(within(t, patience), "1", nil))
		require.NoError(t, v.context.Close(within(t, patience)))
		require.NoError(t, v.context.Close(within(t, patience)))
		_, err := v.context.NewPage(within(t, patience))
		requireKind(t, drivers.Closed, err)
		require.NoError(t, b.Close(within(t, patience)))
		<-b.Done()
		require.NoError(t, b.Err())
		_, err = b.NewContext(within(t, patience), drivers.ContextOptions{})
		requireKind(t, drivers.Closed, err)
	})
	t.Run("closing ends the calls under way", func(t *testing.T) {
		v := s.open(t)
		result := make(chan error, 1)
		go func() {
			_, err := v.Goto(t.Context(), "http://shop.test/never")
			result <- err
		}()
		v.events.await(t, drivers.EventRequest, 1)
		requirePrompt(t, func() {
			require.NoError(t, v.Close(within(t, patience)))
			requireKind(t, drivers.Closed, <-result)
		})
	})
	t.Run("cancelled jobs leave no goroutine", func(t *testing.T) {
		b := s.launch(t)
		s.cancelledJob(t, b) // what is made once is made now
		before := runtime.NumGoroutine()
		for range 20 {
			s.cancelledJob(t, b)
		}
		require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, prompt, 50*time.Millisecond,
			"goroutines: %d before, %d after\n%s", before, runtime.NumGoroutine(), stacks())
	})
}

// cancelledJob begins a navigation that never ends, gives up, and cleans up.
func (s *suite) cancelledJob(t *testing.T, b drivers.Browser) {
	t.Helper()
	p := newProxy(t, s.site)
	defer p.close()
	asked := make(chan struct{}, 1)
	c, err := b.NewContext(within(t, patience), drivers.ContextOptions{
		Proxy: p.address(),
		Sink: drivers.SinkFunc(func(drivers.Event) {
			select {
			case asked <- struct{}{}:
			default:
			}
		}),
	})
	require.NoError(t, err)
	page, err := c.NewPage(within(t, patience))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	_, err = page.Goto(ctx, "http://shop.test/never")
	requireKind(t, drivers.Cancelled, err)
	require.NoError(t, c.Close(within(t, patience)))
}

// stacks is where every goroutine is, without those of the test framework.
func stacks() string {
	buf := make([]byte, 1<<20)
	text := string(buf[:runtime.Stack(buf, true)])
	var kept []string
	for g := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains(g, "drivers/") || strings.Contains(g, "chromedp") || strings.Contains(g, "playwright") {
			kept = append(kept, g)
		}
	}
	return strings.Join(kept, "\n\n")
}
