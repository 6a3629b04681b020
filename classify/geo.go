package classify

import (
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
)

// market is what a page says about the market it was made for.
type market struct {
	wrong  []Signal // contradictions: this page is for somebody else
	unsure []Signal // what the job asked for could not be confirmed
	noted  []Signal
}

// market compares the page with what the job expects of the right one. A page that shows nothing contradicts
// nothing: only what it says can make it wrong.
func (j *judge) market(c *Compiled) market {
	var m market
	g := c.expect.Geo
	if g.Country != "" {
		m.country(g.Country, j.ev.ObservedCountry)
	}
	if j.v.doc == nil {
		return m
	}
	if g.Language != "" {
		m.language(g.Language, pageLanguage(j.v.doc))
	}
	if g.Currency != "" {
		m.currency(g.Currency, j.money(c))
	}
	return m
}

func (m *market) country(want, got string) {
	switch {
	case got == "":
		m.noted = append(m.noted, Signal{Rule: "geo.country_unobserved", Weight: weightNoted, Where: "exit"})
	case !strings.EqualFold(want, got):
		m.wrong = append(m.wrong, Signal{Rule: "geo.country", Weight: 1, Where: "exit in " + clip(got, 2) + ", expected " + want})
	}
}

// language compares as prefixes: de matches de-AT, and de-AT is not contradicted by a page that says only de.
func (m *market) language(want, got string) {
	want = strings.ToLower(want)
	switch {
	case got == "":
		m.noted = append(m.noted, Signal{Rule: "geo.language_unstated", Weight: weightNoted, Where: "html[lang]"})
	case !isPrefixTag(want, got) && !isPrefixTag(got, want):
		m.wrong = append(m.wrong, Signal{Rule: "geo.language", Weight: 1, Where: "html[lang]=" + clip(got, 16) + ", expected " + want})
	}
}

func isPrefixTag(prefix, tag string) bool {
	return tag == prefix || strings.HasPrefix(tag, prefix+"-")
}

// currency decides by what people see: codes and signs beside amounts. What the page states about itself counts
// where the visible signs leave it open.
func (m *market) currency(want string, got money) {
	want = strings.ToUpper(want)
	sure := got.certain
	if len(sure) == 0 {
		sure = got.stated
	}
	switch {
	case slices.Contains(sure, want):
	case len(sure) > 0:
		m.wrong = append(m.wrong, Signal{Rule: "geo.currency", Weight: 1, Where: "page in " + strings.Join(sure, ", ") + ", expected " + want})
	case len(got.ambiguous) > 0 && !got.could(want):
		m.wrong = append(m.wrong, Signal{Rule: "geo.currency", Weight: 1, Where: "amounts in " + strings.Join(got.ambiguous, ", ") + ", expected " + want})
	case len(got.ambiguous) > 0:
		m.unsure = append(m.unsure, Signal{
			Rule: "geo.currency_ambiguous", Weight: 0.5,
			Where: "amounts in " + strings.Join(got.ambiguous, ", ") + ", which may be " + want + " or not",
		})
	default:
		m.unsure = append(m.unsure, Signal{Rule: "geo.currency_unseen", Weight: 0.5, Where: "no amount with a currency, expected " + want})
	}
}

// maxPriced is how many record elements are looked at for their currency.
const maxPriced = 50

// money reads the records' own amounts, and the whole page's where the records show none: a banner about free
// delivery above 50 $ must not outweigh the prices.
func (j *judge) money(c *Compiled) money {
	var m money
	if c.records != nil {
		var text strings.Builder
		for i, n := range cascadia.QueryAll(j.v.doc, c.records.each) {
			if i == maxPriced {
				break
			}
			text.WriteString(visibleText(n))
			text.WriteString(" \n ")
		}
		m = moneyIn(text.String())
	}
	if len(m.certain)+len(m.ambiguous) == 0 {
		m = moneyIn(j.v.text)
	}
	m.state(j.v.doc)
	return m
}
