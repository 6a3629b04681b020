package drivertest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

func (s *suite) testIsolation(t *testing.T) {
	t.Helper()
	a, b := s.open(t), s.open(t)
	a.visit(t, "http://shop.test/login?as=ada")
	b.visit(t, "http://shop.test/login?as=bob")
	for name, v := range map[string]*tab{"ada": a, "bob": b} {
		v.visit(t, "http://shop.test/echo?of="+name)
		cookies := eval[string](t, v, "document.querySelector('#cookie').textContent")
		require.Contains(t, cookies, "session="+name)
		require.NotContains(t, cookies, map[string]string{"ada": "bob", "bob": "ada"}[name])
		require.Equal(t, name, eval[string](t, v, "localStorage.getItem('who')"))
		require.Len(t, v.proxy.requests("/cached.js"), 1, "a cache entry of another context was used")
	}
	require.Empty(t, a.proxy.requests("bob"))
	require.Empty(t, b.proxy.requests("ada"))

	t.Run("pages of one context share its jar and its cache", func(t *testing.T) {
		p := a.page(t)
		_, err := p.Goto(within(t, patience), "http://shop.test/login?as=ada")
		require.NoError(t, err)
		require.True(t, eval[bool](t, p, "window.cached"))
		require.Len(t, a.proxy.requests("/cached.js"), 1)
		require.NoError(t, p.Close(within(t, patience)))
	})
}

func (s *suite) testContainment(t *testing.T) {
	t.Helper()
	loopback := "http://" + s.site.plain.Listener.Addr().String()
	t.Run("loopback addresses go through the proxy", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, loopback+"/ok?loopback")
		require.Len(t, v.proxy.requests("/ok?loopback"), 1)
		v.visit(t, "http://localhost/ok?by-name")
		require.Len(t, v.proxy.requests("/ok?by-name"), 1)
	})
	t.Run("a context without a proxy reaches nothing", func(t *testing.T) {
		c, err := s.browser.NewContext(within(t, patience), drivers.ContextOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close(within(t, patience))) }()
		before := s.site.hits.Load()
		for _, url := range []string{loopback + "/ok", "http://shop.test/ok"} {
			p, err := c.NewPage(within(t, patience))
			require.NoError(t, err)
			_, err = p.Goto(within(t, patience), url)
			requireKind(t, drivers.Navigation, err)
		}
		require.Equal(t, before, s.site.hits.Load())
	})
	t.Run("with the proxy gone nothing leaves", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/ok")
		v.proxy.close()
		before := s.site.hits.Load()
		_, err := v.Goto(within(t, patience), loopback+"/ok")
		e := failure(t, drivers.Navigation, err)
		require.Equal(t, "net::ERR_PROXY_CONNECTION_FAILED", e.Net)
		require.Equal(t, before, s.site.hits.Load())
	})
	t.Run("media negotiation sends no packet", func(t *testing.T) {
		udp, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp4", "127.0.0.1:0")
		require.NoError(t, err)
		got := make(chan struct{}, 1)
		go func() {
			if n, _, _ := udp.ReadFrom(make([]byte, 1500)); n > 0 {
				got <- struct{}{}
			}
		}()
		v := s.open(t)
		v.visit(t, "http://shop.test/ok")
		eval[any](t, v, `new Promise(done => {
			const pc = new RTCPeerConnection({iceServers: [{urls: 'stun:`+udp.LocalAddr().String()+`'}]});
			pc.createDataChannel('x');
			pc.onicecandidate = e => { if (!e.candidate) done(null); };
			pc.createOffer().then(o => pc.setLocalDescription(o));
			setTimeout(done, 1000, null);
		})`)
		require.NoError(t, udp.Close())
		require.Empty(t, got, "a packet reached the STUN server")
	})
	t.Run("only keys that are named are trusted", func(t *testing.T) {
		v := s.open(t)
		require.Equal(t, 200, v.visit(t, "https://shop.test/ok").Status)
		require.Len(t, v.proxy.requests("shop.test:443"), 1)
		_, err := v.Goto(within(t, patience), "https://untrusted.test/ok")
		e := failure(t, drivers.Navigation, err)
		require.Regexp(t, "^net::ERR_CERT_", e.Net)
	})
}

func (s *suite) testPersona(t *testing.T) {
	t.Helper()
	v := s.openWith(t, s.browser, drivers.ContextOptions{
		Locale: "de-DE", TimeZone: "America/New_York", Viewport: drivers.Size{Width: 800, Height: 600},
		Geolocation: &drivers.Geolocation{Latitude: 52.5, Longitude: 13.4, Accuracy: 10},
	})
	v.visit(t, "https://shop.test/echo")
	require.Equal(t, "de-DE", eval[string](t, v, "navigator.language"))
	require.Equal(t, "de-DE", eval[string](t, v, "Intl.NumberFormat().resolvedOptions().locale"))
	require.Equal(t, "1.234,5", eval[string](t, v, "(1234.5).toLocaleString()"))
	require.Regexp(t, "^de-DE", eval[string](t, v, "document.querySelector('#language').textContent"))
	require.Equal(t, "America/New_York", eval[string](t, v, "Intl.DateTimeFormat().resolvedOptions().timeZone"))
	require.Equal(t, 19, eval[int](t, v, "new Date(0).getHours()"))
	require.Equal(t, []int{800, 600}, eval[[]int](t, v, "[innerWidth, innerHeight]"))
	require.Equal(t, []float64{52.5, 13.4}, eval[[]float64](t, v,
		"new Promise((ok, no) => navigator.geolocation.getCurrentPosition(p => ok([p.coords.latitude, p.coords.longitude]), no))"))

	t.Run("the browser says what it is in every context", func(t *testing.T) {
		plain := s.open(t)
		plain.visit(t, "https://shop.test/echo")
		const agent = "document.querySelector('#agent').textContent"
		require.Equal(t, eval[string](t, plain, agent), eval[string](t, v, agent))
		require.Equal(t, eval[string](t, plain, "navigator.userAgent"), eval[string](t, v, "navigator.userAgent"))
		const brands = "JSON.stringify(navigator.userAgentData?.brands)"
		require.Equal(t, eval[string](t, plain, brands), eval[string](t, v, brands))
		require.Equal(t, []int{1280, 720}, eval[[]int](t, plain, "[innerWidth, innerHeight]"))
	})
}

func (s *suite) testDeadlines(t *testing.T) {
	t.Helper()
	const short = 500 * time.Millisecond
	t.Run("a site that never answers is a timeout", func(t *testing.T) {
		v := s.open(t)
		requirePrompt(t, func() {
			resp, err := v.Goto(within(t, short), "http://shop.test/never")
			requireKind(t, drivers.Timeout, err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Nil(t, resp)
		})
		requirePrompt(t, func() { require.NoError(t, v.Close(within(t, patience))) })
	})
	t.Run("a document that never ends is a timeout with a response", func(t *testing.T) {
		v := s.open(t)
		requirePrompt(t, func() {
			resp, err := v.Goto(within(t, 2*time.Second), "http://shop.test/drip")
			requireKind(t, drivers.Timeout, err)
			require.NotNil(t, resp)
			require.Equal(t, 200, resp.Status)
		})
		snapshot, err := v.Snapshot(within(t, patience), 0)
		require.NoError(t, err)
		require.Contains(t, snapshot.HTML, "begun")
		requirePrompt(t, func() { require.NoError(t, v.Close(within(t, patience))) })
	})
	t.Run("cancelling ends a navigation at once", func(t *testing.T) {
		v := s.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := v.Goto(ctx, "http://shop.test/never")
			result <- err
		}()
		v.events.await(t, drivers.EventRequest, 1)
		cancel()
		requirePrompt(t, func() {
			err := <-result
			requireKind(t, drivers.Cancelled, err)
			require.ErrorIs(t, err, context.Canceled)
		})
	})
	t.Run("the cause of a cancellation is kept", func(t *testing.T) {
		v := s.open(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDrained)
		_, err := v.Goto(ctx, "http://shop.test/ok")
		requireKind(t, drivers.Cancelled, err)
		require.ErrorIs(t, err, errDrained)
	})
	t.Run("a slow script is a timeout", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/ok")
		requirePrompt(t, func() {
			err := v.Evaluate(within(t, short), "new Promise(done => setTimeout(done, 20000))", nil)
			requireKind(t, drivers.Timeout, err)
		})
		require.Equal(t, 2, eval[int](t, v, "1 + 1"))
	})
	t.Run("a busy tab is unresponsive", func(t *testing.T) {
		v := s.open(t)
		v.visit(t, "http://shop.test/spin")
		_ = v.Evaluate(within(t, short), "new Promise(done => setTimeout(done, 200))", nil) // lets the loop begin
		requirePrompt(t, func() {
			requireKind(t, drivers.Unresponsive, v.Evaluate(within(t, short), "1", nil))
		})
		requirePrompt(t, func() { require.NoError(t, v.context.Close(within(t, patience))) })
	})
}
