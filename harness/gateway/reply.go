package gateway

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/limpet-dev/limpet/classify"
)

const warn = slog.LevelWarn

// FaultHeader is the field, in lower case, that marks an answer as the gateway's own. Its value is "fault=CLASS".
// An origin can send it too: it counts only beside a Connection with the same fault.
const FaultHeader = "limpet-gateway"

// localStatus is the status of a local reply. It is never 401 or 407: those start the browser's own way of asking
// for credentials.
func localStatus(c classify.Class) int {
	switch c {
	case classify.PolicyDenied, classify.ProviderPolicy, classify.BudgetExhausted:
		return http.StatusForbidden
	case classify.Timeout:
		return http.StatusGatewayTimeout
	default:
		return http.StatusBadGateway
	}
}

// proxyError is the error type of RFC 9209, section 2.3.
func proxyError(c classify.Class) string {
	switch c {
	case classify.PolicyDenied, classify.ProviderPolicy:
		return "http_request_denied"
	case classify.BudgetExhausted:
		return "proxy_internal_response"
	case classify.CredentialRejected:
		return "proxy_configuration_error"
	case classify.ProviderLimit:
		return "connection_limit_reached"
	case classify.Timeout:
		return "connection_timeout"
	case classify.DNS:
		return "dns_error"
	case classify.Connect:
		return "connection_refused"
	case classify.Reset:
		return "connection_terminated"
	case classify.TLS:
		return "tls_protocol_error"
	default:
		return "destination_unavailable"
	}
}

// localReply is an answer of our own, for CONNECT and for plain requests alike.
func localReply(status int, f *fault) []byte {
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nConnection: close\r\nCache-Control: no-store\r\n", status, http.StatusText(status))
	if f == nil {
		return []byte(head + "Content-Length: 0\r\n\r\n")
	}
	body := "limpet: " + f.Error() + "\n"
	return fmt.Appendf(nil, "%sProxy-Status: limpet; error=%s; details=\"%s\"\r\nLimpet-Gateway: fault=%s\r\n"+
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s",
		head, proxyError(f.class), f.class, f.class, len(body), body)
}
