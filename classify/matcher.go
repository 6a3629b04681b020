package classify

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A source is the part of the evidence that a matcher looked at. Two signals are independent if their sources
// differ.
type source string

const (
	fromStatus source = "status"
	fromHeader source = "header"
	fromCookie source = "cookie"
	fromURL    source = "url"
	fromTitle  source = "title"
	fromText   source = "text"
	fromDOM    source = "dom"
	fromScript source = "script"
	fromFrame  source = "frame"
)

// A hit says where a matcher matched. The zero hit stands for gates, which find nothing by themselves.
type hit struct {
	where  string
	source source
}

// A matcher looks at one kind of evidence.
type matcher func(v *view) (hit, bool)

// A matchSpec is a matcher as signature files write it. Every key that is set must match.
type matchSpec struct {
	All []matchSpec `yaml:"all"`
	Any []matchSpec `yaml:"any"`
	Not *matchSpec  `yaml:"not"`

	Status     []int             `yaml:"status"`     // one of
	Header     map[string]string `yaml:"header"`     // name, lower case: regular expression of the value
	Cookie     string            `yaml:"cookie"`     // regular expression of a name that the answer sets
	URL        string            `yaml:"url"`        // regular expression of the final address
	Redirected string            `yaml:"redirected"` // the same, where the requested address does not match it
	Title      string            `yaml:"title"`      // regular expression of the title in lower case
	Text       []string          `yaml:"text"`       // one of these phrases, lower case, is visible
	TextRE     string            `yaml:"text_re"`    // regular expression of the visible text in lower case
	Head       []string          `yaml:"head"`       // one of these phrases, lower case, is at the top of the page
	CSS        string            `yaml:"css"`        // selector
	CSSShown   string            `yaml:"css_shown"`  // selector of an element that the markup does not hide
	Script     string            `yaml:"script"`     // regular expression of a script's address
	Inline     []string          `yaml:"inline"`     // one of these is in an inline script
	Frame      string            `yaml:"frame"`      // regular expression of a frame's address

	TextUnder int `yaml:"text_under"` // gate: fewer visible characters
	TextOver  int `yaml:"text_over"`  // gate: more visible characters
}

// compile checks the specification and gives its matcher. Errors name the key.
func (m *matchSpec) compile(keys *keySet) (matcher, error) {
	var parts []matcher
	add := func(key string, f matcher, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		parts = append(parts, f)
		return nil
	}
	if err := m.compileGates(add); err != nil {
		return nil, err
	}
	if err := m.compileLeaves(add, keys); err != nil {
		return nil, err
	}
	if err := m.compileGroups(add, keys); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("matches nothing: give at least one matcher")
	}
	return allOf(parts), nil
}

type adder func(key string, f matcher, err error) error

func (m *matchSpec) compileGates(add adder) error {
	if m.TextUnder < 0 || m.TextOver < 0 {
		return fmt.Errorf("text_under and text_over are numbers of characters, not negative")
	}
	if n := m.TextUnder; n > 0 {
		_ = add("text_under", func(v *view) (hit, bool) { return hit{}, v.doc != nil && v.textSize < n }, nil)
	}
	if n := m.TextOver; n > 0 {
		_ = add("text_over", func(v *view) (hit, bool) { return hit{}, v.textSize > n }, nil)
	}
	if len(m.Status) > 0 {
		codes := m.Status
		_ = add("status", func(v *view) (hit, bool) {
			return hit{fmt.Sprintf("status %d", v.status()), fromStatus}, slices.Contains(codes, v.status())
		}, nil)
	}
	return nil
}

func (m *matchSpec) compileLeaves(add adder, keys *keySet) error {
	for _, name := range sortedKeys(m.Header) {
		f, err := headerMatcher(name, m.Header[name])
		if err := add("header", f, err); err != nil {
			return err
		}
	}
	for _, leaf := range []struct {
		key, expr string
		build     func(*regexp.Regexp) matcher
	}{
		{"cookie", m.Cookie, func(re *regexp.Regexp) matcher {
			return func(v *view) (hit, bool) { return oneOf(v.cookies, re, "cookie ", fromCookie) }
		}},
		{"url", m.URL, func(re *regexp.Regexp) matcher {
			return func(v *view) (hit, bool) { return hit{"final url", fromURL}, re.MatchString(v.url) }
		}},
		{"redirected", m.Redirected, redirectMatcher},
		{"title", m.Title, func(re *regexp.Regexp) matcher {
			return func(v *view) (hit, bool) { return hit{"title", fromTitle}, v.title != "" && re.MatchString(v.title) }
		}},
		{"text_re", m.TextRE, func(re *regexp.Regexp) matcher {
			return func(v *view) (hit, bool) { return hit{"visible text", fromText}, re.MatchString(v.textLow) }
		}},
		{"script", m.Script, func(re *regexp.Regexp) matcher {
			return func(v *view) (hit, bool) { return oneOf(v.scripts, re, "", fromScript) }
		}},
		{"frame", m.Frame, func(re *regexp.Regexp) matcher {
			return func(v *view) (hit, bool) { return oneOf(v.frames, re, "", fromFrame) }
		}},
	} {
		if leaf.expr == "" {
			continue
		}
		re, err := regexp.Compile(leaf.expr)
		if err := add(leaf.key, leaf.build(re), err); err != nil {
			return err
		}
	}
	return m.compileWords(add, keys)
}

func (m *matchSpec) compileWords(add adder, keys *keySet) error {
	for _, w := range slices.Concat(m.Text, m.Head) {
		if w == "" || w != strings.ToLower(w) {
			return fmt.Errorf("phrase %q: write it in lower case, not empty", w)
		}
	}
	if words := m.Text; len(words) > 0 {
		_ = add("text", func(v *view) (hit, bool) { return hit{"visible text", fromText}, containsAny(v.textLow, words) }, nil)
	}
	if words := m.Head; len(words) > 0 {
		_ = add("head", func(v *view) (hit, bool) { return hit{"top of visible text", fromText}, containsAny(v.headLow, words) }, nil)
	}
	if words := m.Inline; len(words) > 0 {
		_ = add("inline", func(v *view) (hit, bool) {
			return hit{"inline script", fromScript}, slices.ContainsFunc(v.inline, func(s string) bool { return containsAny(s, words) })
		}, nil)
	}
	for _, leaf := range []struct {
		key, css string
		accept   func(*html.Node) bool
	}{
		{"css", m.CSS, func(*html.Node) bool { return true }},
		{"css_shown", m.CSSShown, shown},
	} {
		if leaf.css == "" {
			continue
		}
		sel, err := compileSelector(leaf.css, keys)
		if err := add(leaf.key, selectorMatcher(sel, leaf.accept), err); err != nil {
			return err
		}
	}
	return nil
}

func (m *matchSpec) compileGroups(add adder, keys *keySet) error {
	if len(m.All) > 0 {
		parts, err := compileAll(m.All, keys)
		if err := add("all", allOf(parts), err); err != nil {
			return err
		}
	}
	if len(m.Any) > 0 {
		parts, err := compileAll(m.Any, keys)
		if err := add("any", anyOf(parts), err); err != nil {
			return err
		}
	}
	if m.Not != nil {
		inner, err := m.Not.compile(keys)
		return add("not", func(v *view) (hit, bool) { _, ok := inner(v); return hit{}, !ok }, err)
	}
	return nil
}

func compileAll(specs []matchSpec, keys *keySet) ([]matcher, error) {
	var parts []matcher
	for i := range specs {
		f, err := specs[i].compile(keys)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	return parts, nil
}

// allOf matches where every part does; its hit names them all and has the first part's source.
func allOf(parts []matcher) matcher {
	if len(parts) == 1 {
		return parts[0]
	}
	return func(v *view) (hit, bool) {
		var all hit
		for _, p := range parts {
			h, ok := p(v)
			switch {
			case !ok:
				return hit{}, false
			case all.where == "":
				all = h
			case h.where != "" && !strings.Contains(all.where, h.where):
				all.where += " + " + h.where
				if all.source == fromStatus {
					all.source = h.source // a status beside something better is a gate
				}
			}
		}
		return all, true
	}
}

func anyOf(parts []matcher) matcher {
	return func(v *view) (hit, bool) {
		for _, p := range parts {
			if h, ok := p(v); ok {
				return h, true
			}
		}
		return hit{}, false
	}
}

func headerMatcher(name, expr string) (matcher, error) {
	if name != strings.ToLower(name) {
		return nil, fmt.Errorf("name %q: write it in lower case", name)
	}
	re, err := regexp.Compile(expr)
	return func(v *view) (hit, bool) {
		value, ok := v.ev.HTTP.header(name)
		return hit{"header " + name, fromHeader}, ok && re.MatchString(clipBytes(value, maxAddress))
	}, err
}

func selectorMatcher(sel selector, accept func(*html.Node) bool) matcher {
	return func(v *view) (hit, bool) {
		where, ok := sel.find(v.nodes, accept)
		return hit{where, fromDOM}, ok
	}
}

func redirectMatcher(re *regexp.Regexp) matcher {
	return func(v *view) (hit, bool) {
		x := v.ev.HTTP
		moved := x != nil && x.Requested != "" && re.MatchString(v.url) && !re.MatchString(x.Requested)
		return hit{"final url", fromURL}, moved
	}
}

// oneOf matches if re matches one of values. Without a prefix the hit says what kind of source it was.
func oneOf(values []string, re *regexp.Regexp, prefix string, src source) (hit, bool) {
	for _, s := range values {
		if !re.MatchString(s) {
			continue
		}
		if prefix == "" {
			return hit{string(src) + " src", src}, true
		}
		return hit{prefix + clip(s, maxRawSignal), src}, true
	}
	return hit{}, false
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
