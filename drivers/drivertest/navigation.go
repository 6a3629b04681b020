package drivertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

// errDrained is a cause of cancellation.
var errDrained = errors.New("the worker is being drained")

func (s *suite) testNavigation(t *testing.T) {
	t.Helper()
	v := s.open(t)
	t.Run("a new page has neither address nor response", func(t *testing.T) {
		require.Equal(t, "about:blank", v.URL())
		require.Nil(t, v.Response())
	})
	t.Run("status, type and header", func(t *testing.T) {
		resp := v.visit(t, "http://shop.test/headers")
		require.Equal(t, 200, resp.Status)
		require.Equal(t, "http://shop.test/headers", resp.URL)
		require.Equal(t, "text/html", resp.MIMEType)
		require.Equal(t, "one, two", resp.Header["x-twice"])
		require.Equal(t, "first=1\nsecond=2; HttpOnly", resp.Header["set-cookie"])
		require.Empty(t, resp.Redirects)
		require.Equal(t, resp.URL, v.URL())
		require.Equal(t, resp.Status, v.Response().Status)
	})
	t.Run("redirects are kept in order", func(t *testing.T) {
		resp := v.visit(t, "http://shop.test/redirect?n=2")
		require.Equal(t, "http://shop.test/redirect?n=0", resp.URL)
		require.Equal(t, 200, resp.Status)
		require.Len(t, resp.Redirects, 2)
		for i, hop := range resp.Redirects {
			require.Equal(t, 302, hop.Status)
			require.Equal(t, []string{"http://shop.test/redirect?n=2", "http://shop.test/redirect?n=1"}[i], hop.URL)
			require.Equal(t, []string{"/redirect?n=1", "/redirect?n=0"}[i], hop.Location)
		}
	})
	for name, query := range map[string]string{
		"404 with a body": "code=404&body=none", "503 with a body": "code=503&body=none",
		"403 without one": "code=403", "502 without one": "code=502", "401 without one": "code=401",
	} {
		t.Run("an error status is an answer: "+name, func(t *testing.T) {
			page := v.page(t)
			resp, err := page.Goto(within(t, patience), "http://shop.test/status?"+query)
			require.NoError(t, err)
			require.Contains(t, query, "code="+itoa(resp.Status))
			require.NoError(t, page.Close(within(t, patience)))
		})
	}
	t.Run("a fragment of the same document is no new response", func(t *testing.T) {
		v.visit(t, "http://shop.test/ok")
		resp := v.visit(t, "http://shop.test/ok#part")
		require.Equal(t, 200, resp.Status)
		require.Equal(t, "http://shop.test/ok#part", v.URL())
	})
	t.Run("the same address twice is loaded twice", func(t *testing.T) {
		v.visit(t, "http://shop.test/ok?twice")
		v.visit(t, "http://shop.test/ok?twice")
		require.Len(t, v.proxy.requests("/ok?twice"), 2)
	})
	t.Run("an empty document is an answer without a status", func(t *testing.T) {
		require.Zero(t, v.visit(t, "about:blank").Status)
	})
	t.Run("a link is followed", func(t *testing.T) {
		v.visit(t, "http://shop.test/ok")
		require.NoError(t, v.Click(within(t, patience), "#link"))
		require.NoError(t, v.WaitURL(within(t, patience), "*/ok?next"))
		require.Equal(t, "http://shop.test/ok?next", v.Response().URL)
		require.Equal(t, "http://shop.test/ok?next", v.URL())
	})
}

func (s *suite) testFailures(t *testing.T) {
	t.Helper()
	cases := map[string]struct {
		path string
		kind drivers.Kind
		net  string
	}{
		"no content":                 {"/status?code=204", drivers.Navigation, "^net::ERR_ABORTED$"},
		"a redirect loop":            {"/loop?n=0", drivers.Navigation, "^net::ERR_TOO_MANY_REDIRECTS$"},
		"a connection that is reset": {"/reset", drivers.Navigation, "^net::ERR_(CONNECTION_RESET|EMPTY_RESPONSE|CONNECTION_CLOSED)$"},
		"a body that is cut":         {"/cut", drivers.Navigation, "^net::ERR_(CONTENT_LENGTH_MISMATCH|CONNECTION_RESET|CONNECTION_CLOSED|INCOMPLETE_CHUNKED_ENCODING)$"},
		"an attachment":              {"/file.zip", drivers.Download, "^$"},
		"a binary file":              {"/file.bin", drivers.Download, "^$"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := s.open(t)
			requirePrompt(t, func() {
				_, err := v.Goto(within(t, patience), "http://shop.test"+c.path)
				e := failure(t, c.kind, err)
				require.Regexp(t, c.net, e.Net)
				require.Equal(t, "http://shop.test"+c.path, e.What)
			})
			requireKind(t, drivers.PageSpent, v.Click(within(t, patience), "#marker"))
			_, err := v.Goto(within(t, patience), "http://shop.test/ok")
			requireKind(t, drivers.PageSpent, err)
			_, err = v.Snapshot(within(t, patience), 0)
			require.NoError(t, err)
			require.NoError(t, v.Close(within(t, patience)))

			p := v.page(t)
			resp, err := p.Goto(within(t, patience), "http://shop.test/ok")
			require.NoError(t, err)
			require.Equal(t, 200, resp.Status)
		})
	}
	t.Run("the status of an empty answer is seen", func(t *testing.T) {
		v := s.open(t)
		_, err := v.Goto(within(t, patience), "http://shop.test/status?code=204")
		require.Error(t, err)
		require.NotNil(t, v.Response())
		require.Equal(t, 204, v.Response().Status)
	})
	t.Run("the browser's error page is known for what it is", func(t *testing.T) {
		v := s.open(t)
		_, err := v.Goto(within(t, patience), "http://shop.test/reset")
		requireKind(t, drivers.Navigation, err)
		snapshot, err := v.Snapshot(within(t, patience), 0)
		require.NoError(t, err)
		require.True(t, snapshot.ErrorPage, "%+v", snapshot)
	})
	t.Run("an address that is none", func(t *testing.T) {
		v := s.open(t)
		_, err := v.Goto(within(t, patience), "http://")
		requireKind(t, drivers.Navigation, err)
	})
	t.Run("credentials in an address are in no error", func(t *testing.T) {
		v := s.open(t)
		_, err := v.Goto(within(t, patience), "http://user:hunter2@shop.test/reset")
		requireKind(t, drivers.Navigation, err)
		require.NotContains(t, err.Error(), "hunter2")
	})
}

func (s *suite) testSettling(t *testing.T) {
	t.Helper()
	cases := map[string]struct {
		path string
		o    drivers.SettleOptions
		want drivers.Settled
	}{
		"by a marker that is there":       {"/ok", drivers.SettleOptions{Marker: "#marker", Quiet: time.Minute}, drivers.SettledMarker},
		"by a marker that comes late":     {"/late", drivers.SettleOptions{Marker: "#late", Quiet: time.Minute}, drivers.SettledMarker},
		"by quiet":                        {"/ok", drivers.SettleOptions{}, drivers.SettledQuiet},
		"by quiet without its marker":     {"/ok", drivers.SettleOptions{Marker: "#none"}, drivers.SettledQuiet},
		"by the cap":                      {"/restless", drivers.SettleOptions{Cap: 700 * time.Millisecond}, drivers.SettledCap},
		"in the document that comes next": {"/hop", drivers.SettleOptions{Marker: "#marker", Quiet: 5 * time.Second}, drivers.SettledMarker},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := s.open(t)
			v.visit(t, "http://shop.test"+c.path)
			start := time.Now()
			got, err := v.Settle(within(t, patience), c.o)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Less(t, time.Since(start), prompt)
		})
	}
	t.Run("a deadline is stronger than the cap", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/restless")
		requirePrompt(t, func() {
			_, err := v.Settle(within(t, 500*time.Millisecond), drivers.SettleOptions{Cap: time.Minute})
			requireKind(t, drivers.Timeout, err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
	t.Run("a marker that is no selector is a script error", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/ok")
		_, err := v.Settle(within(t, patience), drivers.SettleOptions{Marker: "a[["})
		requireKind(t, drivers.Script, err)
	})
}
