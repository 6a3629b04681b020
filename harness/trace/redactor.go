package trace

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/limpet-dev/limpet/drivers"
)

// Redacted stands where a secret stood.
const Redacted = "[redacted]"

// learnedMin is the length in bytes from which a cookie value or token that was seen in a header is replaced
// wherever it appears again. Shorter ones are words such as "de" or "EUR" and stay outside of headers.
const learnedMin = 6

// A Redactor removes secrets from text: those it was given, those it has learned from headers, and what looks
// like a secret by the name of its field. Its methods are safe for concurrent use, and redacting twice changes
// nothing.
type Redactor struct {
	patterns []*regexp.Regexp

	mu       sync.Mutex
	secrets  map[string]bool // given and learned
	forms    []string        // of the secrets, longest first
	replacer *strings.Replacer
	short    *regexp.Regexp // secrets too short to be replaced inside words; nil if there are none
}

// NewRedactor makes a redactor for the given secrets, in every form of them, and for whatever the patterns
// match. Empty secrets are ignored.
func NewRedactor(secrets []string, patterns ...*regexp.Regexp) *Redactor {
	r := &Redactor{patterns: slices.Clone(patterns), secrets: map[string]bool{}}
	r.add(secrets...)
	return r
}

// With makes a redactor that knows more secrets. What it learns stays with it: the cookies of one attempt do
// not blacken the words of another.
func (r *Redactor) With(secrets ...string) *Redactor {
	r.mu.Lock()
	known := make([]string, 0, len(r.secrets)+len(secrets))
	for s := range r.secrets {
		known = append(known, s)
	}
	r.mu.Unlock()
	return NewRedactor(append(known, secrets...), r.patterns...)
}

// Learn takes the cookies and tokens that h carries for secrets from now on.
func (r *Redactor) Learn(h drivers.Header) { r.add(secretsIn(h)...) }

// Text is s without secrets.
func (r *Redactor) Text(s string) string {
	if s == "" {
		return s
	}
	s = r.known(s)
	for _, p := range r.patterns {
		s = p.ReplaceAllLiteralString(s, Redacted)
	}
	return redactFields(s)
}

// Bytes is Text for bytes. It does not change b.
func (r *Redactor) Bytes(b []byte) []byte { return []byte(r.Text(string(b))) }

// URL is an address without user, password, secret query parameters and secrets. What does not parse is
// redacted as text.
func (r *Redactor) URL(s string) string { return r.Text(redactURL(s)) }

// Header is a copy of h whose secret fields are redacted as a whole and whose other values are redacted as
// text. It learns nothing.
func (r *Redactor) Header(h drivers.Header) drivers.Header {
	if h == nil {
		return nil
	}
	clean := make(drivers.Header, len(h))
	for name, value := range h {
		clean[name] = r.field(strings.ToLower(name), value)
	}
	return clean
}

func (r *Redactor) field(name, value string) string {
	switch {
	case name == "cookie":
		return redactCookies(value)
	case name == "set-cookie":
		return redactSetCookies(value)
	case secretHeader(name):
		return redactScheme(value)
	case name == "referer", name == "location", name == ":path", name == "content-location":
		return r.URL(value)
	default:
		return r.Text(value)
	}
}

// known replaces the given and learned secrets.
func (r *Redactor) known(s string) string {
	r.mu.Lock()
	replacer, short := r.replacer, r.short
	r.mu.Unlock()
	if replacer != nil {
		s = replacer.Replace(s)
	}
	if short != nil {
		s = short.ReplaceAllString(s, "${1}"+Redacted+"${2}")
	}
	return s
}

// cut is Text for a text whose end is missing.
func (r *Redactor) cut(s string) string {
	r.mu.Lock()
	forms := r.forms
	r.mu.Unlock()
	return r.Text(cutPartial(s, forms))
}

func (r *Redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	grew := false
	for _, s := range secrets {
		if s != "" && !r.secrets[s] && s != Redacted {
			r.secrets[s] = true
			grew = true
		}
	}
	if grew {
		r.rebuild()
	}
}

// rebuild makes the replacers. The caller holds mu.
func (r *Redactor) rebuild() {
	var long, short []string
	for s := range r.secrets {
		if len(s) < shortSecret {
			short = append(short, regexp.QuoteMeta(s))
			continue
		}
		long = append(long, formsOf(s)...)
	}
	// The longest form first: a password may hold another.
	slices.SortFunc(long, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	r.forms, r.replacer, r.short = slices.Compact(long), nil, nil
	if len(r.forms) > 0 {
		pairs := make([]string, 0, 2*len(r.forms))
		for _, f := range r.forms {
			pairs = append(pairs, f, Redacted)
		}
		r.replacer = strings.NewReplacer(pairs...)
	}
	if len(short) > 0 {
		slices.Sort(short)
		r.short = regexp.MustCompile(`(^|[^\pL\pN])(?:` + strings.Join(short, "|") + `)($|[^\pL\pN])`)
	}
}

// secretsIn gives the values of h that must not appear anywhere else.
func secretsIn(h drivers.Header) []string {
	var found []string
	add := func(values ...string) {
		for _, v := range values {
			if v = strings.Trim(v, `"`); len(v) >= learnedMin {
				found = append(found, v)
			}
		}
	}
	for name, value := range h {
		switch name = strings.ToLower(name); {
		case name == "cookie":
			for pair := range strings.SplitSeq(value, ";") {
				_, v, _ := strings.Cut(pair, "=")
				add(strings.TrimSpace(v))
			}
		case name == "set-cookie":
			for line := range strings.SplitSeq(value, "\n") {
				pair, _, _ := strings.Cut(line, ";")
				_, v, _ := strings.Cut(pair, "=")
				add(strings.TrimSpace(v))
			}
		case secretHeader(name):
			add(credentialsIn(value)...)
		}
	}
	return found
}

// credentialsIn takes an Authorization value apart: the token, and for Basic the password inside.
func credentialsIn(value string) []string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(value), " ")
	if !ok {
		return []string{scheme}
	}
	found := []string{token}
	if strings.EqualFold(scheme, "basic") {
		if pair, err := base64.StdEncoding.DecodeString(token); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			found = append(found, password)
		}
	}
	return found
}
