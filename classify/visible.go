package classify

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxVisible is how much visible text is kept, in bytes. Every gate on its length is far below.
const maxVisible = 64 << 10

// VisibleText estimates what a browser would show of a document: the text outside of elements that show none
// and outside of what the markup itself hides, white space collapsed. Style sheets are not read, so it errs on
// the long side. At most 64 KiB are kept.
func VisibleText(src string) string {
	doc, _ := parseHTML(src)
	return visibleText(doc)
}

func visibleText(root *html.Node) string {
	var t collapser
	walkVisible(root, func(n *html.Node) bool {
		if n.Type == html.TextNode {
			t.write(clipBytes(n.Data, maxVisible-t.b.Len()))
		} else if breaks(n.DataAtom) {
			t.space = true
		}
		return t.b.Len() < maxVisible
	})
	return t.b.String()
}

// walkVisible visits root and what is shown below it in document order, without recursion, until visit says no.
func walkVisible(root *html.Node, visit func(*html.Node) bool) {
	for n := root; n != nil; {
		shown := n.Type != html.ElementNode || !hides(n)
		if shown && !visit(n) {
			return
		}
		if shown && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			if n == nil {
				return
			}
		}
		if n == root {
			return
		}
		n = n.NextSibling
	}
}

// hides reports whether an element shows nothing of what is inside it.
func hides(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Iframe, atom.Object, atom.Svg,
		atom.Textarea, atom.Select, atom.Datalist, atom.Dialog:
		return n.DataAtom != atom.Dialog || !hasAttr(n, "open")
	default:
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden" && a.Val != "until-found",
			a.Key == "style" && hidesInStyle(a.Val):
			return true
		}
	}
	return false
}

func hidesInStyle(style string) bool {
	if len(style) < len("display:none") {
		return false
	}
	s := strings.ToLower(strings.Join(strings.Fields(style), ""))
	return strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden")
}

// shown reports whether neither n nor anything around it is hidden by the markup.
func shown(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && hides(n) {
			return false
		}
	}
	return true
}

// breaks reports whether an element separates words.
func breaks(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Em, atom.Font, atom.I,
		atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr:
		return false
	default:
		return true
	}
}

// A collapser writes text with every run of white space as one space and none at the ends.
type collapser struct {
	b     strings.Builder
	space bool
}

func (c *collapser) write(s string) {
	for len(s) > 0 {
		i := strings.IndexFunc(s, unicode.IsSpace)
		if i == 0 {
			c.space = true
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
			continue
		}
		if i < 0 {
			i = len(s)
		}
		if c.space && c.b.Len() > 0 {
			c.b.WriteByte(' ')
		}
		c.space = false
		c.b.WriteString(s[:i])
		s = s[i:]
	}
}

// textOf is the collapsed text of everything below n, shown or not.
func textOf(n *html.Node) string {
	var t collapser
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && (d.Parent == nil || d.Parent.DataAtom != atom.Script && d.Parent.DataAtom != atom.Style):
			t.write(clipBytes(d.Data, maxVisible-t.b.Len()))
		case d.Type == html.ElementNode && breaks(d.DataAtom):
			t.space = true
		}
		if t.b.Len() >= maxVisible {
			break
		}
	}
	return t.b.String()
}

// collapse is s with every run of white space, of any kind, as one space and none at the ends.
func collapse(s string) string {
	var c collapser
	c.write(s)
	return c.b.String()
}
