package playwright

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// A rawCookie is a cookie as the browser tells it. The library's own reads unset SameSite as Lax and loses half of the
// partition key, so cookies are read and set over the browser's protocol session, as every driver does it.
type rawCookie struct {
	Name         string  `json:"name"`
	Value        string  `json:"value"`
	Domain       string  `json:"domain"`
	Path         string  `json:"path"`
	Expires      float64 `json:"expires"` // seconds since 1970; -1 for a session cookie
	HTTPOnly     bool    `json:"httpOnly"`
	Secure       bool    `json:"secure"`
	SameSite     string  `json:"sameSite"`
	PartitionKey *struct {
		TopLevelSite string `json:"topLevelSite"`
	} `json:"partitionKey"`
}

// SetCookies adds cookies.
func (c *Context) SetCookies(ctx context.Context, cookies ...drivers.Cookie) error {
	const op = "set cookies"
	if len(cookies) == 0 {
		return nil
	}
	list := make([]any, len(cookies))
	for i := range cookies {
		list[i] = toCookie(&cookies[i])
	}
	if _, err := call(ctx, &c.calls, c.closed, void(func() error { return c.addCookies(list) })); err != nil {
		return c.explain(ctx, op, "", err)
	}
	jar, err := c.jar(ctx, op)
	if err != nil {
		return err
	}
	if refused := missing(cookies, jar, time.Now()); len(refused) > 0 {
		return &drivers.Error{
			Kind: drivers.CookieRefused, Op: op, What: strings.Join(refused, ", "),
			Err: errors.New("SameSite=None and partitioned cookies have to be Secure, and so have names with the prefix __Secure- or __Host-"),
		}
	}
	return nil
}

// addCookies sets cookies one by one if the browser refuses the list: it takes all or none. That one of them is
// refused is no error here, the jar shows it.
func (c *Context) addCookies(list []any) error {
	_, err := c.storageCall("Storage.setCookies", map[string]any{"cookies": list})
	if err == nil || read(err).kind != "" {
		return err
	}
	for i := range list {
		_, err := c.storageCall("Storage.setCookies", map[string]any{"cookies": list[i : i+1]})
		if err != nil && read(err).kind != "" {
			return err
		}
	}
	return nil
}

// jar reads all cookies of the context.
func (c *Context) jar(ctx context.Context, op string) ([]drivers.Cookie, error) {
	answer, err := call(ctx, &c.calls, c.closed, func() (any, error) { return c.storageCall("Storage.getCookies", map[string]any{}) })
	if err != nil {
		return nil, c.explain(ctx, op, "", err)
	}
	// The library hands over a decoded object.
	text, err := json.Marshal(answer)
	var list struct {
		Cookies []rawCookie `json:"cookies"`
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, &drivers.Error{Kind: drivers.DriverLost, Op: op, Err: fmt.Errorf("decode the browser's cookies: %w", err)}
	}
	jar := make([]drivers.Cookie, len(list.Cookies))
	for i := range list.Cookies {
		jar[i] = fromCookie(list.Cookies[i])
	}
	return jar, nil
}

// storageCall puts a question about this context to the browser.
func (c *Context) storageCall(method string, params map[string]any) (any, error) {
	params["browserContextId"] = c.id
	return c.browser.session.Send(method, params)
}

// restore puts the cookies of a saved state into a new context. A state that the browser takes in part is worth more
// than none: what it refuses is logged.
func (c *Context) restore(ctx context.Context, cookies []drivers.Cookie) error {
	err := c.SetCookies(ctx, cookies...)
	if drivers.KindOf(err) == drivers.CookieRefused {
		c.browser.log.LogAttrs(ctx, slog.LevelWarn, "saved cookies refused", slog.String("error", err.Error()))
		return nil
	}
	return err
}

// missing names the cookies that are not in the jar and ought to be. A cookie that has expired ought not.
func missing(want, jar []drivers.Cookie, now time.Time) []string {
	type key struct{ name, domain, path, partition string }
	have := make(map[key]bool, len(jar))
	for i := range jar {
		have[key{jar[i].Name, jar[i].Domain, jar[i].Path, jar[i].PartitionKey}] = true
	}
	var names []string
	for i := range want {
		w := &want[i]
		k := key{w.Name, strings.ToLower(w.Domain), pathOf(w), w.PartitionKey}
		expired := !w.Expires.IsZero() && !w.Expires.After(now)
		if !expired && !have[k] {
			names = append(names, fmt.Sprintf("%s (%s)", w.Name, w.Domain))
		}
	}
	return names
}

// pathOf is the path of a cookie; empty means all.
func pathOf(c *drivers.Cookie) string {
	if c.Path == "" {
		return "/"
	}
	return c.Path
}

// toCookie translates a cookie for the browser. It makes a map, since the library sends the zero fields of a struct
// whatever their tags say, and an expiry of 0 is long ago.
func toCookie(c *drivers.Cookie) map[string]any {
	out := map[string]any{
		"name": c.Name, "value": c.Value, "domain": c.Domain, "path": pathOf(c), "httpOnly": c.HTTPOnly, "secure": c.Secure,
	}
	if c.SameSite != "" {
		out["sameSite"] = c.SameSite
	}
	if !c.Expires.IsZero() {
		out["expires"] = float64(c.Expires.UnixMilli()) / 1000
	}
	if c.PartitionKey != "" {
		out["partitionKey"] = map[string]any{
			"topLevelSite": c.PartitionKey,
			// drivers.Cookie keeps the site alone. A partitioned cookie is made for frames of other sites.
			"hasCrossSiteAncestor": !sameHost(c.Domain, c.PartitionKey),
		}
	}
	return out
}

// sameHost reports whether a cookie's domain is that of a site such as "https://shop.test", or below it.
func sameHost(domain, site string) bool {
	_, host, _ := strings.Cut(site, "://")
	domain = "." + strings.TrimPrefix(strings.ToLower(domain), ".")
	return strings.HasSuffix(domain, "."+strings.ToLower(host))
}

// fromCookie translates a cookie of the browser.
func fromCookie(c rawCookie) drivers.Cookie {
	out := drivers.Cookie{
		Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Secure: c.Secure, HTTPOnly: c.HTTPOnly,
		SameSite: c.SameSite,
	}
	if c.Expires > 0 {
		whole, part := math.Modf(c.Expires)
		out.Expires = time.Unix(int64(whole), int64(part*1e9)).UTC()
	}
	if c.PartitionKey != nil {
		out.PartitionKey = c.PartitionKey.TopLevelSite
	}
	return out
}

// State reads cookies and the localStorage of some origins.
func (c *Context) State(ctx context.Context, origins ...string) (*drivers.StorageState, error) {
	jar, err := c.jar(ctx, "state")
	if err != nil {
		return nil, err
	}
	state := &drivers.StorageState{Cookies: jar, Origins: []drivers.OriginStorage{}}
	for _, origin := range origins {
		items, err := c.storage(ctx, origin)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			state.Origins = append(state.Origins, drivers.OriginStorage{Origin: origin, LocalStorage: items})
		}
	}
	return state, nil
}
