package trace

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// policy stands at the head of a kept page. Evidence must not act: whoever opens it asks nobody anything.
const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`

// redactHTML is a page without secrets that does nothing when it is opened: no script runs, nothing is loaded,
// no refresh leads away. Passwords in forms are hidden, and so is what a field's name calls a secret. The source is read as
// tokens, so that pages no parser would take keep their shape.
func redactHTML(src []byte, red *Redactor) []byte {
	var out bytes.Buffer
	out.Grow(len(src) + len(policy))
	out.WriteString("<!doctype html>" + policy + "\n")
	z := html.NewTokenizer(bytes.NewReader(src))
	raw := "" // the element whose text is no markup
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return out.Bytes()
		case html.TextToken:
			if raw != "" {
				out.WriteString(red.Text(string(z.Raw())))
				continue
			}
			out.WriteString(html.EscapeString(red.Text(string(z.Text()))))
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if raw = ""; kind == html.StartTagToken && rawText(t.Data) {
				raw = t.Data
			}
			redactTag(&t, red)
			out.WriteString(t.String())
		case html.EndTagToken:
			raw = ""
			t := z.Token()
			out.WriteString(t.String())
		case html.CommentToken:
			out.WriteString("<!--" + strings.ReplaceAll(red.Text(string(z.Text())), "--", "- -") + "-->")
		case html.DoctypeToken: // written above
		}
	}
}

// rawText reports whether the text inside an element is written without entities.
func rawText(tag string) bool {
	switch tag {
	case "script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext":
		return true
	default:
		return false
	}
}

func redactTag(t *html.Token, red *Redactor) {
	secret := secretElement(*t)
	t.Attr = slices.DeleteFunc(t.Attr, func(a html.Attribute) bool { return acting(t.Data, a) })
	for i, a := range t.Attr {
		switch {
		case secret && (a.Key == "value" || a.Key == "content"):
			t.Attr[i].Val = Redacted
		case strings.HasPrefix(a.Key, "data-") && secretName.MatchString(strings.TrimPrefix(a.Key, "data-")) && !publicKey(a.Key):
			t.Attr[i].Val = Redacted
		case address(a.Key):
			t.Attr[i].Val = red.URL(a.Val)
		default:
			t.Attr[i].Val = red.Text(a.Val)
		}
	}
}

// secretElement reports whether what a form field or a meta element holds is a secret.
func secretElement(t html.Token) bool {
	if t.Data != "input" && t.Data != "meta" {
		return false
	}
	for _, a := range t.Attr {
		switch a.Key {
		case "type":
			if strings.EqualFold(strings.TrimSpace(a.Val), "password") {
				return true
			}
		case "name", "id", "autocomplete":
			if secretName.MatchString(a.Val) {
				return true
			}
		}
	}
	return false
}

// publicKey reports whether an attribute holds a captcha's site key: public, and evidence of which captcha it is.
func publicKey(name string) bool {
	return strings.HasSuffix(name, "sitekey") || strings.HasSuffix(name, "site-key")
}

// acting reports whether an attribute makes a page act although scripts and loading are forbidden.
func acting(tag string, a html.Attribute) bool {
	value := strings.ToLower(strings.TrimSpace(a.Val))
	switch {
	case strings.HasPrefix(a.Key, "on"), a.Key == "srcdoc", a.Key == "ping":
		return true
	case tag == "meta" && a.Key == "http-equiv":
		return value == "refresh" || value == "set-cookie"
	case tag == "link" && a.Key == "rel":
		return strings.Contains(value, "pre") // preconnect, dns-prefetch, prefetch, prerender, preload, modulepreload
	case address(a.Key):
		return strings.HasPrefix(value, "javascript:")
	default:
		return false
	}
}

func address(name string) bool {
	switch name {
	case "href", "src", "action", "formaction", "data", "poster", "cite", "background", "xlink:href", "content":
		return true
	default:
		return false
	}
}
