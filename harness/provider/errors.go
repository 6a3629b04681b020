package provider

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/limpet-dev/limpet/classify"
)

// The moments at which a provider can refuse.
const (
	StageConnect = "connect" // the answer to CONNECT
	StagePlain   = "plain"   // an answer to a plain http request, where the origin may be the one that speaks
)

// An ErrorRule reads one refusal of one provider. Every condition that is set must hold; at least one must be set.
type ErrorRule struct {
	// Stage is StageConnect or StagePlain; empty means both.
	Stage string `yaml:"stage,omitempty"`
	// Status is the answer's status; zero means any.
	Status int `yaml:"status,omitempty"`
	// Reason is a regular expression over the reason phrase.
	Reason string `yaml:"reason,omitempty"`
	// Headers name fields of which one must be present, and must match Code if that is set. Of proxy-status, the
	// vendor code inside its details is read.
	Headers []string `yaml:"headers,omitempty"`
	// Code is a regular expression over the value of a field of Headers.
	Code string `yaml:"code,omitempty"`
	// Class is what the refusal means.
	Class classify.Class `yaml:"class"`
	// Retry is true when waiting may help.
	Retry bool `yaml:"retry,omitempty"`
}

// vendor reports whether the rule rests on a mark that only this provider makes, not on the status alone.
func (r ErrorRule) vendor() bool { return r.Reason != "" || len(r.Headers) > 0 }

// An ErrorCatalogue reads a provider's refusals. Nil reads by status alone. It is safe for concurrent use.
type ErrorCatalogue struct {
	rules   []compiledRule
	members []string
}

type compiledRule struct {
	ErrorRule
	reason, code *regexp.Regexp // nil: any
}

// NewErrorCatalogue compiles rules; the first that holds decides. members are the names under which the provider
// signs Proxy-Status; empty trusts any member of a CONNECT answer and none of a plain answer.
func NewErrorCatalogue(rules []ErrorRule, members ...string) (*ErrorCatalogue, error) {
	c := &ErrorCatalogue{members: members}
	var faults []error
	for i, r := range rules {
		compiled, err := compile(r)
		if err != nil {
			faults = append(faults, fmt.Errorf("error rule %d: %w", i+1, err))
			continue
		}
		c.rules = append(c.rules, compiled)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return c, nil
}

func compile(r ErrorRule) (c compiledRule, err error) {
	c.ErrorRule = r
	c.Headers = make([]string, len(r.Headers))
	for i, h := range r.Headers {
		c.Headers[i] = strings.ToLower(h)
	}
	switch {
	case r.Class == "":
		return c, errors.New("no class: say what the refusal means")
	case r.Stage != "" && r.Stage != StageConnect && r.Stage != StagePlain:
		return c, fmt.Errorf("stage %q: want %s or %s", r.Stage, StageConnect, StagePlain)
	case r.Status == 0 && !r.vendor():
		return c, errors.New("no condition: set status, reason or headers")
	case r.Code != "" && len(r.Headers) == 0:
		return c, errors.New("code without headers: name the field that carries the code")
	}
	if r.Reason != "" {
		if c.reason, err = regexp.Compile(r.Reason); err != nil {
			return c, fmt.Errorf("reason: %w", err)
		}
	}
	if r.Code != "" {
		if c.code, err = regexp.Compile(r.Code); err != nil {
			return c, fmt.Errorf("code: %w", err)
		}
	}
	return c, nil
}

// Connect reads an answer to CONNECT that is not 2xx. It always has a meaning: without a vendor mark or a telling
// status the tunnel failed and nobody knows why.
func (c *ErrorCatalogue) Connect(r Reply) Fault {
	if f, ok := c.match(StageConnect, r); ok {
		return f
	}
	if f, ok := c.proxyStatus(StageConnect, r); ok {
		return f
	}
	return byStatus(r)
}

// Plain reads an answer to a plain http request. ok is false when nothing shows that the provider made it: then it
// is the origin's and no fault of the way there. Only a vendor mark shows that, or 407, which no origin may send.
func (c *ErrorCatalogue) Plain(r Reply) (f Fault, ok bool) {
	if f, ok = c.match(StagePlain, r); ok && (f.Vendor || r.Status == http.StatusProxyAuthRequired) {
		return f, true
	}
	if f, ok = c.proxyStatus(StagePlain, r); ok {
		return f, true
	}
	if r.Status == http.StatusProxyAuthRequired {
		return byStatus(r), true
	}
	return Fault{}, false
}

func (c *ErrorCatalogue) match(stage string, r Reply) (Fault, bool) {
	if c == nil {
		return Fault{}, false
	}
	for _, rule := range c.rules {
		if code, ok := rule.holds(stage, r); ok {
			return Fault{Class: rule.Class, Detail: detail(r.Status, code), Vendor: rule.vendor(), Retry: rule.Retry}, true
		}
	}
	return Fault{}, false
}

// holds reports whether every condition is met, and the vendor's words that met it.
func (r compiledRule) holds(stage string, reply Reply) (code string, ok bool) {
	if r.Stage != "" && r.Stage != stage || r.Status != 0 && r.Status != reply.Status {
		return "", false
	}
	if r.reason != nil {
		if code = r.reason.FindString(reply.Reason); code == "" {
			return "", false
		}
	}
	if len(r.Headers) == 0 {
		return code, true
	}
	for _, name := range r.Headers {
		if code, ok = r.field(name, reply); ok {
			return code, true
		}
	}
	return "", false
}

// field reports whether one field is there and carries the code, and the words that matched.
func (r compiledRule) field(name string, reply Reply) (string, bool) {
	value, ok := reply.Header[name]
	if name == proxyStatusField {
		value, ok = vendorCode(value)
	}
	if !ok || r.code == nil {
		return name, ok
	}
	code := r.code.FindString(value)
	return code, code != ""
}

// byStatus is what a refusal means when the provider left no mark. 407 has at least six meanings and 502 can be our
// own budget, so only what cannot be misread is concluded; unknown numbers (452, 490, 59x are in use) are ambiguous.
func byStatus(r Reply) Fault {
	f := Fault{Class: classify.TunnelFailed, Detail: detail(r.Status, "")}
	switch r.Status {
	case http.StatusProxyAuthRequired, http.StatusUnauthorized:
		f.Class = classify.CredentialRejected
	case http.StatusPaymentRequired:
		f.Class = classify.ProviderLimit
	case http.StatusTooManyRequests:
		f.Class, f.Retry = classify.ProviderLimit, true
	}
	return f
}

// AfterSuccess reads a fault again, knowing that the same route has carried traffic before. A credential does not
// become wrong by itself, but limits are reached, and some providers show them as 407: a rejection that no vendor mark
// explains becomes a limit that waiting may lift.
func (f Fault) AfterSuccess() Fault {
	if f.Class != classify.CredentialRejected || f.Vendor {
		return f
	}
	return Fault{Class: classify.ProviderLimit, Detail: f.Detail + " after earlier success", Retry: true}
}

// detail is made of the status and of text that a rule matched, never of a whole field: a provider may echo the
// username, and with it the session.
func detail(status int, code string) string {
	if code == "" {
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status) + " " + code
}

// names reports whether member is one under which the provider signs.
func (c *ErrorCatalogue) names(member string) bool {
	return c != nil && slices.ContainsFunc(c.members, func(m string) bool { return strings.EqualFold(m, member) })
}
