package provider

import (
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/limpet-dev/limpet/classify"
)

const proxyStatusField = "proxy-status"

// proxyStatus reads the RFC 9209 error type of the member nearest to us. A target can send the field too, so in a
// plain answer the member must be one of the provider's own names.
func (c *ErrorCatalogue) proxyStatus(stage string, r Reply) (Fault, bool) {
	name, params, ok := lastMember(r.Header[proxyStatusField])
	if !ok || (stage == StagePlain || c != nil && len(c.members) > 0) && !c.names(name) {
		return Fault{}, false
	}
	kind := paramText(params, "error")
	class, retry := proxyStatusClass(kind)
	if class == "" {
		return Fault{}, false
	}
	return Fault{Class: class, Detail: detail(r.Status, kind), Vendor: true, Retry: retry}, true
}

// proxyStatusClass maps the error types of RFC 9209, section 2.3. Those that blame no one are left out.
func proxyStatusClass(kind string) (class classify.Class, retry bool) {
	switch kind {
	case "dns_timeout", "dns_error":
		return classify.DNS, false
	case "connection_timeout", "connection_refused", "connection_terminated", "destination_unavailable",
		"destination_not_found", "destination_ip_unroutable":
		return classify.Connect, false
	case "tls_protocol_error", "tls_certificate_error", "tls_alert_received":
		return classify.TLS, false
	case "http_request_denied", "destination_ip_prohibited":
		return classify.ProviderPolicy, false
	case "connection_limit_reached":
		return classify.ProviderLimit, true
	default:
		return "", false
	}
}

// vendorCode is the text of details up to the first colon, with the hyphens that one provider's examples have in
// place of underscores put right.
func vendorCode(field string) (string, bool) {
	_, params, ok := lastMember(field)
	if !ok {
		return "", false
	}
	code, _, _ := strings.Cut(paramText(params, "details"), ":")
	code = strings.ReplaceAll(strings.TrimSpace(code), "-", "_")
	return code, code != ""
}

// lastMember is the member nearest to us: the proxy that we dialled.
func lastMember(field string) (name string, params *httpsfv.Params, ok bool) {
	if field == "" {
		return "", nil, false
	}
	list, err := httpsfv.UnmarshalList([]string{field})
	if err != nil || len(list) == 0 {
		return "", nil, false
	}
	item, ok := list[len(list)-1].(httpsfv.Item)
	if !ok {
		return "", nil, false
	}
	return text(item.Value), item.Params, true
}

// paramText is a parameter as text. Providers are seen to write the same parameter once as a token and once as a
// string.
func paramText(params *httpsfv.Params, key string) string {
	v, ok := params.Get(key)
	if !ok {
		return ""
	}
	return text(v)
}

func text(v any) string {
	switch v := v.(type) {
	case httpsfv.Token:
		return string(v)
	case string:
		return v
	default:
		return ""
	}
}
