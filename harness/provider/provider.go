package provider

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Provider renders routes with one credential. It is immutable, and safe for concurrent use.
type Provider struct {
	def      Definition
	username Secret
	password Secret
	errors   *ErrorCatalogue
	caps     Capabilities
}

// Overrides replace parts of a definition. The zero value replaces nothing.
type Overrides struct {
	Name      string   // the configuration's own name for it
	Endpoints []string // host:port
	// Countries are where the exits are. Of a product that cannot be asked for a country, one country here means
	// that its exits are all there.
	Countries []string
}

// An UnsupportedError says that a route cannot express a demand. A demand is never weakened to one that it can.
type UnsupportedError struct {
	Provider string
	Field    Field
	Value    string // empty for a session
	Why      string
}

// Error names the provider, the field and the reason.
func (e *UnsupportedError) Error() string {
	what := string(e.Field)
	if e.Value != "" && e.Field != FieldSession {
		what += fmt.Sprintf(" %q", e.Value)
	}
	return fmt.Sprintf("provider %s cannot be asked for %s: %s", e.Provider, what, e.Why)
}

// New checks def and the credential. A username with a colon is refused, because HTTP Basic (RFC 7617, section 2)
// would hand its second half to the password.
func New(def Definition, username, password Secret, o Overrides) (*Provider, error) {
	if o.Name != "" {
		def.Name = o.Name
	}
	if len(o.Endpoints) > 0 {
		def.Endpoints = o.Endpoints
	}
	if len(o.Countries) > 0 {
		def.Countries = o.Countries
	}
	if err := def.Validate(); err != nil {
		return nil, err
	}
	switch {
	case def.Kind == Connect && len(def.Endpoints) == 0:
		return nil, fmt.Errorf("provider %s: no endpoint: give the host:port of its gateway", def.Name)
	case strings.Contains(username.Reveal(), ":"):
		return nil, fmt.Errorf("provider %s: the username has a colon, which HTTP Basic cannot carry", def.Name)
	case len(def.Grammar.Pieces) > 0 && username.Empty():
		return nil, fmt.Errorf("provider %s: no username: set the credential", def.Name)
	}
	errs, err := NewErrorCatalogue(def.Errors, def.ProxyStatus...)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", def.Name, err)
	}
	return &Provider{def: def, username: username, password: password, errors: errs, caps: def.capabilities()}, nil
}

// Name is the configuration's name for the provider.
func (p *Provider) Name() string { return p.def.Name }

// Kind is how its exits are reached.
func (p *Provider) Kind() Kind { return p.def.Kind }

// Endpoints are host:port of its gateways, in the order in which they are to be tried; none for Direct.
func (p *Provider) Endpoints() []string { return slices.Clone(p.def.Endpoints) }

// Capabilities is what it can be asked for.
func (p *Provider) Capabilities() Capabilities {
	c := p.caps
	c.Countries = slices.Clone(c.Countries)
	return c
}

// NewSessionID draws a session id of the form that the provider takes. A nil r means crypto/rand, which is what
// production uses: whoever guesses a session rides its exit.
func (p *Provider) NewSessionID(r io.Reader) (string, error) {
	id, err := p.def.Session.mint(r)
	if err != nil {
		return "", fmt.Errorf("provider %s: %w", p.def.Name, err)
	}
	return id, nil
}

// Render writes ask as a route. What the grammar cannot write is an *UnsupportedError. Where the product has a
// strict form of a session, that form is written.
func (p *Provider) Render(ask Ask) (Route, error) {
	wanted, err := p.check(ask)
	if err != nil {
		return Route{}, p.named(err)
	}
	endpoint, err := p.endpoint(ask.Endpoint)
	if err != nil {
		return Route{}, err
	}
	r := Route{
		Source: p.def.Name, Kind: p.def.Kind, Endpoint: endpoint, Username: p.username, Password: p.password,
		ExitAddrHeader: p.def.ExitAddrHeader, ExitCountryHeader: p.def.ExitCountryHeader, Errors: p.errors,
	}
	own := &r.Username
	if p.def.Grammar.carrier() == InPassword {
		own = &r.Password
	}
	text, err := p.def.Grammar.render(own.Reveal(), wanted)
	if err != nil {
		return Route{}, p.named(err)
	}
	*own = NewSecret(text)
	return r, nil
}

// check refuses what cannot be written, and answers what is left to write.
func (p *Provider) check(ask Ask) (Ask, error) {
	if ask.Country != "" {
		if !isCountry(ask.Country) {
			return ask, &UnsupportedError{Field: FieldCountry, Value: ask.Country, Why: "want two letters of ISO 3166"}
		}
		if len(p.caps.Countries) > 0 && !slices.Contains(p.caps.Countries, strings.ToUpper(ask.Country)) {
			return ask, &UnsupportedError{Field: FieldCountry, Value: ask.Country, Why: "it sells no exits there"}
		}
		if !p.caps.Country && len(p.caps.Countries) == 1 {
			ask.Country = "" // every exit is there already
		}
	}
	for _, f := range []Field{FieldCountry, FieldRegion, FieldCity, FieldASN, FieldSession} {
		if ask.has(f) && !p.def.Grammar.has(f) {
			return ask, &UnsupportedError{Field: f, Value: ask.value(f), Why: "its grammar has no such field"}
		}
	}
	if ask.Session != "" {
		if err := p.def.Session.check(ask.Session); err != nil {
			return ask, &UnsupportedError{Field: FieldSession, Why: err.Error()}
		}
	}
	if p.caps.MaxTTL > 0 && ask.TTL > p.caps.MaxTTL {
		return ask, &UnsupportedError{Field: FieldTTL, Why: fmt.Sprintf("%s is more than its limit of %s", ask.TTL, p.caps.MaxTTL)}
	}
	return ask, nil
}

// endpoint is the wanted one, or the first.
func (p *Provider) endpoint(want string) (string, error) {
	switch {
	case p.def.Kind == Direct:
		return "", nil
	case want == "":
		return p.def.Endpoints[0], nil
	case slices.Contains(p.def.Endpoints, want):
		return want, nil
	default:
		return "", fmt.Errorf("provider %s has no endpoint %q: it has %s", p.def.Name, want, strings.Join(p.def.Endpoints, ", "))
	}
}

// named puts the provider's name into an error of the grammar.
func (p *Provider) named(err error) error {
	if u, ok := errors.AsType[*UnsupportedError](err); ok {
		u.Provider = p.def.Name
	}
	return err
}
