package trace

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// domOf turns a redacted page into the nested arrays in which the viewer keeps a DOM: ["BODY", {attributes},
// child, …] for an element, a string for text. base is the address that relative ones are relative to. A page
// that the parser refuses, such as one nested too deeply, answers false.
func domOf(page []byte, base string) (any, bool) {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, false
	}
	for n := range doc.ChildNodes() {
		if n.Type == html.ElementNode && n.Data == "html" {
			return nodeOf(n, base), true
		}
	}
	return nil, false
}

// nodeOf is one element. The parser bounds the depth of the tree, and so of the recursion.
func nodeOf(n *html.Node, base string) any {
	name := n.Data
	if n.Namespace == "" {
		name = strings.ToUpper(name)
	}
	attributes := map[string]string{}
	for _, a := range n.Attr {
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + key
		}
		if name == "TEMPLATE" && key == "shadowrootmode" {
			key = "__playwright_shadow_root_"
		}
		attributes[key] = a.Val
	}
	node := []any{name, attributes}
	if name == "HEAD" && base != "" {
		node = append(node, []any{"BASE", map[string]string{"href": base}})
	}
	for c := range n.ChildNodes() {
		switch {
		case c.Type == html.TextNode:
			node = append(node, c.Data)
		case c.Type == html.ElementNode && shown(c):
			node = append(node, nodeOf(c, base))
		}
	}
	return node
}

// shown reports whether an element takes part in how the page looks.
func shown(n *html.Node) bool {
	switch n.Data {
	case "script", "noscript", "base":
		return false
	case "meta":
		for _, a := range n.Attr {
			if a.Key == "http-equiv" {
				return false
			}
		}
	}
	return true
}
