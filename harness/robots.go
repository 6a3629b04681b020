package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/sync/singleflight"

	"github.com/limpet-dev/limpet/harness/gateway"
)

const (
	robotsAgent   = "limpet"
	robotsTimeout = 10 * time.Second
	robotsBytes   = 500 << 10      // RFC 9309, section 2.5: parse at least 500 KiB
	robotsAge     = 24 * time.Hour // RFC 9309, section 2.4: use no cached copy for longer
)

// Robots answers whether robots.txt lets an address be fetched. Each site's file is fetched once a day, through
// the lease of whoever asks first: a side request leaves by the identity's exit like any other. It is safe for
// concurrent use.
type Robots struct {
	roots  *x509.CertPool // nil: the system's
	flight singleflight.Group

	mu    sync.Mutex
	sites map[string]site // by scheme://host:port
}

type site struct {
	rules   *robotstxt.RobotsData // nil: not known, because the way to it failed
	fetched time.Time
}

// NewRobots makes a Robots. roots are the authorities that it trusts; nil means the system's.
func NewRobots(roots *x509.CertPool) *Robots { return &Robots{roots: roots, sites: map[string]site{}} }

// Allowed reports whether address may be fetched by way of the proxy at proxyAddr. A file that cannot be fetched
// because the way failed says nothing: the visit meets the same failure, with better evidence.
func (r *Robots) Allowed(ctx context.Context, proxyAddr, address string) bool {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return true
	}
	key := u.Scheme + "://" + u.Host
	r.mu.Lock()
	known, ok := r.sites[key]
	r.mu.Unlock()
	if !ok || time.Since(known.fetched) > robotsAge {
		got, _, _ := r.flight.Do(key, func() (any, error) {
			s := site{rules: r.fetch(ctx, proxyAddr, key+"/robots.txt"), fetched: time.Now()}
			if s.rules != nil {
				r.mu.Lock()
				r.sites[key] = s
				r.mu.Unlock()
			}
			return s, nil
		})
		known = got.(site) //nolint:errcheck // the function above answers nothing else
	}
	return known.rules == nil || known.rules.TestAgent(u.RequestURI(), robotsAgent)
}

// fetch answers nil when no answer of the site's arrived.
func (r *Robots) fetch(ctx context.Context, proxyAddr, address string) *robotstxt.RobotsData {
	ctx, cancel := context.WithTimeout(ctx, robotsTimeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: proxyAddr}),
		TLSClientConfig:   &tls.Config{RootCAs: r.roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, // nothing of ours stays open on the lease's port
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil
	}
	req.Header.Set("User-Agent", robotsAgent)
	resp, err := client.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	if resp.Header.Get(gateway.FaultHeader) != "" {
		return nil // our own gateway's answer, not the site's
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, robotsBytes))
	if err != nil {
		return nil
	}
	rules, err := robotstxt.FromStatusAndBytes(resp.StatusCode, body)
	if err != nil {
		return nil
	}
	return rules
}
