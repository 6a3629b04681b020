package drivertest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

const shop = "http://shop.test"

func (s *suite) testState(t *testing.T) {
	t.Helper()
	first := s.open(t)
	first.visit(t, shop+"/login?as=ada")
	state, err := first.context.State(within(t, patience), shop)
	require.NoError(t, err)

	t.Run("has every cookie with all it says", func(t *testing.T) {
		require.Len(t, state.Cookies, 4)
		session, hidden, lasting, wide := cookie(t, state, "session"), cookie(t, state, "hidden"), cookie(t, state, "lasting"), cookie(t, state, "wide")
		require.Equal(t, drivers.Cookie{Name: "session", Value: "ada", Domain: "shop.test", Path: "/"}, session)
		require.True(t, hidden.HTTPOnly)
		require.Equal(t, "Strict", hidden.SameSite)
		require.WithinDuration(t, time.Now().Add(time.Hour), lasting.Expires, time.Minute)
		require.Equal(t, "Lax", lasting.SameSite)
		require.Equal(t, ".shop.test", wide.Domain)
	})
	t.Run("has the storage of the origins asked for", func(t *testing.T) {
		require.Equal(t, []drivers.OriginStorage{{Origin: shop, LocalStorage: map[string]string{"who": "ada"}}}, state.Origins)
		none, err := first.context.State(within(t, patience))
		require.NoError(t, err)
		require.Empty(t, none.Origins)
	})
	t.Run("has the storage of an origin that no page shows, without asking the site", func(t *testing.T) {
		first.visit(t, "about:blank")
		before := s.site.hits.Load()
		again, err := first.context.State(within(t, patience), shop)
		require.NoError(t, err)
		require.Equal(t, state.Origins, again.Origins)
		require.Equal(t, before, s.site.hits.Load())
	})
	t.Run("comes back in another context", func(t *testing.T) {
		second := s.openWith(t, s.browser, drivers.ContextOptions{State: state})
		require.Empty(t, second.proxy.requests(""), "putting state in asked the site")
		second.visit(t, shop+"/echo")
		cookies := eval[string](t, second, "document.querySelector('#cookie').textContent")
		for _, name := range []string{"session", "hidden", "lasting", "wide"} {
			require.Contains(t, cookies, name+"=ada")
		}
		require.Equal(t, "ada", eval[string](t, second, "localStorage.getItem('who')"))
		back, err := second.context.State(within(t, patience), shop)
		require.NoError(t, err)
		require.Equal(t, sorted(state), sorted(back))

		second.visit(t, "http://deep.shop.test/echo")
		cookies = eval[string](t, second, "document.querySelector('#cookie').textContent")
		require.NotContains(t, cookies, "session=", "a cookie of one host was widened")
		require.Contains(t, cookies, "wide=ada")
	})
	t.Run("cookies that are refused are named and the others set", func(t *testing.T) {
		v := s.open(t)
		err := v.context.SetCookies(within(t, patience),
			drivers.Cookie{Name: "good", Value: "1", Domain: "shop.test", Path: "/"},
			drivers.Cookie{Name: "__Host-bad", Value: "hunter2", Domain: ".shop.test", Path: "/x"},
			drivers.Cookie{Name: "stale", Value: "1", Domain: "shop.test", Path: "/", Expires: time.Now().Add(-time.Hour)},
			drivers.Cookie{Name: "fine", Value: "1", Domain: ".shop.test", Path: "/", Expires: time.Now().Add(time.Hour)},
		)
		requireKind(t, drivers.CookieRefused, err)
		require.ErrorContains(t, err, "__Host-bad")
		require.NotContains(t, err.Error(), "hunter2")
		require.NotContains(t, err.Error(), "good")
		v.visit(t, shop+"/echo")
		require.Equal(t, "good=1; fine=1", eval[string](t, v, "document.querySelector('#cookie').textContent"))
	})
}

// cookie finds a cookie by name.
func cookie(t *testing.T, s *drivers.StorageState, name string) drivers.Cookie {
	t.Helper()
	i := slices.IndexFunc(s.Cookies, func(c drivers.Cookie) bool { return c.Name == name })
	require.GreaterOrEqual(t, i, 0, "no cookie %s in %v", name, s.Cookies)
	return s.Cookies[i]
}

// sorted is a copy with cookies in the order of their names and times in whole seconds.
func sorted(s *drivers.StorageState) drivers.StorageState {
	out := drivers.StorageState{Cookies: slices.Clone(s.Cookies), Origins: s.Origins}
	for i := range out.Cookies {
		if !out.Cookies[i].Expires.IsZero() {
			out.Cookies[i].Expires = out.Cookies[i].Expires.Round(time.Second).UTC()
		}
	}
	slices.SortFunc(out.Cookies, func(a, b drivers.Cookie) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}
