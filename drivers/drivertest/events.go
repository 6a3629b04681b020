package drivertest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

func (s *suite) testEvents(t *testing.T) {
	t.Helper()
	v := s.open(t)
	v.visit(t, "http://shop.test/events")
	about := func(kind drivers.EventKind, part string) func(drivers.Event) bool {
		return func(e drivers.Event) bool { return e.Kind == kind && strings.Contains(e.URL, part) }
	}
	t.Run("of the main document", func(t *testing.T) {
		request := v.events.awaitMatch(t, 1, "request", about(drivers.EventRequest, "/events"))[0]
		require.True(t, request.MainFrame)
		require.Equal(t, "GET", request.Method)
		require.Equal(t, "document", request.Type)
		response := v.events.awaitMatch(t, 1, "response", about(drivers.EventResponse, "/events"))[0]
		require.Equal(t, request.RequestID, response.RequestID)
		require.Equal(t, 200, response.Status)
		require.Equal(t, "text/html", response.MIMEType)
		require.Contains(t, response.Header["content-type"], "text/html")
		finished := v.events.awaitMatch(t, 1, "finished", func(e drivers.Event) bool {
			return e.Kind == drivers.EventFinished && e.RequestID == request.RequestID
		})[0]
		require.Positive(t, finished.Bytes)
		navigated := v.events.awaitMatch(t, 1, "navigated", about(drivers.EventNavigated, "/events"))[0]
		require.True(t, navigated.MainFrame)
		require.False(t, navigated.At.IsZero())
	})
	t.Run("of other requests, failed ones too", func(t *testing.T) {
		response := v.events.awaitMatch(t, 1, "response", about(drivers.EventResponse, "/status"))[0]
		require.Equal(t, 404, response.Status)
		require.False(t, response.MainFrame)
		request := v.events.awaitMatch(t, 1, "request", about(drivers.EventRequest, "/reset"))[0]
		failed := v.events.awaitMatch(t, 1, "failed", func(e drivers.Event) bool {
			return e.Kind == drivers.EventFailed && e.RequestID == request.RequestID
		})[0]
		require.Regexp(t, "^net::ERR_", failed.Text)
	})
	t.Run("of the console and of page errors", func(t *testing.T) {
		console := v.events.awaitMatch(t, 1, "console", func(e drivers.Event) bool {
			return e.Kind == drivers.EventConsole && strings.Contains(e.Text, "careful")
		})[0]
		require.Equal(t, "careful 42", console.Text)
		require.Equal(t, "warning", console.Type)
		fault := v.events.await(t, drivers.EventPageError, 1)[0]
		require.Contains(t, fault.Text, "page is at fault")
	})
	t.Run("in order", func(t *testing.T) {
		place := map[drivers.EventKind]int{}
		for i, e := range v.events.all(func(e drivers.Event) bool { return e.MainFrame }) {
			if _, seen := place[e.Kind]; !seen {
				place[e.Kind] = i
			}
		}
		require.Less(t, place[drivers.EventRequest], place[drivers.EventResponse])
		require.Less(t, place[drivers.EventResponse], place[drivers.EventNavigated])
	})
	t.Run("a sink that is slow does not slow the page", func(t *testing.T) {
		release := make(chan struct{})
		c, err := s.browser.NewContext(within(t, patience), drivers.ContextOptions{
			Proxy: v.proxy.address(), Sink: drivers.SinkFunc(func(drivers.Event) { <-release }),
		})
		require.NoError(t, err)
		p, err := c.NewPage(within(t, patience))
		require.NoError(t, err)
		requirePrompt(t, func() {
			_, err := p.Goto(within(t, patience), "http://shop.test/events")
			require.NoError(t, err)
		})
		close(release)
		require.NoError(t, c.Close(within(t, patience)))
	})
}

func (s *suite) testDialogs(t *testing.T) {
	t.Helper()
	t.Run("are dismissed and reported", func(t *testing.T) {
		v := s.open(t)
		requirePrompt(t, func() { v.visit(t, "http://shop.test/dialogs") })
		require.JSONEq(t, "[false, null]", eval[string](t, v, "document.title"))
		var types []string
		for _, e := range v.events.await(t, drivers.EventDialog, 3) {
			types = append(types, e.Type+" "+e.Text)
		}
		require.Equal(t, []string{"alert one", "confirm two", "prompt three"}, types)
	})
	t.Run("a flood of them ends", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/flood")
		v.events.await(t, drivers.EventDialog, 30)
		require.Equal(t, "after", eval[string](t, v, "document.querySelector('h1').textContent"))
	})
	t.Run("a page that asks to stay is left", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/leave")
		require.NoError(t, v.Click(within(t, patience), "#arm"))
		requirePrompt(t, func() { v.visit(t, "http://shop.test/ok") })
		// Full Chromium does not even ask.
		for _, e := range v.events.all(func(e drivers.Event) bool { return e.Kind == drivers.EventDialog }) {
			require.Equal(t, "beforeunload", e.Type)
		}
	})
	t.Run("a page that asks to stay is closed", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/leave")
		require.NoError(t, v.Click(within(t, patience), "#arm"))
		requirePrompt(t, func() { require.NoError(t, v.Close(within(t, patience))) })
	})
}

func (s *suite) testIntruders(t *testing.T) {
	t.Helper()
	t.Run("pages that the site opens are closed and reported", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/popup")
		for i, selector := range []string{"#open", "#blank"} {
			require.NoError(t, v.Click(within(t, patience), selector))
			require.Len(t, v.events.await(t, drivers.EventPopup, i+1), i+1)
		}
		require.Equal(t, "http://shop.test/popup", v.URL())
		require.Equal(t, 2, eval[int](t, v, "1 + 1"))
		p := v.page(t) // and are not taken for pages of ours
		require.Equal(t, "about:blank", p.URL())
		require.Equal(t, "about:blank", eval[string](t, p, "location.href"))
	})
	t.Run("a download that a link begins is refused and reported", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/download")
		require.NoError(t, v.Click(within(t, patience), "#get"))
		download := v.events.await(t, drivers.EventDownload, 1)[0]
		require.Equal(t, "report.zip", download.Text)
		require.Equal(t, "http://shop.test/file.zip", download.URL)
		require.Equal(t, 2, eval[int](t, v, "1 + 1"))
	})
}
