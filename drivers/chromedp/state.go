package chromedp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"

	"github.com/limpet-dev/limpet/drivers"
)

// State reads the cookies and the localStorage of the origins.
func (c *Context) State(ctx context.Context, origins ...string) (*drivers.StorageState, error) {
	const op = "read state"
	if c.life.Err() != nil || ctx.Err() != nil {
		return nil, fault(ctx, c.life, op, "", errors.New("not started"))
	}
	cookies, err := c.cookies(ctx)
	if err != nil {
		return nil, fault(ctx, c.life, op, "", err)
	}
	state := &drivers.StorageState{Cookies: cookies}
	if state.Origins, err = c.storage(ctx, origins); err != nil {
		return nil, fault(ctx, c.life, op, "", err)
	}
	return state, nil
}

// cookies reads the jar.
func (c *Context) cookies(ctx context.Context) ([]drivers.Cookie, error) {
	jar, err := call(ctx, c.life, c.browser.conn, storage.GetCookies, storage.GetCookiesParams{BrowserContextID: c.id})
	if err != nil {
		return nil, err
	}
	cookies := make([]drivers.Cookie, 0, len(jar.Cookies))
	for _, k := range jar.Cookies {
		cookie := drivers.Cookie{
			Name: k.Name, Value: k.Value, Domain: k.Domain, Path: k.Path, Secure: k.Secure, HTTPOnly: k.HTTPOnly,
			SameSite: string(k.SameSite),
		}
		if !k.Session && k.Expires > 0 {
			whole, part := math.Modf(k.Expires)
			cookie.Expires = time.Unix(int64(whole), int64(part*1e9)).UTC()
		}
		if k.PartitionKey != nil {
			cookie.PartitionKey = k.PartitionKey.TopLevelSite
		}
		cookies = append(cookies, cookie)
	}
	return cookies, nil
}

// SetCookies adds cookies and names those that the browser refuses. One that has expired is left out.
func (c *Context) SetCookies(ctx context.Context, cookies ...drivers.Cookie) error {
	const op = "set cookies"
	if c.life.Err() != nil || ctx.Err() != nil {
		return fault(ctx, c.life, op, "", errors.New("not started"))
	}
	if err := c.setCookies(ctx, cookies); err != nil {
		return fault(ctx, c.life, op, "", err)
	}
	return nil
}

func (c *Context) setCookies(ctx context.Context, cookies []drivers.Cookie) error {
	now := time.Now()
	cookies = slices.DeleteFunc(slices.Clone(cookies), func(k drivers.Cookie) bool {
		return !k.Expires.IsZero() && k.Expires.Unix() > 0 && k.Expires.Before(now)
	})
	if len(cookies) == 0 {
		return nil
	}
	if c.put(ctx, cookies) != nil {
		// One that is malformed spoils them all.
		for _, k := range cookies {
			if err := c.put(ctx, []drivers.Cookie{k}); err != nil && (ctx.Err() != nil || c.life.Err() != nil) {
				return err
			}
		}
	}
	// Others are dropped without a word, so the jar is asked what became of them.
	jar, err := c.cookies(ctx)
	if err != nil {
		return err
	}
	var refused []string
	for _, k := range cookies {
		if !slices.ContainsFunc(jar, func(have drivers.Cookie) bool { return same(have, k) }) {
			refused = append(refused, fmt.Sprintf("%s of %s%s", k.Name, k.Domain, k.Path))
		}
	}
	if len(refused) > 0 {
		return &drivers.Error{
			Kind: drivers.CookieRefused, Op: "set cookies",
			Err: fmt.Errorf("the browser refused %s: check prefix, path, domain, and that SameSite=None is also Secure", strings.Join(refused, ", ")),
		}
	}
	return nil
}

// same reports whether the jar has the cookie that was to be set.
func same(have, want drivers.Cookie) bool {
	return have.Name == want.Name && have.Value == want.Value && have.Domain == want.Domain &&
		(have.Path == want.Path || want.Path == "" && have.Path == "/") && have.PartitionKey == want.PartitionKey
}

func (c *Context) put(ctx context.Context, cookies []drivers.Cookie) error {
	params := storage.SetCookiesParams{BrowserContextID: c.id}
	for _, k := range cookies {
		param := &network.CookieParam{
			Name: k.Name, Value: k.Value, Domain: k.Domain, Path: k.Path, Secure: k.Secure, HTTPOnly: k.HTTPOnly,
			SameSite: network.CookieSameSite(k.SameSite),
		}
		if param.Path == "" {
			param.Path = "/"
		}
		if k.Expires.Unix() > 0 {
			param.Expires = cdp.TimeSinceEpoch(float64(k.Expires.UnixMilli()) / 1000)
		}
		if k.PartitionKey != "" {
			param.PartitionKey = &network.CookiePartitionKey{TopLevelSite: k.PartitionKey, HasCrossSiteAncestor: embedded(k)}
		}
		params.Cookies = append(params.Cookies, param)
	}
	_, err := call(ctx, c.life, c.browser.conn, storage.SetCookies, params)
	return err
}

// embedded reports whether a partitioned cookie was set by a frame of another site than its partition's. The
// browser keeps that as a bit of the key, which drivers.Cookie has no place for.
func embedded(k drivers.Cookie) bool {
	site, err := url.Parse(k.PartitionKey)
	if err != nil {
		return true
	}
	host := strings.TrimPrefix(k.Domain, ".")
	return host != site.Hostname() && !strings.HasSuffix(host, "."+site.Hostname())
}
