package classify

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxScripts, maxScriptBytes and maxAddress bound what matchers look at. The largest challenge page of the
	// measured corpus has 353 KB.
	maxScripts     = 2000
	maxScriptBytes = 1 << 20 // of all inline scripts together
	maxAddress     = 2048    // of one script or frame address
	// headText is how much of the visible text counts as the top of the page, in bytes.
	headText = 300
	// maxTextMatch is how much of the visible text matchers search, in bytes. Rules about phrases are gated on
	// short pages, so the end of a long one is never asked for.
	maxTextMatch = 8 << 10
)

// A view is the evidence prepared for matching: parsed once, every part bounded. Where nothing was observed the
// part is empty.
type view struct {
	ev      *Evidence
	doc     *html.Node // nil without a page
	limited bool       // the HTML was beyond the parser's limits
	cut     bool       // the HTML does not hold the whole page

	url      string // of the final document
	title    string // lower case, collapsed
	text     string // visible, collapsed
	textLow  string // the same in lower case, at most maxTextMatch
	headLow  string // its first headText bytes
	scripts  []string
	inline   []string
	frames   []string
	cookies  []string // names in the answer's set-cookie fields
	nodes    nodeIndex
	textSize int // in characters
}

func newView(ev *Evidence, keys *keySet) *view {
	v := &view{ev: ev, nodes: nodeIndex{}}
	v.url = finalURL(ev)
	if ev.HTTP != nil {
		v.cookies = cookieNames(ev.HTTP.Header["set-cookie"])
	}
	if ev.Page == nil {
		return v
	}
	v.doc, v.limited = parseHTML(ev.Page.HTML)
	v.cut = ev.Page.Truncated || len(ev.Page.HTML) > maxHTML
	v.collect(keys)
	if ev.Page.Title != "" {
		v.title = strings.ToLower(collapse(clipBytes(ev.Page.Title, maxAddress)))
	}
	v.text = ev.Page.VisibleText
	if !ev.Page.HasVisible && v.text == "" {
		v.text = visibleText(v.doc)
	}
	v.text = collapse(clipBytes(v.text, maxVisible))
	v.textSize = utf8.RuneCountInString(v.text)
	v.textLow = strings.ToLower(clipBytes(v.text, maxTextMatch))
	v.headLow = clipBytes(v.textLow, headText)
	for _, f := range ev.Page.Frames {
		v.frames = append(v.frames, clipBytes(f.URL, maxAddress))
	}
	return v
}

// collect walks the document once for everything that matchers ask for.
func (v *view) collect(keys *keySet) {
	budget := maxScriptBytes
	for n := range v.doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		v.nodes.add(n, keys)
		switch n.DataAtom {
		case atom.Title:
			if v.title == "" && n.Namespace == "" {
				v.title = strings.ToLower(clipBytes(textOf(n), maxAddress))
			}
		case atom.Script:
			budget -= v.script(n, budget)
		case atom.Iframe, atom.Frame:
			if src := attr(n, "src"); src != "" && len(v.frames) < maxScripts {
				v.frames = append(v.frames, clipBytes(src, maxAddress))
			}
		default:
		}
	}
}

func (v *view) script(n *html.Node, budget int) (used int) {
	if src := attr(n, "src"); src != "" {
		if len(v.scripts) < maxScripts {
			v.scripts = append(v.scripts, clipBytes(src, maxAddress))
		}
		return 0
	}
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode && budget > used {
			s := clipBytes(c.Data, budget-used)
			v.inline = append(v.inline, s)
			used += len(s)
		}
	}
	return used
}

func (v *view) status() int {
	if v.ev.HTTP == nil {
		return 0
	}
	return v.ev.HTTP.Status
}

// finalURL is the address of the final document: the page's own, which scripts may have changed, else the answer's.
func finalURL(ev *Evidence) string {
	if ev.Page != nil && ev.Page.URL != "" && !ev.Page.BrowserError {
		return ev.Page.URL
	}
	if ev.HTTP != nil {
		return ev.HTTP.URL
	}
	return ""
}

// header gives a field of the answer and whether it was there. It may be called on nil.
func (x *Exchange) header(name string) (string, bool) {
	if x == nil {
		return "", false
	}
	v, ok := x.Header[name]
	return v, ok
}

func cookieNames(setCookie string) []string {
	var names []string
	for line := range strings.SplitSeq(setCookie, "\n") {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), "="); ok && len(names) < maxScripts {
			names = append(names, name)
		}
	}
	return names
}

// clipBytes is the beginning of s, at most n bytes, cut between characters.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
