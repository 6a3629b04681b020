package config_test

import (
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/limpet-dev/limpet/harness/provider"
	"github.com/limpet-dev/limpet/harness/strict/stricttest"
)

// The shape of limpet.yaml, from which config.schema.json is made. What the loader reads and this does not say is
// refused as an unknown key, so the two cannot drift apart unseen.

func TestSchemaIsThatOfTheShape(t *testing.T) {
	stricttest.Golden(t, "config.schema.json", "Limpet configuration", fileShape{})
}

type fileShape struct {
	Schema       string                 `yaml:"$schema" jsonschema_description:"Where editors find this schema."`
	Engine       engineShape            `yaml:"engine" jsonschema_description:"Where the queue and the state are kept."`
	Browser      browserShape           `yaml:"browser"`
	Providers    []providerShape        `yaml:"providers" jsonschema_description:"Proxy providers and what logs in to them."`
	Exits        []exitShape            `yaml:"exits" jsonschema_description:"Single exits. Without any, and without providers: this machine's own address, as the exit here."`
	Origins      map[string]originShape `yaml:"origins" jsonschema_description:"Limits by site: registrable domain, or host as results show it."`
	AllowPrivate []string               `yaml:"allow_private" jsonschema_description:"Networks such as 127.0.0.0/8 that jobs may reach although they are private. None by default."`
	Classify     classifyShape          `yaml:"classify"`
	Telemetry    telemetryShape         `yaml:"telemetry"`
	Console      consoleShape           `yaml:"console"`
}

type engineShape struct {
	Embedded string    `yaml:"embedded" jsonschema:"minLength=1,default=.limpet" jsonschema_description:"Folder of the engine in this process; relative to this file."`
	NATS     string    `yaml:"nats" jsonschema:"minLength=1" jsonschema_description:"Addresses of a cluster, separated by commas; instead of embedded."`
	Creds    reference `yaml:"creds"`
}

// reference is where a secret comes from. Its form is judged by the loader alone, which never prints it.
type reference string

func (reference) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Examples: []any{"env:PROXY_USER", "file:/run/secrets/proxy", "exec:pass show proxy"},
		Description: "Where the secret comes from: env:NAME, file:PATH or exec:COMMAND; never the secret itself.",
	}
}

type browserShape struct {
	Driver      string       `yaml:"driver" jsonschema:"enum=chromedp,enum=playwright,default=chromedp" jsonschema_description:"Library that drives the browser."`
	Executable  string       `yaml:"executable" jsonschema:"minLength=1" jsonschema_description:"Path of the browser. Without it: the first found of chromium-headless-shell and chromium."`
	Concurrency concurrency  `yaml:"concurrency"`
	Recycle     recycleShape `yaml:"recycle" jsonschema_description:"When a browser is replaced by a new one."`
	Sandbox     bool         `yaml:"sandbox" jsonschema_description:"Asks for Chromium's sandbox. It cannot be had as root."`
	TrustCA     string       `yaml:"trust_ca" jsonschema:"minLength=1" jsonschema_description:"PEM file of an authority of your own; relative to this file."`
	TrustSPKI   []string     `yaml:"trust_spki" jsonschema:"minItems=1" jsonschema_description:"Base64 SHA-256 hashes of public keys to trust."`
	Playwright  string       `yaml:"playwright" jsonschema:"minLength=1" jsonschema_description:"Folder of the Playwright driver package; relative to this file."`
}

type concurrency struct{}

func (concurrency) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		OneOf:       []*jsonschema.Schema{{Type: "integer", Minimum: "1", Maximum: "1000"}, {Type: "string", Enum: []any{"auto"}}},
		Description: "Contexts at a time, or auto.", Extras: map[string]any{"errorMessage": "is neither auto nor a number from 1 to 1000"},
	}
}

type recycleShape struct {
	Jobs int                 `yaml:"jobs" jsonschema:"minimum=1" jsonschema_description:"After this many jobs."`
	Age  stricttest.Duration `yaml:"age"`
}

type providerShape struct {
	provider.Definition `yaml:",inline"`

	Name       string               `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"Its name in events and intents."`
	Use        string               `yaml:"use" jsonschema:"minLength=1" jsonschema_description:"Entry of the catalogue. Without it the product is spelt out here: kind and grammar and so on."`
	Credential credentialShape      `yaml:"credential"`
	Endpoints  []string             `yaml:"endpoints" jsonschema:"minItems=1" jsonschema_description:"host:port of gateways, instead of the catalogue's."`
	Countries  []stricttest.Country `yaml:"countries" jsonschema:"minItems=1" jsonschema_description:"Where the exits are, instead of what the catalogue says."`
	PricePerGB price                `yaml:"price_per_gb"`
}

type price string

func (price) JSONSchema() *jsonschema.Schema {
	return stricttest.Matching(`[0-9]+(\.[0-9]+)? [A-Z]{3}`, "is not a price such as 4.00 USD", "Price of a gigabyte.", "4.00 USD")
}

type credentialShape struct {
	Username reference `yaml:"username"`
	Password reference `yaml:"password"`
	Next     reference `yaml:"next"`
}

type exitShape struct {
	Name       string             `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"Its name in events and intents."`
	URL        string             `yaml:"url" jsonschema:"minLength=1" jsonschema_description:"Address of the proxy: http, https or socks5, without a credential."`
	Direct     bool               `yaml:"direct" jsonschema_description:"Leaves by this machine's own address."`
	Country    stricttest.Country `yaml:"country"`
	Credential credentialShape    `yaml:"credential"`
}

type originShape struct {
	Rate        rate   `yaml:"rate"`
	Burst       int    `yaml:"burst" jsonschema:"minimum=1" jsonschema_description:"Jobs at once after a pause."`
	Concurrency int    `yaml:"concurrency" jsonschema:"minimum=1" jsonschema_description:"Jobs at a time."`
	Robots      string `yaml:"robots" jsonschema:"enum=obey,enum=ignore,default=obey" jsonschema_description:"Whether robots.txt is obeyed where the job does not say."`
}

type rate string

func (rate) JSONSchema() *jsonschema.Schema {
	return stricttest.Matching(`[0-9]+(\.[0-9]+)?/(s|min|h)`, "is not a rate such as 2/s, 30/min or 500/h", "Jobs begun in a time.", "30/min")
}

type classifyShape struct {
	Rules            []string            `yaml:"rules" jsonschema:"minItems=1" jsonschema_description:"Files of signatures of your own; * stands for any name; relative to this file."`
	InterstitialWait stricttest.Duration `yaml:"interstitial_wait"`
}

type telemetryShape struct {
	Prometheus string `yaml:"prometheus" jsonschema:"minLength=1" jsonschema_description:"host:port on which metrics are served."`
	OTLP       string `yaml:"otlp" jsonschema:"minLength=1" jsonschema_description:"Address that telemetry is sent to, or env:NAME."`
}

type consoleShape struct {
	Listen string `yaml:"listen" jsonschema:"minLength=1" jsonschema_description:"host:port of the web page."`
}
