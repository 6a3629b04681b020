package classify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

// shopPage is a page of a size that the median page of the measured corpus has within a factor of two.
func shopPage(rows int) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="de"><head><title>Harbour Goods</title><script src="/app.js"></script></head><body><main><h1 id="name">Ropes</h1>`)
	for i := range rows {
		fmt.Fprintf(&b, `<article class="item card"><h2><a href="/rope/%d">Rope %d</a></h2><p class="text">Made of hemp and stored dry.</p>
<span class="price">%d,50 €</span><ul><li>ten fathoms</li><li>one inch</li></ul></article>`, i, i, i+1)
	}
	b.WriteString(`<script>var state = {"items": [` + strings.Repeat(`{"id": 1, "stock": 4},`, rows) + `]};</script></main></body></html>`)
	return b.String()
}

func listExpectation() *classify.Expectation {
	return &classify.Expectation{
		Marker: "#name", Geo: classify.GeoExpectation{Currency: "EUR"},
		Records: &classify.RecordsSpec{Each: "article.item", Fields: map[string]classify.FieldSpec{
			"name": {CSS: "h2"}, "price": {CSS: ".price", Type: "price"}, "link": {CSS: "h2 a", Attr: "href", Type: "url"},
		}},
	}
}

func BenchmarkClassify(b *testing.B) {
	c, err := classify.New(classify.Options{})
	require.NoError(b, err)
	html := shopPage(200)
	for name, ev := range map[string]classify.Evidence{
		"marker":  {Expect: &classify.Expectation{Marker: "#name"}},
		"records": {Expect: listExpectation()},
		"nothing": {},
	} {
		ev.HTTP = &classify.Exchange{Status: 200, URL: "https://shop.test/"}
		ev.Page = &classify.Page{URL: "https://shop.test/", HTML: html, VisibleText: classify.VisibleText(html), HasVisible: true}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(html)))
			b.ReportAllocs()
			for b.Loop() {
				c.Classify(ev)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		_, err := classify.New(classify.Options{})
		require.NoError(b, err)
	}
}
