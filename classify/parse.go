package classify

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxHTML is how much of a document is parsed, in bytes: four times the largest page of the measured corpus.
	// A tree takes about 13 times its text.
	maxHTML = 8 << 20
	// maxDepth is where the fallback parser stops nesting. The library refuses documents above 512.
	maxDepth = 256
	// maxNodes bounds what the fallback parser builds.
	maxNodes = 400_000
)

// parseHTML gives the document of src, always. limited says that the library refused it, which it does for
// documents nested more than 512 deep, and that a flatter tree stands in: what lies below maxDepth hangs there
// side by side, so that selectors without a child combinator still find it. Of a longer document than maxHTML
// only the beginning is read.
func parseHTML(src string) (doc *html.Node, limited bool) {
	src = clipBytes(src, maxHTML)
	doc, err := html.Parse(strings.NewReader(src))
	if err != nil {
		return parseFlat(src), true
	}
	settleTemplates(doc)
	return doc, false
}

// settleTemplates makes the tree look like what a browser shows. A template's content is no part of the
// document, so a marker in it must not count; the content of a declarative shadow root is, and snapshots write
// open shadow roots that way.
func settleTemplates(doc *html.Node) {
	var templates []*html.Node
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Template {
			templates = append(templates, n)
		}
	}
	for _, t := range templates {
		shadow := attr(t, "shadowrootmode") != ""
		for c := t.FirstChild; c != nil; c = t.FirstChild {
			t.RemoveChild(c)
			if shadow && t.Parent != nil {
				t.Parent.InsertBefore(c, t)
			}
		}
	}
}

// parseFlat builds a tree from tokens alone, without the repairs of the HTML algorithm and without its limits.
func parseFlat(src string) *html.Node {
	doc := &html.Node{Type: html.DocumentNode}
	b := flatBuilder{stack: []*html.Node{doc}}
	z := html.NewTokenizer(strings.NewReader(src))
	for b.nodes < maxNodes {
		tt := z.Next()
		if tt == html.ErrorToken {
			break
		}
		b.add(tt, z.Token())
	}
	settleTemplates(doc)
	return doc
}

// A flatBuilder keeps the open elements, outermost first.
type flatBuilder struct {
	stack []*html.Node
	nodes int
}

func (b *flatBuilder) add(tt html.TokenType, t html.Token) {
	switch tt {
	case html.TextToken:
		b.append(&html.Node{Type: html.TextNode, Data: t.Data})
	case html.StartTagToken, html.SelfClosingTagToken:
		n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
		b.append(n)
		if tt == html.StartTagToken && len(b.stack) < maxDepth && !isVoid(t.DataAtom) {
			b.stack = append(b.stack, n)
		}
	case html.EndTagToken:
		b.close(t.Data)
	default:
	}
}

func (b *flatBuilder) append(n *html.Node) {
	b.nodes++
	b.stack[len(b.stack)-1].AppendChild(n)
}

func (b *flatBuilder) close(name string) {
	if len(b.stack) >= maxDepth && b.stack[len(b.stack)-1].Data != name {
		return // closes something that was never opened here
	}
	for i := len(b.stack) - 1; i > 0; i-- {
		if b.stack[i].Data == name {
			b.stack = b.stack[:i]
			return
		}
	}
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
		atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	default:
		return false
	}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}
