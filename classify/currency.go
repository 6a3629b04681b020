package classify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/text/currency"
)

// A sign is how a currency stands beside an amount.
type sign struct {
	text  string
	codes string // that it can mean, separated by blanks
}

// signs are what stands beside amounts, the longer before what it ends in, so that "US$" is not read as "$".
// Codes of three letters are read apart from these. The table is read only.
var signs = [...]sign{
	{"US$", "USD"},
	{"CA$", "CAD"},
	{"AU$", "AUD"},
	{"NZ$", "NZD"},
	{"HK$", "HKD"},
	{"NT$", "TWD"},
	{"MX$", "MXN"},
	{"R$", "BRL"},
	{"C$", "CAD"},
	{"A$", "AUD"},
	{"S$", "SGD"},
	{"CN¥", "CNY"},
	{"JP¥", "JPY"},
	{"zł", "PLN"},
	{"Kč", "CZK"},
	{"Ft", "HUF"},
	{"lei", "RON MDL"},
	{"лв", "BGN"},
	{"руб", "RUB BYN"},
	{"грн", "UAH"},
	{"kr", "SEK NOK DKK ISK"},
	{"Fr.", "CHF"},
	{"€", "EUR"},
	{"£", "GBP"},
	{"¥", "JPY CNY"},
	{"円", "JPY"},
	{"元", "CNY"},
	{"₹", "INR"},
	{"₽", "RUB"},
	{"₺", "TRY"},
	{"₴", "UAH"},
	{"₩", "KRW"},
	{"฿", "THB"},
	{"₫", "VND"},
	{"₪", "ILS"},
	{"₱", "PHP"},
	{"₦", "NGN"},
	{"₸", "KZT"},
	{"$", "USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP BRL"},
}

var (
	codeBefore = regexp.MustCompile(`(?:^|[^A-Za-z])([A-Z]{3})$`)
	codeAfter  = regexp.MustCompile(`^([A-Z]{3})(?:[^A-Za-z]|$)`)
)

// currency is the sign or code beside the number in raw, of which it is a part; "" if there is none.
func (n number) currency(raw string) string {
	before := strings.TrimRight(raw[:n.start], " \u00a0\u202f-")
	after := strings.TrimLeft(raw[n.end:], " \u00a0\u202f-–,.")
	if m := codeBefore.FindStringSubmatch(lastBytes(before, 4)); m != nil && isCurrency(m[1]) {
		return m[1]
	}
	if m := codeAfter.FindStringSubmatch(clipBytes(after, 4)); m != nil && isCurrency(m[1]) {
		return m[1]
	}
	for _, s := range signs {
		if strings.HasSuffix(before, s.text) || strings.HasPrefix(after, s.text) {
			return s.text
		}
	}
	return ""
}

func lastBytes(s string, n int) string { return s[max(0, len(s)-n):] }

func isCurrency(code string) bool {
	_, err := currency.ParseISO(code)
	return err == nil
}

// A money is what a page says about its currency.
type money struct {
	certain   []string // codes that stand beside visible amounts, or signs that mean only one
	ambiguous []string // signs that mean several, such as "$"
	stated    []string // codes in the page's own data about itself
}

// maxMoneyText bounds the visible text that amounts are looked for in, in bytes.
const maxMoneyText = 16 << 10

// moneyIn reads the amounts of a visible text.
func moneyIn(text string) money {
	var m money
	text = clipBytes(text, maxMoneyText)
	for len(text) > 0 {
		part := clipBytes(text, maxNumberText)
		for _, n := range numbersIn(part) {
			m.add(n.currency(part))
		}
		text = text[len(part):]
	}
	return m
}

func (m *money) add(token string) {
	if token == "" {
		return
	}
	for _, s := range signs {
		if s.text == token {
			if strings.Contains(s.codes, " ") {
				m.ambiguous = appendNew(m.ambiguous, token)
				return
			}
			token = s.codes
			break
		}
	}
	m.certain = appendNew(m.certain, token)
}

// could reports whether an ambiguous sign on the page may mean code.
func (m *money) could(code string) bool {
	for _, s := range signs {
		if slices.Contains(m.ambiguous, s.text) && strings.Contains(s.codes, code) {
			return true
		}
	}
	return false
}

var (
	statedCurrency = cascadia.MustCompile(`[itemprop="priceCurrency"], meta[property$="price:currency"]`)
	linkedData     = cascadia.MustCompile(`script[type="application/ld+json"]`)
	linkedCurrency = regexp.MustCompile(`"priceCurrency"\s*:\s*"([A-Z]{3})"`)
)

// state reads what the page's structured data says.
func (m *money) state(doc *html.Node) {
	for _, n := range cascadia.QueryAll(doc, statedCurrency) {
		code := attr(n, "content")
		if code == "" {
			code = textOf(n)
		}
		if isCurrency(code) {
			m.stated = appendNew(m.stated, strings.ToUpper(code))
		}
	}
	for _, n := range cascadia.QueryAll(doc, linkedData) {
		if n.FirstChild == nil {
			continue
		}
		for _, g := range linkedCurrency.FindAllStringSubmatch(clipBytes(n.FirstChild.Data, maxScriptBytes), -1) {
			m.stated = appendNew(m.stated, g[1])
		}
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) || len(list) > maxSignals {
		return list
	}
	return append(list, s)
}
