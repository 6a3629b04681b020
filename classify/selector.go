package classify

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A keySet holds the ids, classes and tags that some rule's selector ends in: "#id", ".class", "tag".
type keySet struct{ keys map[string]bool }

func newKeySet() *keySet { return &keySet{keys: map[string]bool{}} }

// A nodeIndex finds a document's elements by such a key, in document order. With it a hundred selectors cost one walk.
type nodeIndex map[string][]*html.Node

// everyElement is the key of selectors that end in nothing better.
const everyElement = "*"

func (ix nodeIndex) add(n *html.Node, keys *keySet) {
	ix.put(n.Data, n, keys)
	ix.put(everyElement, n, keys)
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			ix.put("#"+a.Val, n, keys)
		case "class":
			for c := range strings.FieldsSeq(a.Val) {
				ix.put("."+c, n, keys)
			}
		}
	}
}

func (ix nodeIndex) put(key string, n *html.Node, keys *keySet) {
	if keys.keys[key] {
		ix[key] = append(ix[key], n)
	}
}

// A selector is a compiled group of CSS selectors, each with the key that finds its candidates.
type selector []keyedSel

type keyedSel struct {
	text string
	key  string
	sel  cascadia.Sel
}

func compileSelector(text string, keys *keySet) (selector, error) {
	group, err := cascadia.ParseGroup(text)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", text, err)
	}
	var s selector
	for _, sel := range group {
		text := collapse(strings.ReplaceAll(sel.String(), `\-`, "-")) // the library escapes hyphens that need it not
		k := keyedSel{text: withoutTest(text), key: subjectKey(text), sel: sel}
		keys.keys[k.key] = true
		s = append(s, k)
	}
	return s, nil
}

// withoutTest leaves a test of the element's content out of what a signal shows.
func withoutTest(sel string) string {
	sel, _, _ = strings.Cut(sel, ":matchesOwn(")
	return sel
}

// find gives the text of the first selector that matches an element which ok accepts.
func (s selector) find(ix nodeIndex, ok func(*html.Node) bool) (string, bool) {
	for _, alt := range s {
		for _, n := range ix[alt.key] {
			if alt.sel.Match(n) && ok(n) {
				return alt.text, true
			}
		}
	}
	return "", false
}

var (
	// bracketed matches the parts of a selector in which # and . mean nothing.
	bracketed = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|"[^"]*"`)
	// simpleKey is an id or class without escapes.
	simpleKey = regexp.MustCompile(`[#.][A-Za-z_][\w-]*`)
	simpleTag = regexp.MustCompile(`^[a-z][a-z0-9-]*`)
)

// subjectKey is the id, class or tag that every element matched by sel must have; everyElement if none is certain.
func subjectKey(sel string) string {
	if strings.Contains(sel, `\`) {
		return everyElement
	}
	plain := bracketed.ReplaceAllString(sel, "")
	if i := strings.LastIndexAny(plain, " >+~"); i >= 0 {
		plain = plain[i+1:]
	}
	if key := simpleKey.FindString(plain); key != "" {
		return key
	}
	if tag := simpleTag.FindString(plain); tag != "" {
		return tag
	}
	return everyElement
}
