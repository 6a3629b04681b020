package gateway

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/limpet-dev/limpet/harness/provider"
)

// hopByHop are the fields that concern one connection only (RFC 9110, section 7.6.1) and the credentials of the
// other leg. Transfer-Encoding stays, because bodies are passed on in the framing they came in.
func hopByHop(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate",
		"proxy-authentication-info", "te", "trailer", "upgrade":
		return true
	}
	return false
}

// write puts h out with its fields as they came, less the hop-by-hop ones and those that Connection names. upgrade
// keeps what a change of protocol needs. extra are whole lines added at the end.
//
// No Via, Forwarded or X-Forwarded-For is added. RFC 9110 wants Via from a proxy; this one is a part of the browser's
// own machine, and what the origin should know of the way is the provider's affair.
func (h *head) write(start string, upgrade bool, host string, extra ...string) []byte {
	var b bytes.Buffer
	b.WriteString(start + "\r\n")
	for _, l := range h.fields {
		if h.drops(l.name) && (!upgrade || l.name != "connection" && l.name != "upgrade") {
			continue
		}
		if l.name == "host" && host != "" && !strings.EqualFold(l.value, host) {
			b.WriteString("Host: " + host + "\r\n") // the request line decides (RFC 9112, section 3.2.2)
			continue
		}
		b.Write(l.raw)
		b.WriteString("\r\n")
	}
	for _, e := range extra {
		b.WriteString(e + "\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// drops reports whether a field ends here. Connection may name any field but those that say where the message ends.
func (h *head) drops(name string) bool {
	switch name {
	case "host", "content-length", "transfer-encoding":
		return false
	}
	return hopByHop(name) || h.lists("connection", name)
}

// upgrades reports whether h asks for, or grants, another protocol.
func (h *head) upgrades() bool {
	if h.status != 0 {
		return h.status == http.StatusSwitchingProtocols
	}
	return h.lists("connection", "upgrade") && h.get("upgrade") != ""
}

// keepsAlive reports whether the sender of a request wants to use its connection again.
func (h *head) keepsAlive() bool {
	if h.lists("connection", "close") || h.lists("proxy-connection", "close") {
		return false
	}
	return h.version == "HTTP/1.1" || h.lists("connection", "keep-alive") || h.lists("proxy-connection", "keep-alive")
}

// proxyAuthorization is the line that carries the route's credential; empty without one. It is a secret.
func proxyAuthorization(r provider.Route) string {
	if r.Username.Empty() && r.Password.Empty() {
		return ""
	}
	pair := r.Username.Reveal() + ":" + r.Password.Reveal()
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
}
