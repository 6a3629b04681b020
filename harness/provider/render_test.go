package provider_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/provider"
)

func open(t *testing.T, name, user, password string) *provider.Provider {
	t.Helper()
	def, err := provider.Lookup(name)
	require.NoError(t, err)
	o := provider.Overrides{}
	if def.Kind == provider.Connect && len(def.Endpoints) == 0 {
		o.Endpoints = []string{"127.0.0.1:8080"}
	}
	p, err := provider.New(def, provider.NewSecret(user), provider.NewSecret(password), o)
	require.NoError(t, err)
	return p
}

func TestRenderWritesTheProvidersGrammar(t *testing.T) {
	full := provider.Ask{Country: "US", Region: "California", City: "Los Angeles", Session: "abc123", TTL: 10 * time.Minute}
	for _, c := range []struct {
		provider, user string
		ask            provider.Ask
		want           string
	}{
		{"limpet-fixture", "ada", provider.Ask{}, "customer-ada"},
		{"limpet-fixture", "ada", provider.Ask{Country: "DE"}, "customer-ada-country-de"},
		{
			"limpet-fixture", "ada",
			provider.Ask{Country: "DE", City: "Berlin", Session: "s1", TTL: 10 * time.Minute},
			"customer-ada-country-de-city-berlin-session-s1-minutes-10",
		},
		{"limpet-fixture", "ada", provider.Ask{Session: "s1", TTL: 61 * time.Second}, "customer-ada-session-s1-minutes-2"},
		{"limpet-fixture", "ada", provider.Ask{TTL: time.Minute}, "customer-ada"},
		{"limpet-fixture", "customer-ada", provider.Ask{Country: "DE"}, "customer-ada-country-de"},
		{
			"brightdata-residential", "hl_1-zone-res", full,
			"brd-customer-hl_1-zone-res-country-us-state-california-city-losangeles-session-abc123-const-route_err-block",
		},
		{
			"brightdata-residential", "brd-customer-hl_1-zone-res",
			provider.Ask{Country: "DE", ASN: "AS3320"},
			"brd-customer-hl_1-zone-res-country-de-asn-3320-route_err-block",
		},
		{
			"oxylabs-residential", "joe", full,
			"customer-joe-cc-US-st-us_california-city-los_angeles-sessid_oneip-abc123-sesstime-10",
		},
		{"oxylabs-residential", "joe", provider.Ask{ASN: "21928", Session: "abc"}, "customer-joe-ASN-21928-sessid_oneip-abc"},
		{"http-proxy", "plain user", provider.Ask{}, "plain user"},
	} {
		t.Run(c.provider+"/"+c.want, func(t *testing.T) {
			r, err := open(t, c.provider, c.user, "pw").Render(c.ask)
			require.NoError(t, err)
			require.Equal(t, c.want, r.Username.Reveal())
			require.Equal(t, "pw", r.Password.Reveal())
			require.Equal(t, c.provider, r.Source)
			require.NotNil(t, r.Errors)
		})
	}
}

func TestRenderRefusesByNameWhatItCannotWrite(t *testing.T) {
	for name, c := range map[string]struct {
		provider string
		ask      provider.Ask
		field    provider.Field
	}{
		"city is not weakened to country": {"http-proxy", provider.Ask{City: "Berlin"}, provider.FieldCity},
		"region unknown to the grammar":   {"limpet-fixture", provider.Ask{Region: "Bavaria"}, provider.FieldRegion},
		"asn unknown to the grammar":      {"limpet-fixture", provider.Ask{ASN: "1"}, provider.FieldASN},
		"city without its country":        {"oxylabs-residential", provider.Ask{City: "Berlin"}, provider.FieldCity},
		"asn beside a country": {
			"oxylabs-residential", provider.Ask{Country: "DE", ASN: "1", Session: "s"}, provider.FieldASN,
		},
		"session on a fixed proxy":        {"http-proxy", provider.Ask{Session: "s"}, provider.FieldSession},
		"session that injects a field":    {"limpet-fixture", provider.Ask{Session: "s-country-us"}, provider.FieldSession},
		"city that injects a field":       {"limpet-fixture", provider.Ask{Country: "DE", City: "x-session-1"}, provider.FieldCity},
		"city outside the grammar":        {"limpet-fixture", provider.Ask{Country: "DE", City: "Köln"}, provider.FieldCity},
		"country that is no country code": {"limpet-fixture", provider.Ask{Country: "Germany"}, provider.FieldCountry},
		"ttl over the limit": {
			"oxylabs-residential", provider.Ask{Session: "s", TTL: 25 * time.Hour}, provider.FieldTTL,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, c.provider, "ada", "pw").Render(c.ask)
			var unsupported *provider.UnsupportedError
			require.ErrorAs(t, err, &unsupported)
			require.Equal(t, c.field, unsupported.Field)
			require.Equal(t, c.provider, unsupported.Provider)
		})
	}
}

func TestFixedCountryAnswersForItself(t *testing.T) {
	def, err := provider.Lookup("http-proxy")
	require.NoError(t, err)
	p, err := provider.New(def, provider.Secret{}, provider.Secret{},
		provider.Overrides{Name: "dc-1", Endpoints: []string{"proxy.test:1", "proxy.test:2"}, Countries: []string{"de"}})
	require.NoError(t, err)
	require.Equal(t, []string{"DE"}, p.Capabilities().Countries)

	r, err := p.Render(provider.Ask{Country: "DE", Endpoint: "proxy.test:2"})
	require.NoError(t, err)
	require.Equal(t, "proxy.test:2", r.Endpoint)
	require.Equal(t, "dc-1", r.Source)
	_, err = p.Render(provider.Ask{Country: "FR"})
	require.ErrorContains(t, err, "no exits there")
	_, err = p.Render(provider.Ask{Endpoint: "elsewhere.test:1"})
	require.ErrorContains(t, err, "no endpoint")
}

func TestPasswordCarrierExtendsThePassword(t *testing.T) {
	defs, err := provider.Parse([]byte(`
- name: in-password
  kind: connect
  endpoints: ["gw.test:1"]
  grammar:
    carrier: password
    separator: "_"
    pieces:
      - { credential: true }
      - { field: country, key: country, join: "-", encode: [lower] }
      - { field: session, key: session, join: "-" }
  session: { alphabet: abc, length: 8 }
`))
	require.NoError(t, err)
	p, err := provider.New(defs[0], provider.NewSecret("u"), provider.NewSecret("p@ss:/#"), provider.Overrides{})
	require.NoError(t, err)
	r, err := p.Render(provider.Ask{Country: "GB", Session: "abcabcab"})
	require.NoError(t, err)
	require.Equal(t, "u", r.Username.Reveal())
	require.Equal(t, "p@ss:/#_country-gb_session-abcabcab", r.Password.Reveal())
	_, err = p.Render(provider.Ask{Session: "abc"})
	require.ErrorContains(t, err, "8 to 8")
}

func TestCapabilitiesFollowTheGrammar(t *testing.T) {
	c := open(t, "brightdata-residential", "u", "p").Capabilities()
	require.Equal(t, provider.Capabilities{
		Country: true, Region: true, City: true, ASN: true, Sessions: true, Strict: true, IdleLimit: time.Minute,
	}, c)
	c = open(t, "direct", "", "").Capabilities()
	require.Equal(t, provider.Capabilities{}, c)
	require.Equal(t, 24*time.Hour, open(t, "oxylabs-residential", "u", "p").Capabilities().MaxTTL)
}

func TestNewSessionIDFitsItsProvider(t *testing.T) {
	for _, def := range provider.Catalogue() {
		if def.Session.Length == 0 {
			continue
		}
		t.Run(def.Name, func(t *testing.T) {
			p := open(t, def.Name, "u", "p")
			seen := map[string]bool{}
			for range 100 {
				id, err := p.NewSessionID(nil)
				require.NoError(t, err)
				require.False(t, seen[id])
				seen[id] = true
				_, err = p.Render(provider.Ask{Session: id})
				require.NoError(t, err)
			}
		})
	}
	_, err := open(t, "http-proxy", "u", "p").NewSessionID(nil)
	require.ErrorContains(t, err, "no sessions")
}

func TestNewSessionIDIsReproducibleFromItsRandomness(t *testing.T) {
	seed := sha256.Sum256([]byte("seed"))
	p := open(t, "limpet-fixture", "u", "p")
	a, err := p.NewSessionID(bytes.NewReader(seed[:]))
	require.NoError(t, err)
	b, err := p.NewSessionID(bytes.NewReader(seed[:]))
	require.NoError(t, err)
	require.Equal(t, a, b)
	_, err = p.NewSessionID(bytes.NewReader(nil))
	require.Error(t, err)
}

func TestColonInUsernameIsRefused(t *testing.T) {
	def, err := provider.Lookup("http-proxy")
	require.NoError(t, err)
	_, err = provider.New(def, provider.NewSecret("a:b"), provider.Secret{}, provider.Overrides{Endpoints: []string{"h:1"}})
	require.ErrorContains(t, err, "colon")
	require.NotContains(t, err.Error(), "a:b")
}

func TestSecretNeverPrints(t *testing.T) {
	s := provider.NewSecret("canary")
	out := fmt.Sprintf("%v %s %+v %#v %q", s, s, provider.Route{Username: s}, provider.Route{Password: s}, s)
	require.NotContains(t, out, "canary")
}
