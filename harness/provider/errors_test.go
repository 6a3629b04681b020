package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/provider"
)

func catalogue(t *testing.T, name string) *provider.ErrorCatalogue {
	t.Helper()
	def, err := provider.Lookup(name)
	require.NoError(t, err)
	c, err := provider.NewErrorCatalogue(def.Errors, def.ProxyStatus...)
	require.NoError(t, err)
	return c
}

// reply is "status reason" and "name: value" fields.
func reply(status int, reason string, fields ...string) provider.Reply {
	r := provider.Reply{Status: status, Reason: reason, Header: map[string]string{}}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header[strings.ToLower(name)] = value
	}
	return r
}

func TestConnectRefusals(t *testing.T) {
	const brdConst = `Proxy-Status: brd.superproxy.io; error=destination_ip_unroutable; details="client-10060: not allocated"`
	for _, c := range []struct {
		provider string
		reply    provider.Reply
		class    classify.Class
		retry    bool
	}{
		{"http-proxy", reply(407, "Proxy Authentication Required"), classify.CredentialRejected, false},
		{"http-proxy", reply(401, ""), classify.CredentialRejected, false},
		{"http-proxy", reply(402, ""), classify.ProviderLimit, false},
		{"http-proxy", reply(403, "Forbidden"), classify.TunnelFailed, false},
		{"http-proxy", reply(451, ""), classify.TunnelFailed, false},
		{"http-proxy", reply(429, ""), classify.ProviderLimit, true},
		{"http-proxy", reply(502, "Bad Gateway"), classify.TunnelFailed, false},
		{"http-proxy", reply(599, ""), classify.TunnelFailed, false},
		{"http-proxy", reply(302, ""), classify.TunnelFailed, false},
		{"http-proxy", reply(502, "", "Proxy-Status: squid; error=dns_error"), classify.DNS, false},
		{"http-proxy", reply(502, "", `Proxy-Status: squid; error="connection_refused"`), classify.Connect, false},
		{"http-proxy", reply(403, "", "Proxy-Status: squid; error=http_request_denied"), classify.ProviderPolicy, false},
		{"http-proxy", reply(502, "", "Proxy-Status: ;;;;"), classify.TunnelFailed, false},

		{"limpet-fixture", reply(502, "", "X-Fixture-Error: session_lost"), classify.ExitLost, false},
		{"limpet-fixture", reply(503, "", "X-Fixture-Error: no_exit"), classify.NoExit, false},
		{"limpet-fixture", reply(403, "", "X-Fixture-Error: policy"), classify.ProviderPolicy, false},
		{"limpet-fixture", reply(502, "", "X-Fixture-Error: target_unreachable"), classify.Connect, false},
		{"limpet-fixture", reply(502, "", "X-Fixture-Error: dns"), classify.DNS, false},
		{"limpet-fixture", reply(400, "", "X-Fixture-Error: bad_username"), classify.CredentialRejected, false},
		{"limpet-fixture", reply(407, "TRAFFIC_EXHAUSTED"), classify.ProviderLimit, false},
		{"limpet-fixture", reply(407, "THREADS_EXHAUSTED"), classify.ProviderLimit, true},
		{"limpet-fixture", reply(407, "NO_USER"), classify.CredentialRejected, false},

		{"brightdata-residential", reply(407, "", "x-brd-err-code: client_10001"), classify.CredentialRejected, false},
		{"brightdata-residential", reply(407, "", "x-brd-err-code: client_10020"), classify.ProviderLimit, false},
		{"brightdata-residential", reply(502, "", "x-brd-err-code: client_10100"), classify.ProviderLimit, false},
		{"brightdata-residential", reply(429, "", "x-brd-err-code: policy_20220"), classify.ProviderLimit, true},
		{"brightdata-residential", reply(402, "", "x-brd-err-code: policy_20140"), classify.ProviderPolicy, false},
		{"brightdata-residential", reply(403, "", "x-brd-err-code: policy_20230"), classify.NoExit, false},
		{"brightdata-residential", reply(502, "", "x-brd-err-code: client_10120"), classify.ExitLost, false},
		{"brightdata-residential", reply(502, "", "x-brd-err-code: target_40001"), classify.DNS, false},
		{"brightdata-residential", reply(502, "", "x-brd-err-code: target_40020"), classify.Connect, false},
		{"brightdata-residential", reply(400, "", brdConst), classify.ExitLost, false},

		{
			"oxylabs-residential", reply(407, "", "X-Error-Description: Access denied: traffic limit reached."),
			classify.ProviderLimit, false,
		},
		{
			"oxylabs-residential", reply(502, "", "X-Error-Description: Bad gateway: session failed."),
			classify.ExitLost, false,
		},
		{"oxylabs-residential", reply(502, "Bad Gateway"), classify.TunnelFailed, false},
		{"oxylabs-residential", reply(525, "No Exit Found"), classify.NoExit, false},
	} {
		f := catalogue(t, c.provider).Connect(c.reply)
		require.Equal(t, c.class, f.Class, "%s %+v", c.provider, c.reply)
		require.Equal(t, c.retry, f.Retry, "%s %+v", c.provider, c.reply)
		require.NotEmpty(t, f.Detail)
	}
}

func TestNilCatalogueReadsTheStatus(t *testing.T) {
	var c *provider.ErrorCatalogue
	require.Equal(t, classify.CredentialRejected, c.Connect(reply(407, "")).Class)
	_, ours := c.Plain(reply(503, ""))
	require.False(t, ours)
}

// FC03-13: a proxy's own 503 and the site's must not be confused.
func TestPlainAnswerIsTheProvidersOnlyWithAMark(t *testing.T) {
	c := catalogue(t, "limpet-fixture")
	_, theirs := c.Plain(reply(503, "Service Unavailable"))
	require.False(t, theirs)
	f, theirs := c.Plain(reply(503, "", "X-Fixture-Error: no_exit"))
	require.True(t, theirs)
	require.Equal(t, classify.NoExit, f.Class)
	f, theirs = c.Plain(reply(407, "THREADS_EXHAUSTED"))
	require.True(t, theirs)
	require.True(t, f.Retry)
	_, theirs = c.Plain(reply(502, "", "Proxy-Status: origin.test; error=dns_error"))
	require.False(t, theirs, "a target can send the field too")

	_, theirs = catalogue(t, "oxylabs-residential").Plain(reply(525, ""))
	require.False(t, theirs, "a status alone is no mark")
	f, theirs = catalogue(t, "brightdata-residential").Plain(
		reply(502, "", "Proxy-Status: brd.superproxy.io; error=dns_error"))
	require.True(t, theirs)
	require.Equal(t, classify.DNS, f.Class)
}

// FC03-08: right credentials, and yet a fifth of the requests answered with 407.
func TestRejectionAfterSuccessIsALimit(t *testing.T) {
	bare := catalogue(t, "limpet-fixture").Connect(reply(407, "Proxy Authentication Required"))
	require.Equal(t, classify.CredentialRejected, bare.Class)
	require.Equal(t, classify.ProviderLimit, bare.AfterSuccess().Class)
	require.True(t, bare.AfterSuccess().Retry)

	named := catalogue(t, "brightdata-residential").Connect(reply(407, "", "x-brd-err-code: client_10002"))
	require.Equal(t, named, named.AfterSuccess(), "the provider says that the credential is wrong")
	traffic := catalogue(t, "limpet-fixture").Connect(reply(407, "TRAFFIC_EXHAUSTED"))
	require.Equal(t, traffic, traffic.AfterSuccess())
}

func TestDetailIsNeverAWholeField(t *testing.T) {
	c, err := provider.NewErrorCatalogue([]provider.ErrorRule{{Headers: []string{"X-Err"}, Class: classify.NoExit}})
	require.NoError(t, err)
	f := c.Connect(reply(http.StatusBadGateway, "customer-ada-session-s1", "X-Err: user customer-ada-session-s1"))
	require.Equal(t, "502 x-err", f.Detail)
}

func TestDefinitionFaultsAreAllNamed(t *testing.T) {
	_, err := provider.Parse([]byte(`
- name: bad
  kind: carrier-pigeon
  endpoints: ["no port"]
  verified_at: yesterday
  countries: [Germany]
  grammar:
    pieces: [{ field: shoe_size }, { literal: a, credential: true }, { field: ttl }, { field: city, encode: [rot13] }]
  errors: [{ status: 500 }, { class: dns }, { status: 1, reason: "(", class: dns }, { status: 1, code: x, class: dns }]
`))
	for _, want := range []string{
		"kind", "endpoint", "verified_at", "country", "shoe_size", "exactly one", "unit", "rot13",
		"no class", "no condition", "missing closing )", "code without headers",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = provider.Parse([]byte("- name: x\n  kind: direct\n  colour: red\n"))
	require.ErrorContains(t, err, "colour")
	_, err = provider.Lookup("acme")
	require.ErrorContains(t, err, "limpet-fixture")
}
