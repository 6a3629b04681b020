package gateway

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/provider"
)

// connect asks the provider for a tunnel to target. The credential goes along unasked: some providers never send a
// challenge. On a 2xx whatever in holds behind the head is the origin's, whatever lengths the head may claim. The
// answer is not nil if one came, also beside a fault.
func connect(w io.Writer, in *bufio.Reader, r *record, route provider.Route, target string) (*head, *fault) {
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if auth := proxyAuthorization(route); auth != "" {
		request += auth + "\r\n"
	}
	if _, err := w.Write([]byte(request + "\r\n")); err != nil {
		return nil, silence(route, err)
	}
	r.reach(stageConnectSent)
	answer, err := readReply(in)
	if err != nil {
		return nil, silence(route, err)
	}
	r.reach(stageConnectAnswer)
	r.answered(answer.status, exitOf(answer, route))
	if answer.status < 200 || answer.status > 299 {
		return answer, faultOf(route.Errors.Connect(replyOf(answer)), answer.status)
	}
	return answer, nil
}

// readReply reads an answer's head, past any interim ones.
func readReply(in *bufio.Reader) (*head, error) {
	for range 8 { // more interim answers than any server has reason to send
		raw, err := readHead(in)
		if err != nil {
			return nil, err
		}
		h, err := parseReply(raw)
		if err != nil || h.status >= 200 || h.status == 101 {
			return h, err
		}
	}
	return nil, errors.New("only interim answers")
}

// silence is what it means that a provider which took the connection did not answer CONNECT in HTTP: the tunnel
// failed, and nobody knows whose fault it is.
func silence(route provider.Route, err error) *fault {
	if errors.Is(err, errSpent) {
		return spentFault()
	}
	return &fault{class: classify.TunnelFailed, detail: route.Source + " gave no answer to CONNECT: " + cause(err)}
}

// exitOf is what an answer shows of the exit.
func exitOf(h *head, route provider.Route) Observation {
	field := func(name string) string {
		if name == "" {
			return ""
		}
		return h.get(strings.ToLower(name))
	}
	return Observation{
		Addr: field(route.ExitAddrHeader), Country: strings.ToUpper(field(route.ExitCountryHeader)),
	}
}

func replyOf(h *head) provider.Reply {
	return provider.Reply{Status: h.status, Reason: h.reason, Header: h.fieldMap()}
}
