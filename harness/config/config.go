package config

import (
	"net/netip"
	"time"

	"github.com/limpet-dev/limpet/harness/provider"
)

// A Config is the configuration of one installation, with every secret resolved. The zero value is not usable: take
// Default, or what Load answers.
type Config struct {
	File      string // it was read from; empty for Default
	Engine    Engine
	Browser   Browser
	Providers []ProviderConfig
	Exits     []Exit
	Origins   map[string]Origin
	// AllowPrivate are networks that jobs may reach although they are private.
	AllowPrivate []netip.Prefix
	Classify     Classify
	Telemetry    Telemetry
	Console      Console

	ignored []string
}

// Ignored names what the configuration sets and this version does not act on, for a warning.
func (c Config) Ignored() []string { return c.ignored }

// Default is the configuration without a file: a browser of its own, and one exit, here, which is this machine's own
// address.
func Default() Config {
	return Config{
		Engine:  Engine{Embedded: ".limpet"},
		Browser: Browser{Driver: "chromedp"},
		Exits:   []Exit{{Name: "here", Direct: true}},
		Origins: map[string]Origin{},
	}
}

// Engine is where the queue and the state are kept.
type Engine struct {
	Embedded string   // folder of the engine in this process
	NATS     []string // addresses of a cluster; empty means embedded
	Creds    string   // reference to the cluster's credential; not resolved in this version
}

// Browser says which browser to run and how.
type Browser struct {
	Driver      string // "chromedp" or "playwright"
	Executable  string // empty means the first that is found
	Concurrency int    // contexts at a time; 0 means auto
	Recycle     Recycle
	Sandbox     bool
	TrustCA     string   // PEM file of an authority of the operator's own; empty means none
	TrustSPKI   []string // hashes of public keys to trust, beside those of TrustCA
	Playwright  string   // folder of the Playwright driver package; empty means the usual one
}

// Recycle is when a browser is replaced. Zero fields mean the runner's default.
type Recycle struct {
	Jobs int
	Age  time.Duration
}

// A ProviderConfig is one proxy provider: which product, and what logs in to it.
type ProviderConfig struct {
	Name       string
	Use        string               // entry of the catalogue; empty if Definition is set
	Definition *provider.Definition // spelt out here; nil if Use is set
	Username   provider.Secret
	Password   provider.Secret
	Next       string   // reference to the credential that follows; not resolved in this version
	Endpoints  []string // instead of the definition's
	Countries  []string // instead of the definition's
	PricePerGB Price
}

// Provider makes the provider that the configuration describes.
func (p ProviderConfig) Provider() (*provider.Provider, error) {
	var def provider.Definition
	if p.Definition != nil {
		def = *p.Definition
	} else {
		var err error
		if def, err = provider.Lookup(p.Use); err != nil {
			return nil, err
		}
	}
	return provider.New(def, p.Username, p.Password, provider.Overrides{Name: p.Name, Endpoints: p.Endpoints, Countries: p.Countries})
}

// A Price is an amount of money. The zero value means that it is not known.
type Price struct {
	Amount   float64
	Currency string // ISO 4217
}

// An Exit is one fixed way out: this machine itself, or one proxy.
type Exit struct {
	Name     string
	Direct   bool
	Protocol string // "http", "https" or "socks5"; empty for a direct exit
	Endpoint string // host:port; empty for a direct exit
	Country  string // ISO 3166 alpha-2; empty if unknown
	Username provider.Secret
	Password provider.Secret
}

// An Origin holds the limits of one site. Zero fields mean no limit.
type Origin struct {
	PerSecond   float64 // jobs begun a second
	Burst       int
	Concurrency int
	Robots      string // "obey", "ignore", or empty if it does not say
}

// Classify tunes the judgement of pages.
type Classify struct {
	Rules            []string      // files of signatures of the operator's own, in the order of their patterns
	InterstitialWait time.Duration // how long a page may take to let the browser in by itself; 0 means the default
}

// Telemetry is where measurements go. It has no effect in this version.
type Telemetry struct {
	Prometheus string // host:port
	OTLP       string // address, or a reference to one
}

// Console is the web page. It has no effect in this version.
type Console struct{ Listen string }
