package classify

import "strings"

// transport judges what happened below HTTP. Certain knowledge of our own side comes first (nobody can blame an
// origin for a crashed browser), then the gateway, which saw the connection itself, then the browser's own text,
// which calls many different failures by one name.
func transport(ev *Evidence) finding {
	t := ev.Transport
	if f := ownSide(t.Driver); f.found() {
		return f
	}
	if t.Fault != "" && !arrived(ev) {
		return gatewayFault(t)
	}
	if t.LocalReply {
		return localReply(ev.HTTP)
	}
	if t.Driver == "download" {
		return found(Download, sureFact, "driver.download", "driver")
	}
	if answeredError(ev) {
		return finding{} // its page is the browser's, but the answer was the origin's
	}
	if t.NetError != "" {
		return netError(t.NetError)
	}
	if t.Driver == "timeout" {
		return found(Timeout, sureGuess, "driver.timeout", "driver")
	}
	if t.Driver == "navigation" {
		return found(Connect, sureGuess, "driver.navigation", "driver")
	}
	if ev.Page != nil && ev.Page.BrowserError {
		return found(Connect, sureGuess, "page.browser_error", "the browser's own error page")
	}
	return finding{}
}

// ownSide judges the kinds of driver error that say nothing about the way to the origin.
func ownSide(kind string) finding {
	class, ok := map[string]Class{
		"cancelled":     Cancelled,
		"crashed":       BrowserCrashed,
		"browser_lost":  BrowserCrashed,
		"launch_failed": LaunchFailed,
		"unresponsive":  Unresponsive,
		"driver_lost":   DriverLost,
		"page_spent":    DriverLost, // a page that should have been replaced: our own mistake
		"closed":        DriverLost,
	}[kind]
	if !ok {
		return finding{}
	}
	return found(class, sureFact, "driver."+kind, "driver")
}

// arrived reports whether the document came from the origin and nothing about its visit failed. A fault that
// the gateway saw then concerned another connection, unless it is one that breaks the session itself.
func arrived(ev *Evidence) bool {
	t := ev.Transport
	switch t.Fault {
	case DNS, Connect, TLS, Reset, Timeout, TunnelFailed, GatewayUnreachable, NoExit:
	default:
		return false
	}
	failed := t.LocalReply || t.Driver != "" && t.Driver != "element" && t.Driver != "script" || t.NetError != ""
	return ev.HTTP != nil && !failed && (ev.Page == nil || !ev.Page.BrowserError)
}

func gatewayFault(t Transport) finding {
	where := "gateway"
	if t.FaultDetail != "" {
		where += ": " + clip(t.FaultDetail, 2*maxRawSignal)
	}
	class := t.Fault
	if StageOf(class) != StageNavigation {
		class = TunnelFailed // the gateway broke its contract; the route failed all the same
	}
	return found(class, sureFact, "gateway."+string(t.Fault), where)
}

// localReply judges an answer that our own gateway made without naming a fault.
func localReply(x *Exchange) finding {
	if x != nil && x.Status == 407 {
		return found(CredentialRejected, sureStatus, "gateway.local_reply", "status 407")
	}
	return found(TunnelFailed, sureLikely, "gateway.local_reply", "gateway")
}

// answeredError reports whether the browser shows its own page because the origin answered an error without a
// body. That is an answer, not a failed navigation.
func answeredError(ev *Evidence) bool {
	t := ev.Transport
	if ev.HTTP == nil || ev.HTTP.Status < 400 {
		return false
	}
	return t.NetError == "net::ERR_HTTP_RESPONSE_CODE_FAILURE" || t.NetError == "" && t.Driver == "" && errorDocument(ev)
}

func errorDocument(ev *Evidence) bool { return ev.Page != nil && ev.Page.BrowserError }

// netError reads a browser's "net::ERR_…". Exact names come before families. The names are those of Chromium's
// net/base/net_error_list.h; which of them a proxy's refusal hides behind is in the comment of each.
func netError(text string) finding {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "net::"), " ")
	name = strings.TrimPrefix(name, "ERR_")
	where := "net::ERR_" + clip(name, maxRawSignal)
	for _, e := range netErrors() {
		if name == e.name || strings.HasSuffix(e.name, "_") && strings.HasPrefix(name, e.name) {
			return found(e.class, e.confidence, "browser.net_error", where)
		}
	}
	return found(Connect, sureGuess, "browser.net_error", where)
}

type netErrorRow struct {
	name       string // after ERR_; a final _ makes it a family
	class      Class
	confidence float64
}

func netErrors() []netErrorRow {
	return []netErrorRow{
		{"NAME_NOT_RESOLVED", DNS, sureStatus},
		{"NAME_RESOLUTION_FAILED", DNS, sureStatus},
		{"DNS_", DNS, sureStatus},
		{"ICANN_NAME_COLLISION", DNS, sureStatus},

		{"PROXY_AUTH_", CredentialRejected, sureLikely},
		{"UNEXPECTED_PROXY_AUTH", CredentialRejected, sureLikely},
		{"PROXY_CONNECTION_FAILED", GatewayUnreachable, sureStatus},
		{"PROXY_CERTIFICATE_INVALID", GatewayUnreachable, sureStatus},
		{"PROXY_", GatewayUnreachable, sureLikely},
		{"MANDATORY_PROXY_CONFIGURATION_FAILED", GatewayUnreachable, sureLikely},
		{"NO_SUPPORTED_PROXIES", GatewayUnreachable, sureLikely},
		{"TUNNEL_CONNECTION_FAILED", TunnelFailed, sureLikely}, // every refusal of a CONNECT, whoever refused
		{"SOCKS_", TunnelFailed, sureLikely},

		{"CERT_", TLS, sureStatus},
		{"SSL_", TLS, sureStatus},
		{"BAD_SSL_", TLS, sureStatus},
		{"CERTIFICATE_", TLS, sureStatus},
		{"ECH_", TLS, sureStatus},

		{"CONNECTION_RESET", Reset, sureStatus},
		{"CONNECTION_CLOSED", Reset, sureStatus},
		{"CONNECTION_ABORTED", Reset, sureStatus},
		{"SOCKET_NOT_CONNECTED", Reset, sureLikely},
		{"EMPTY_RESPONSE", Reset, sureStatus},
		{"INCOMPLETE_", Reset, sureStatus},
		{"CONTENT_LENGTH_MISMATCH", Reset, sureStatus},
		{"CONTENT_DECODING_", Reset, sureLikely},
		{"INVALID_CHUNKED_ENCODING", Reset, sureLikely},
		{"INVALID_HTTP_RESPONSE", Reset, sureLikely},
		{"INVALID_RESPONSE", Reset, sureLikely},
		{"RESPONSE_HEADERS_", Reset, sureLikely},
		{"HTTP2_", Reset, sureLikely},
		{"QUIC_", Reset, sureLikely},
		{"SPDY_", Reset, sureLikely},
		{"NETWORK_CHANGED", Reset, sureGuess},
		{"NETWORK_IO_SUSPENDED", Reset, sureGuess},
		{"ABORTED", Reset, sureGuess},
		{"FAILED", Reset, sureGuess},

		{"TOO_MANY_REDIRECTS", RedirectLoop, sureStatus},
		{"UNSAFE_REDIRECT", RedirectLoop, sureLikely},
		{"INVALID_REDIRECT", RedirectLoop, sureLikely},

		{"TIMED_OUT", Timeout, sureLikely},
		{"CONNECTION_", Connect, sureStatus}, // refused, failed, timed out
		{"ADDRESS_", Connect, sureStatus},
		{"INTERNET_DISCONNECTED", Connect, sureGuess},
		{"NETWORK_ACCESS_DENIED", Connect, sureGuess},

		{"OUT_OF_MEMORY", BrowserCrashed, sureLikely},
		{"INSUFFICIENT_RESOURCES", BrowserCrashed, sureLikely},
		{"BLOCKED_BY_CLIENT", PolicyDenied, sureLikely},
		{"BLOCKED_BY_ADMINISTRATOR", PolicyDenied, sureLikely},
		{"UNSAFE_PORT", UnsupportedContent, sureStatus},
		{"INVALID_URL", UnsupportedContent, sureStatus},
		{"DISALLOWED_URL_SCHEME", UnsupportedContent, sureStatus},
		{"UNKNOWN_URL_SCHEME", UnsupportedContent, sureStatus},
		{"BLOCKED_BY_RESPONSE", UnsupportedContent, sureLikely},
	}
}
