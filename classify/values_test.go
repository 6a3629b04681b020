package classify_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

func TestValues(t *testing.T) {
	for _, tc := range []struct {
		lang, kind, text string
		want             any // nil: refused
	}{
		{"de", "decimal", "1.299,00", json.Number("1299.00")},
		{"de", "decimal", "1.299", json.Number("1299")},
		{"de", "decimal", "49,9", json.Number("49.9")},
		{"de-ch", "decimal", "1’299.50", json.Number("1299.50")},
		{"en", "decimal", "1,299.00", json.Number("1299.00")},
		{"en", "decimal", "1,299", json.Number("1299")},
		{"en", "decimal", "1.299", json.Number("1.299")},
		{"", "decimal", "12.5", json.Number("12.5")},
		{"fr", "decimal", "12\u202f990,50", json.Number("12990.50")},
		{"fr", "decimal", "1 234 567", json.Number("1234567")},
		{"de", "decimal", "1.234.567", json.Number("1234567")},
		{"de", "decimal", "0,125", json.Number("0.125")},
		{"en", "decimal", "−3.5", json.Number("-3.5")},
		{"en", "decimal", "007", json.Number("7")},
		{"en", "decimal", "2 for 3", nil},
		{"en", "decimal", "none", nil},
		{"en", "decimal", "a-1", json.Number("1")},
		{"en", "number", "about 12 days", json.Number("12")},
		{"de", "price", "1.299,00 € inkl. 19 % MwSt.", json.Number("1299.00")},
		{"en", "price", "was $12.00, now $9.00", nil},
		{"en", "price", "USD 1,299.00", json.Number("1299.00")},
		{"en", "integer", "1,204", json.Number("1204")},
		{"en", "integer", "3.00", json.Number("3")},
		{"en", "integer", "3.5", nil},
		{"en", "boolean", "Yes", true},
		{"en", "boolean", "false", false},
		{"en", "boolean", "maybe", nil},
		{"en", "url", "/a?b=c", "https://shop.test/a?b=c"},
		{"en", "url", "javascript:alert(1)", nil},
		{"en", "date", "2026-11-30", "2026-11-30"},
		{"de", "date", "3.4.2026", "2026-04-03"},
		{"en-US", "date", "3/4/2026", "2026-03-04"},
		{"en-GB", "date", "3/4/2026", "2026-04-03"},
		{"en", "date", "3/4/2026", nil},
		{"en", "date", "30/11/2026", "2026-11-30"},
		{"en", "date", "2026-11-30T12:00:00+01:00", "2026-11-30T12:00:00+01:00"},
		{"en", "date", "tomorrow", nil},
		{"en", "text", " two \n words ", "two words"},
		{"en", "", "plain", "plain"},
	} {
		html := `<html lang="` + tc.lang + `"><p>` + tc.text + `</p></html>`
		got, err := classify.Extract(html, "https://shop.test/", classify.RecordsSpec{
			Each: "p", Fields: map[string]classify.FieldSpec{"v": {Type: tc.kind}},
		})
		require.NoError(t, err)
		if tc.want == nil {
			require.Empty(t, got, "%s %s %q", tc.lang, tc.kind, tc.text)
			continue
		}
		require.Equal(t, []classify.Record{{"v": tc.want}}, got, "%s %s %q", tc.lang, tc.kind, tc.text)
	}
}

func TestFieldPatternAndAttribute(t *testing.T) {
	html := `<base href="https://cdn.shop.test/x/"><div class="c" data-sku=" a-1 ">Stock: 12 of 40 <a href="y.html">y</a></div>`
	got, err := classify.Extract(html, "https://shop.test/", classify.RecordsSpec{Each: ".c", Fields: map[string]classify.FieldSpec{
		"sku":   {Attr: "data-sku"},
		"stock": {Type: "integer", Pattern: `Stock: (\d+)`},
		"all":   {Type: "integer", Pattern: `\d+ `},
		"link":  {CSS: "a", Attr: "href", Type: "url"},
		"none":  {CSS: "b", Optional: true},
	}})
	require.NoError(t, err)
	require.Equal(t, []classify.Record{{
		"sku": "a-1", "stock": json.Number("12"), "all": json.Number("12"), "link": "https://cdn.shop.test/x/y.html", "none": nil,
	}}, got)
}
