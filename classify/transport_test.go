package classify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

func TestTransport(t *testing.T) {
	fine := &classify.Exchange{Status: 200, URL: "https://shop.test/"}
	page := &classify.Page{HTML: `<h1 id="name">Lantern</h1>`}
	wall := &classify.Page{HTML: `<script>window._cf_chl_opt={}</script>`}
	for name, tc := range map[string]struct {
		ev   classify.Evidence
		want classify.Class
	}{
		"gateway's fault before the browser's text": {classify.Evidence{Transport: classify.Transport{
			Fault: classify.NoExit, Driver: "navigation", NetError: "net::ERR_TUNNEL_CONNECTION_FAILED",
		}}, classify.NoExit},
		"dead browser before the fault that its death caused": {classify.Evidence{Transport: classify.Transport{
			Fault: classify.Reset, Driver: "browser_lost",
		}}, classify.BrowserCrashed},
		"renderer gone":    {driver("crashed"), classify.BrowserCrashed},
		"no browser":       {driver("launch_failed"), classify.LaunchFailed},
		"dead tab":         {driver("unresponsive"), classify.Unresponsive},
		"dead library":     {driver("driver_lost"), classify.DriverLost},
		"spent page":       {driver("page_spent"), classify.DriverLost},
		"file":             {driver("download"), classify.Download},
		"cancelled":        {driver("cancelled"), classify.Cancelled},
		"out of time":      {driver("timeout"), classify.Timeout},
		"no text":          {driver("navigation"), classify.Connect},
		"own reply":        {classify.Evidence{Transport: classify.Transport{LocalReply: true}, HTTP: &classify.Exchange{Status: 502}}, classify.TunnelFailed},
		"own reply of 407": {classify.Evidence{Transport: classify.Transport{LocalReply: true}, HTTP: &classify.Exchange{Status: 407}}, classify.CredentialRejected},
		"browser's own page, whatever it holds": {classify.Evidence{
			HTTP: fine, Page: &classify.Page{HTML: page.HTML, BrowserError: true}, Expect: &classify.Expectation{Marker: "#name"},
		}, classify.Connect},
		"browser's own page for an error without a body": {classify.Evidence{
			HTTP: &classify.Exchange{Status: 429}, Page: &classify.Page{BrowserError: true},
		}, classify.RateLimited},
		"the same with the browser's text": {classify.Evidence{
			Transport: classify.Transport{Driver: "navigation", NetError: "net::ERR_HTTP_RESPONSE_CODE_FAILURE"}, HTTP: &classify.Exchange{Status: 404},
		}, classify.Gone},
		"fault of another connection beside a good page": {classify.Evidence{
			Transport: classify.Transport{Fault: classify.DNS}, HTTP: fine, Page: page, Expect: &classify.Expectation{Marker: "#name"},
		}, classify.Useful},
		"changed exit beside a good page": {classify.Evidence{
			Transport: classify.Transport{Fault: classify.ExitChanged}, HTTP: fine, Page: page, Expect: &classify.Expectation{Marker: "#name"},
		}, classify.ExitChanged},
		"wall that never comes to rest": {classify.Evidence{
			Transport: classify.Transport{Driver: "timeout", Committed: true}, HTTP: fine, Page: wall,
		}, classify.Interstitial},
		"page that never comes to rest": {classify.Evidence{
			Transport: classify.Transport{Driver: "timeout", Committed: true}, HTTP: fine, Page: page, Expect: &classify.Expectation{Marker: "#name"},
		}, classify.Timeout},
		"error that never comes to rest": {classify.Evidence{
			Transport: classify.Transport{Driver: "timeout", Committed: true}, HTTP: &classify.Exchange{Status: 500}, Page: page,
		}, classify.ServerError},
	} {
		t.Run(name, func(t *testing.T) {
			v := classifier(t).Classify(tc.ev).Verdict
			require.Equal(t, tc.want, v.Class, "%+v", v.Signals)
			require.NotEmpty(t, v.Signals)
		})
	}
}

func driver(kind string) classify.Evidence {
	return classify.Evidence{Transport: classify.Transport{Driver: kind}}
}

func TestNetErrors(t *testing.T) {
	for text, want := range map[string]classify.Class{
		"net::ERR_NAME_NOT_RESOLVED":            classify.DNS,
		"net::ERR_DNS_TIMED_OUT":                classify.DNS,
		"net::ERR_CONNECTION_REFUSED":           classify.Connect,
		"net::ERR_CONNECTION_TIMED_OUT":         classify.Connect,
		"net::ERR_ADDRESS_UNREACHABLE":          classify.Connect,
		"net::ERR_CONNECTION_RESET":             classify.Reset,
		"net::ERR_CONNECTION_CLOSED":            classify.Reset,
		"net::ERR_EMPTY_RESPONSE":               classify.Reset,
		"net::ERR_INCOMPLETE_CHUNKED_ENCODING":  classify.Reset,
		"net::ERR_HTTP2_PROTOCOL_ERROR":         classify.Reset,
		"net::ERR_CERT_AUTHORITY_INVALID":       classify.TLS,
		"net::ERR_SSL_PROTOCOL_ERROR":           classify.TLS,
		"net::ERR_TOO_MANY_REDIRECTS":           classify.RedirectLoop,
		"net::ERR_TIMED_OUT":                    classify.Timeout,
		"net::ERR_PROXY_CONNECTION_FAILED":      classify.GatewayUnreachable,
		"net::ERR_TUNNEL_CONNECTION_FAILED":     classify.TunnelFailed,
		"net::ERR_SOCKS_CONNECTION_FAILED":      classify.TunnelFailed,
		"net::ERR_PROXY_AUTH_UNSUPPORTED":       classify.CredentialRejected,
		"net::ERR_BLOCKED_BY_CLIENT":            classify.PolicyDenied,
		"net::ERR_UNSAFE_PORT":                  classify.UnsupportedContent,
		"net::ERR_INSUFFICIENT_RESOURCES":       classify.BrowserCrashed,
		"net::ERR_NEW_IN_2030":                  classify.Connect,
		"net::ERR_NAME_NOT_RESOLVED at https:x": classify.DNS,
	} {
		v := classifier(t).Classify(classify.Evidence{Transport: classify.Transport{Driver: "navigation", NetError: text}}).Verdict
		require.Equal(t, want, v.Class, text)
		require.Equal(t, classify.StageNavigation, v.Stage, text)
	}
}

func TestStatus(t *testing.T) {
	retry := map[string]string{"retry-after": "4"}
	for name, tc := range map[string]struct {
		x    classify.Exchange
		want classify.Class
	}{
		"400":                  {classify.Exchange{Status: 400}, classify.BadRequest},
		"401":                  {classify.Exchange{Status: 401}, classify.Unauthorized},
		"403":                  {classify.Exchange{Status: 403}, classify.Forbidden},
		"404":                  {classify.Exchange{Status: 404}, classify.Gone},
		"407":                  {classify.Exchange{Status: 407}, classify.CredentialRejected},
		"408":                  {classify.Exchange{Status: 408}, classify.ServerError},
		"410":                  {classify.Exchange{Status: 410}, classify.Gone},
		"429":                  {classify.Exchange{Status: 429}, classify.RateLimited},
		"451":                  {classify.Exchange{Status: 451}, classify.Forbidden},
		"500":                  {classify.Exchange{Status: 500}, classify.ServerError},
		"503":                  {classify.Exchange{Status: 503}, classify.ServerError},
		"503 with Retry-After": {classify.Exchange{Status: 503, Header: retry}, classify.RateLimited},
		"PDF":                  {classify.Exchange{Status: 200, MIMEType: "application/pdf"}, classify.UnsupportedContent},
		"picture":              {classify.Exchange{Status: 200, Header: map[string]string{"content-type": "image/png"}}, classify.UnsupportedContent},
		"JSON":                 {classify.Exchange{Status: 200, MIMEType: "application/json"}, classify.Unknown},
		"HTML":                 {classify.Exchange{Status: 200, MIMEType: "text/html; charset=utf-8"}, classify.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, classifier(t).Classify(classify.Evidence{HTTP: &tc.x}).Verdict.Class)
		})
	}
}
