package classify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

func TestCurrency(t *testing.T) {
	for name, tc := range map[string]struct {
		html, want string
		class      classify.Class
	}{
		"euro sign":                        {`<p>49,90 €</p>`, "EUR", classify.Useful},
		"euro before":                      {`<p>€ 49.90</p>`, "EUR", classify.Useful},
		"code":                             {`<p>EUR 49,90</p>`, "EUR", classify.Useful},
		"code after":                       {`<p>49,90 EUR</p>`, "EUR", classify.Useful},
		"złoty instead":                    {`<p>199,00 zł</p>`, "EUR", classify.WrongGeo},
		"dollar sign for a dollar":         {`<p>$49.90</p>`, "USD", classify.Unknown},
		"dollar sign for another dollar":   {`<p>$49.90</p>`, "CAD", classify.Unknown},
		"dollar sign for the euro":         {`<p>$49.90</p>`, "EUR", classify.WrongGeo},
		"dollar sign and what is stated":   {`<meta itemprop="priceCurrency" content="USD"><p>$49.90</p>`, "USD", classify.Useful},
		"dollar sign and another stated":   {`<meta itemprop="priceCurrency" content="CAD"><p>$49.90</p>`, "USD", classify.WrongGeo},
		"US dollar":                        {`<p>US$49.90</p>`, "USD", classify.Useful},
		"Canadian dollar":                  {`<p>CA$49.90</p>`, "USD", classify.WrongGeo},
		"crowns of somebody":               {`<p>499 kr</p>`, "SEK", classify.Unknown},
		"crowns of nobody expected":        {`<p>499 kr</p>`, "EUR", classify.WrongGeo},
		"linked data":                      {`<script type="application/ld+json">{"offers":{"priceCurrency": "PLN"}}</script><p>199</p>`, "EUR", classify.WrongGeo},
		"linked data that agrees":          {`<script type="application/ld+json">{"offers":{"priceCurrency": "EUR"}}</script><p>199</p>`, "EUR", classify.Useful},
		"what is seen before what is said": {`<meta itemprop="priceCurrency" content="EUR"><p>199,00 zł</p>`, "EUR", classify.WrongGeo},
		"no amount":                        {`<p>Sold out</p>`, "EUR", classify.Unknown},
		"switcher without amounts":         {`<p>EUR USD PLN</p><p>199,00 zł</p>`, "EUR", classify.WrongGeo},
		"hidden amount":                    {`<p hidden>49,90 €</p><p>199,00 zł</p>`, "EUR", classify.WrongGeo},
		"word that is no code":             {`<p>THE 3 BEST</p><p>49,90 €</p>`, "EUR", classify.Useful},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, `<h1 id="name">Lantern</h1>`+tc.html, &classify.Expectation{Marker: "#name", Geo: classify.GeoExpectation{Currency: tc.want}}).Verdict
			require.Equal(t, tc.class, v.Class, "%+v", v.Signals)
		})
	}
}

func TestRecordsSayTheCurrencyBeforeTheRestOfThePage(t *testing.T) {
	v := judge(t, listPage+`<p>Free delivery above US$50</p>`, &classify.Expectation{
		Records: rows(), Geo: classify.GeoExpectation{Currency: "USD"},
	}).Verdict
	require.Equal(t, classify.WrongGeo, v.Class)
}

func TestMarket(t *testing.T) {
	for name, tc := range map[string]struct {
		html     string
		geo      classify.GeoExpectation
		observed string
		class    classify.Class
	}{
		"language":                        {listPage, classify.GeoExpectation{Language: "de"}, "", classify.Useful},
		"language of a region":            {`<html lang="de_AT"><h1 id="name">x</h1>`, classify.GeoExpectation{Language: "de"}, "", classify.Useful},
		"region that the page leaves out": {listPage, classify.GeoExpectation{Language: "de-DE"}, "", classify.Useful},
		"another region":                  {`<html lang="de-AT"><h1 id="name">x</h1>`, classify.GeoExpectation{Language: "de-DE"}, "", classify.WrongGeo},
		"another language":                {listPage, classify.GeoExpectation{Language: "en"}, "", classify.WrongGeo},
		"no language":                     {`<h1 id="name">x</h1>`, classify.GeoExpectation{Language: "en"}, "", classify.Useful},
		"country":                         {listPage, classify.GeoExpectation{Country: "DE"}, "de", classify.Useful},
		"another country":                 {listPage, classify.GeoExpectation{Country: "DE"}, "PL", classify.WrongGeo},
		"country that nobody saw":         {listPage, classify.GeoExpectation{Country: "DE"}, "", classify.Useful},
		"selector":                        {listPage, classify.GeoExpectation{Selector: "tr.row"}, "", classify.Useful},
		"no selector":                     {listPage, classify.GeoExpectation{Selector: ".other"}, "", classify.WrongGeo},
		"before the missing marker":       {`<html lang="pl"><p>Strona o linach i o niczym innym, ale za to bardzo długa.</p>`, classify.GeoExpectation{Language: "de"}, "", classify.WrongGeo},
	} {
		t.Run(name, func(t *testing.T) {
			ev := evidence(tc.html, &classify.Expectation{Marker: "#name", Geo: tc.geo})
			ev.ObservedCountry = tc.observed
			v := classifier(t).Classify(ev).Verdict
			require.Equal(t, tc.class, v.Class, "%+v", v.Signals)
		})
	}
}
