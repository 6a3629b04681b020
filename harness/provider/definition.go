package provider

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// A Definition describes one product of one provider. It is data: nothing in the code knows a provider by name.
type Definition struct {
	Name string `yaml:"name"`
	Kind Kind   `yaml:"kind"`
	// VerifiedAt is the date (2006-01-02) on which the provider's documentation was last read for this entry.
	VerifiedAt string `yaml:"verified_at,omitempty"`
	// Endpoints are host:port of the gateways, tried in turn. A configuration may replace them.
	Endpoints []string `yaml:"endpoints,omitempty"`
	// Grammar says how an Ask is written into the credential.
	Grammar Grammar `yaml:"grammar,omitempty"`
	// Session says what a session id looks like. The zero value means that the product has no sessions.
	Session SessionRule `yaml:"session,omitempty"`
	// MaxTTL is the longest session that may be asked for; zero means that the provider names none.
	MaxTTL time.Duration `yaml:"max_ttl,omitempty"`
	// IdleLimit is how long a session lives without traffic; zero means for ever.
	IdleLimit time.Duration `yaml:"idle_limit,omitempty"`
	// Countries are those on sale, ISO 3166 alpha-2; empty means any that the grammar can write.
	Countries []string `yaml:"countries,omitempty"`
	// ExitAddrHeader and ExitCountryHeader name fields of the CONNECT answer that show the exit; empty if none.
	ExitAddrHeader    string `yaml:"exit_addr_header,omitempty"`
	ExitCountryHeader string `yaml:"exit_country_header,omitempty"`
	// ProxyStatus are the names under which the gateway signs the Proxy-Status field.
	ProxyStatus []string `yaml:"proxy_status,omitempty"`
	// Errors read the provider's refusals; the first that holds decides.
	Errors []ErrorRule `yaml:"errors,omitempty"`
}

// Capabilities is what a provider can be asked for.
type Capabilities struct {
	Country, Region, City, ASN bool
	// Sessions means that a session id can be written. Without it the endpoint is one exit, or rotates by itself.
	Sessions bool
	// Strict means that a session fails when its exit is gone, instead of moving to another in silence.
	Strict    bool
	MaxTTL    time.Duration // zero means that no limit is known
	IdleLimit time.Duration // zero means never
	Countries []string      // ISO 3166 alpha-2 in upper case; empty means any
}

// Validate reports every fault of the definition, joined.
func (d Definition) Validate() error {
	var faults []error
	if d.Name == "" {
		faults = append(faults, errors.New("name is empty"))
	}
	if d.Kind != Direct && d.Kind != Connect {
		faults = append(faults, fmt.Errorf("kind %q: want %s or %s", d.Kind, Direct, Connect))
	}
	for _, e := range d.Endpoints {
		if err := checkEndpoint(e); err != nil {
			faults = append(faults, err)
		}
	}
	for _, c := range d.Countries {
		if !isCountry(c) {
			faults = append(faults, fmt.Errorf("country %q: want two letters of ISO 3166", c))
		}
	}
	if d.VerifiedAt != "" {
		if _, err := time.Parse(time.DateOnly, d.VerifiedAt); err != nil {
			faults = append(faults, fmt.Errorf("verified_at %q: want a date such as 2026-11-30", d.VerifiedAt))
		}
	}
	faults = append(faults, d.Grammar.validate(), d.Session.validate(d.Grammar.has(FieldSession)))
	_, err := NewErrorCatalogue(d.Errors, d.ProxyStatus...)
	faults = append(faults, err)
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("provider %s: %w", d.Name, err)
	}
	return nil
}

// capabilities are read off the grammar, so that what is promised and what can be written never differ.
func (d Definition) capabilities() Capabilities {
	g := d.Grammar
	c := Capabilities{
		Country: g.has(FieldCountry), Region: g.has(FieldRegion), City: g.has(FieldCity), ASN: g.has(FieldASN),
		Sessions: g.has(FieldSession), Strict: slices.ContainsFunc(g.Pieces, func(p Piece) bool { return p.Strict }),
		MaxTTL: d.MaxTTL, IdleLimit: d.IdleLimit,
	}
	for _, country := range d.Countries {
		c.Countries = append(c.Countries, strings.ToUpper(country))
	}
	return c
}

func checkEndpoint(e string) error {
	host, port, err := net.SplitHostPort(e)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("endpoint %q: want host:port", e)
	}
	return nil
}

// isCountry reports whether s is written like ISO 3166 alpha-2.
func isCountry(s string) bool {
	return len(s) == 2 && strings.Trim(strings.ToUpper(s), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
