package classify

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A locale is what reading a page's values depends on.
type locale struct {
	language string // of the page, lower case, such as "de-at"; empty if it does not say
	currency string // that the job expects; empty if none
	address  string // of the page
}

var (
	htmlElement = cascadia.MustCompile("html")
	baseElement = cascadia.MustCompile("base[href]")
)

func newLocale(doc *html.Node, currency, address string) locale {
	loc := locale{currency: currency, address: address}
	if doc == nil {
		return loc
	}
	loc.language = pageLanguage(doc)
	if base := cascadia.Query(doc, baseElement); base != nil {
		if u, err := resolve(attr(base, "href"), address); err == nil {
			loc.address = u.String()
		}
	}
	return loc
}

// pageLanguage is what the page's root element says, in lower case with hyphens.
func pageLanguage(doc *html.Node) string {
	root := cascadia.Query(doc, htmlElement)
	if root == nil {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(attr(root, "lang"))), "_", "-")
}

// A number is the text of a number inside another text.
type number struct {
	text       string
	start, end int
}

// numberText matches digits with separators between them. Blanks group only full thousands, so that "12 990"
// is one number and "2 99" are two.
var numberText = regexp.MustCompile(`[-+−]?(?:\d{1,3}(?:[ \x{00a0}\x{202f}\x{2009}'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*)`)

// maxNumberText bounds the text that numbers are looked for in, in bytes.
const maxNumberText = 1024

func numbersIn(raw string) []number {
	raw = clipBytes(raw, maxNumberText)
	var out []number
	for _, at := range numberText.FindAllStringIndex(raw, -1) {
		n := number{text: raw[at[0]:at[1]], start: at[0], end: at[1]}
		if r, _ := utf8.DecodeLastRuneInString(raw[:n.start]); unicode.IsLetter(r) || unicode.IsDigit(r) {
			n.text = strings.TrimLeft(n.text, "-+−") // "a-1": a hyphen, no sign
		}
		out = append(out, n)
	}
	return out
}

// decimal reads a number as people of the locale write it: "1.299,00", "1,299.00", "1'299.00", "1 299,00".
func (l locale) decimal(text string) (json.Number, error) {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '\'', '’', ' ', '\u00a0', '\u202f', '\u2009', '+':
			return -1
		case '−':
			return '-'
		default:
			return r
		}
	}, text)
	point := l.decimalPoint(text)
	var b strings.Builder
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9' || r == '-' && i == 0:
			b.WriteRune(r)
		case i == point:
			b.WriteByte('.')
		}
	}
	n := canonical(b.String())
	if n == "" {
		return "", fmt.Errorf("%q is no number", clip(text, maxRawSignal))
	}
	return json.Number(n), nil
}

// decimalPoint is the index of the separator that starts the fraction; -1 if text is whole.
func (l locale) decimalPoint(text string) int {
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		return -1
	}
	sep := text[last : last+1]
	other := map[string]string{".": ",", ",": "."}[sep]
	switch {
	case strings.Contains(text, other):
		if strings.Count(text, sep) > 1 {
			return -1 // "1,234,567.8" has its point last; this has not
		}
		return last // both kinds: the last one is the point
	case strings.Count(text, sep) > 1:
		return -1 // "1.234.567"
	case len(text)-last-1 != 3:
		return last // no group of thousands
	case strings.TrimLeft(text[:last], "-") == "0":
		return last // "0.125"
	case sep == l.separator():
		return last
	default:
		return -1
	}
}

// separator is how the page writes the start of a fraction: by its language, else as usual for the expected
// currency, else as in English.
func (l locale) separator() string {
	primary, region, _ := strings.Cut(l.language, "-")
	commas := []string{
		"de", "fr", "es", "it", "nl", "pl", "pt", "ru", "uk", "cs", "sk", "sl", "hr", "sr", "bs", "bg", "ro", "hu", "el", "tr", "sv",
		"da", "nb", "no", "nn", "fi", "is", "et", "lv", "lt", "id", "vi", "ca", "gl", "eu", "be", "kk", "az", "mk", "sq",
	}
	points := []string{"de-ch", "de-li", "it-ch", "es-mx", "es-us", "es-gt", "es-hn", "es-ni", "es-pa", "es-pe", "es-pr", "es-do", "es-sv"}
	switch {
	case slices.Contains(points, primary+"-"+region):
		return "."
	case slices.Contains(commas, primary):
		return ","
	case primary == "" && slices.Contains([]string{"EUR", "PLN", "CZK", "SEK", "DKK", "NOK", "BRL", "TRY", "RUB", "UAH", "RON", "HUF", "IDR", "VND"}, l.currency):
		return ","
	default:
		return "."
	}
}

// canonical drops needless zeros in front, as JSON demands.
func canonical(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, ok := strings.Cut(s, ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if s == "" || s == "." {
		return ""
	}
	if ok && fraction != "" {
		return sign + whole + "." + fraction
	}
	return sign + whole
}

// dayLayouts are the forms of a date without time that mean one day wherever they are read.
func dayLayouts() []string {
	return []string{
		time.DateOnly, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006/01/02", "20060102",
		"02.01.2006", "2.1.2006", "2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006",
	}
}

// slashLayouts are the readings of 3/4/2026: April where the page is of another language than English or of a
// region other than the United States, March where it is American, both where it does not say.
func (l locale) slashLayouts() []string {
	const dayFirst, monthFirst = "2/1/2006", "1/2/2006"
	switch l.language {
	case "en-us":
		return []string{monthFirst}
	case "", "en":
		return []string{dayFirst, monthFirst}
	default:
		return []string{dayFirst}
	}
}
