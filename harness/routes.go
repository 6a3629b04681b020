package harness

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"

	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/provider"
	"github.com/limpet-dev/limpet/harness/scheduler"
)

// Routes knows every way out that is configured: what the scheduler may grant, and how a grant is dialled.
type Routes struct {
	providers map[string]*provider.Provider
	fixed     map[string]provider.Route
	sources   []scheduler.Source
	key       [32]byte // hides session ids: events name the scheduler's, which must not give away the provider's
}

// NewRoutes makes an empty Routes; Add and AddExit fill it.
func NewRoutes() *Routes {
	r := &Routes{providers: map[string]*provider.Provider{}, fixed: map[string]provider.Route{}}
	rand.Read(r.key[:])
	return r
}

// Add takes a provider's products on sale.
func (r *Routes) Add(p *provider.Provider) {
	c := p.Capabilities()
	r.providers[p.Name()] = p
	r.sources = append(r.sources, scheduler.Source{
		Name: p.Name(), Provider: p.Name(), Protocol: protocolOf(p.Kind()), Endpoints: p.Endpoints(), Fixed: !c.Sessions,
		Countries: c.Countries, Region: c.Region, City: c.City, ASN: c.ASN, MaxTTL: c.MaxTTL, IdleLimit: c.IdleLimit,
	})
}

// AddExit takes one exit that is always the same. country may be empty if it is not known.
func (r *Routes) AddExit(name, country string, route provider.Route) {
	route.Source = name
	r.fixed[name] = route
	s := scheduler.Source{Name: name, Protocol: protocolOf(route.Kind), Fixed: true}
	if route.Endpoint != "" {
		s.Endpoints = []string{route.Endpoint}
	}
	if country != "" {
		s.Countries = []string{country}
	}
	r.sources = append(r.sources, s)
}

// Sources is what the scheduler may grant.
func (r *Routes) Sources() []scheduler.Source { return r.sources }

// Route renders a lease. The session id, in the provider's own alphabet, belongs to the lease's epoch: the same for
// each of its leases, and like no other's.
func (r *Routes) Route(l scheduler.Lease) (provider.Route, error) {
	if route, ok := r.fixed[l.Exit.Source]; ok {
		return route, nil
	}
	p, ok := r.providers[l.Exit.Source]
	if !ok {
		return provider.Route{}, fmt.Errorf("lease %s names source %q, which is not configured", l.ID, l.Exit.Source)
	}
	ask := provider.Ask{
		Country: l.Intent.Country, Region: l.Intent.Region, City: l.Intent.City, ASN: l.Intent.ASN,
		Endpoint: l.Exit.Endpoint,
	}
	if p.Capabilities().Sessions {
		var err error
		if ask.Session, err = p.NewSessionID(r.stream(l.Exit.Session)); err != nil {
			return provider.Route{}, err
		}
		ask.TTL = l.Expires.Sub(l.Granted)
	}
	return p.Render(ask)
}

// stream is the randomness of an epoch's session id.
func (r *Routes) stream(session string) io.Reader {
	mac := hmac.New(sha256.New, r.key[:])
	mac.Write([]byte(session))
	return mathrand.NewChaCha8([32]byte(mac.Sum(nil)))
}

func protocolOf(k provider.Kind) string {
	if k == provider.Direct {
		return "direct"
	}
	return "http"
}

// RoutesOf makes the ways out of a configuration.
func RoutesOf(cfg config.Config) (*Routes, error) {
	r := NewRoutes()
	for _, pc := range cfg.Providers {
		p, err := pc.Provider()
		if err != nil {
			return nil, err
		}
		r.Add(p)
	}
	for _, e := range cfg.Exits {
		route := provider.Route{Kind: provider.Direct}
		switch {
		case e.Direct:
		case e.Protocol == "http":
			route = provider.Route{Kind: provider.Connect, Endpoint: e.Endpoint, Username: e.Username, Password: e.Password}
		default:
			return nil, fmt.Errorf("exit %s: %s proxies are not in this version: use an http proxy", e.Name, e.Protocol)
		}
		r.AddExit(e.Name, e.Country, route)
	}
	return r, nil
}

// Expressible reports every job whose intent no configured source can express, joined. It is what the scheduler
// would answer at lease time, said before anything runs.
func Expressible(cfg config.Config, jobs []jobfile.Job) error {
	routes, err := RoutesOf(cfg)
	if err != nil {
		return err
	}
	var errs []error
	for i := range jobs {
		if err := scheduler.Express(routes.Sources(), jobs[i].Intent); err != nil {
			errs = append(errs, fmt.Errorf("%s: job %s: %w", jobs[i].Pos, jobs[i].ID, err))
		}
	}
	return errors.Join(errs...)
}
