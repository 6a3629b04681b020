package classify_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

const listPage = `<html lang="de"><title>Harbour Goods</title><h1 id="name">Ropes</h1>
<p>All ropes are made of hemp and stored dry, and every one of them is tested at the pier before it leaves.</p>
<table><tr class="row"><td class="n">Ten fathoms</td><td class="p">1.299,00 €</td><td><a href="/r/1">see</a></td></tr>
<tr class="row"><td class="n">Six fathoms</td><td class="p">49,90 €</td><td><a href="/r/2">see</a></td></tr></table></html>`

func rows() *classify.RecordsSpec {
	return &classify.RecordsSpec{Each: "tr.row", Fields: map[string]classify.FieldSpec{
		"name": {CSS: ".n"}, "price": {CSS: ".p", Type: "price"}, "link": {CSS: "a", Attr: "href", Type: "url"}, "links": {CSS: "a", Count: true},
	}}
}

func judge(t *testing.T, html string, e *classify.Expectation) classify.Judgement {
	t.Helper()
	return classifier(t).Classify(evidence(html, e))
}

func evidence(html string, e *classify.Expectation) classify.Evidence {
	return classify.Evidence{
		HTTP: &classify.Exchange{Status: 200, URL: "https://shop.test/ropes", MIMEType: "text/html"},
		Page: &classify.Page{URL: "https://shop.test/ropes", HTML: html}, Expect: e, Now: noon,
	}
}

func TestRecordsAreRead(t *testing.T) {
	j := judge(t, listPage, &classify.Expectation{Marker: "#name", Records: rows(), Geo: classify.GeoExpectation{Currency: "EUR"}})
	require.Equal(t, classify.Useful, j.Verdict.Class, "%+v", j.Verdict.Signals)
	require.Equal(t, []classify.Record{
		{"name": "Ten fathoms", "price": json.Number("1299.00"), "link": "https://shop.test/r/1", "links": json.Number("1")},
		{"name": "Six fathoms", "price": json.Number("49.90"), "link": "https://shop.test/r/2", "links": json.Number("1")},
	}, j.Records)
	got, err := classify.Extract(listPage, "https://shop.test/ropes", *rows())
	require.NoError(t, err)
	require.Equal(t, j.Records, got)
}

func TestOutput(t *testing.T) {
	spec := func(change func(*classify.RecordsSpec)) *classify.RecordsSpec {
		r := rows()
		change(r)
		return r
	}
	for name, tc := range map[string]struct {
		html   string
		expect *classify.Expectation
		want   classify.Class
	}{
		"nothing expected":               {listPage, nil, classify.Unknown},
		"empty expectation":              {listPage, &classify.Expectation{}, classify.Unknown},
		"only a market expected":         {listPage, &classify.Expectation{Geo: classify.GeoExpectation{Currency: "EUR"}}, classify.Unknown},
		"marker":                         {listPage, &classify.Expectation{Marker: "#name"}, classify.Useful},
		"no marker":                      {listPage, &classify.Expectation{Marker: "#other"}, classify.Missing},
		"records are marker enough":      {listPage, &classify.Expectation{Records: rows()}, classify.Useful},
		"records without the marker":     {listPage, &classify.Expectation{Marker: "#other", Records: rows()}, classify.Missing},
		"marker without a record":        {listPage, &classify.Expectation{Marker: "#name", Records: spec(func(r *classify.RecordsSpec) { r.Each = "li" })}, classify.Empty},
		"neither marker nor record":      {listPage, &classify.Expectation{Records: spec(func(r *classify.RecordsSpec) { r.Each = "li" })}, classify.Missing},
		"fewer than the minimum":         {listPage, &classify.Expectation{Marker: "#name", Records: spec(func(r *classify.RecordsSpec) { r.Min = 3 })}, classify.Missing},
		"field that no record has":       {listPage, &classify.Expectation{Marker: "#name", Records: spec(func(r *classify.RecordsSpec) { r.Fields["x"] = classify.FieldSpec{CSS: ".x"} })}, classify.Missing},
		"optional field":                 {listPage, &classify.Expectation{Marker: "#name", Records: spec(func(r *classify.RecordsSpec) { r.Fields["x"] = classify.FieldSpec{CSS: ".x", Optional: true} })}, classify.Useful},
		"field of another type":          {listPage, &classify.Expectation{Marker: "#name", Records: spec(func(r *classify.RecordsSpec) { r.Fields["name"] = classify.FieldSpec{CSS: ".n", Type: "date"} })}, classify.Invalid},
		"schema that accepts":            {listPage, &classify.Expectation{Records: rows(), Schema: json.RawMessage(`{"required":["name"],"properties":{"price":{"type":"number","minimum":1}}}`)}, classify.Useful},
		"schema that refuses":            {listPage, &classify.Expectation{Records: rows(), Schema: json.RawMessage(`{"properties":{"price":{"type":"number","minimum":5000}}}`)}, classify.Invalid},
		"empty as allowed":               {`<p class="none">No ropes today</p>`, &classify.Expectation{Marker: "#name", Records: rows(), Empty: &classify.EmptySpec{Selector: ".none"}}, classify.UsefulEmpty},
		"empty in a currency nobody saw": {`<p class="none">No ropes today</p>`, &classify.Expectation{Records: rows(), Empty: &classify.EmptySpec{Selector: ".none"}, Geo: classify.GeoExpectation{Currency: "EUR"}}, classify.UsefulEmpty},
		"empty notice that is hidden":    {`<h1 id="name">Ropes</h1><p class="none" hidden>No ropes today</p>`, &classify.Expectation{Marker: "#name", Records: rows(), Empty: &classify.EmptySpec{Selector: ".none"}}, classify.Empty},
		"empty notice beside records":    {listPage + `<p class="none">No ropes today</p>`, &classify.Expectation{Records: rows(), Empty: &classify.EmptySpec{Selector: ".none"}}, classify.Useful},
		"expectation that is none":       {listPage, &classify.Expectation{Marker: "#[["}, classify.ScriptError},
	} {
		t.Run(name, func(t *testing.T) {
			j := judge(t, tc.html, tc.expect)
			require.Equal(t, tc.want, j.Verdict.Class, "%+v", j.Verdict.Signals)
			require.NotEmpty(t, j.Verdict.Signals)
			if !j.Verdict.OK() {
				require.Empty(t, j.Records)
			}
		})
	}
}

func TestRecordsOfStepsCountWithThoseOfThePage(t *testing.T) {
	ev := evidence(listPage, &classify.Expectation{Marker: "#name", Records: rows()})
	ev.Expect.Records.Min = 3
	first := classify.Record{"name": "Two fathoms", "price": json.Number("9"), "link": "https://shop.test/r/0", "links": json.Number("1")}
	ev.Extracted = []classify.Record{first}
	require.Len(t, classifier(t).Classify(ev).Records, 3)

	last, err := classify.Extract(listPage, ev.Page.URL, *rows())
	require.NoError(t, err)
	ev.Extracted = append(ev.Extracted, last...)
	require.Len(t, classifier(t).Classify(ev).Records, 3, "a last page that a step had read counts once")
}

func TestFewRejectedRecordsAreNotedAndManySpoilThePage(t *testing.T) {
	advert := `<table><tr class="row"><td class="n">Advert</td></tr></table>`
	j := judge(t, listPage+advert, &classify.Expectation{Records: rows()})
	require.Equal(t, classify.Useful, j.Verdict.Class)
	require.Len(t, j.Records, 2)
	i := indexRule(j.Verdict, "records.rejected")
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, "1 of 3: field link: missing", j.Verdict.Signals[i].Where)

	j = judge(t, listPage+advert+advert+advert, &classify.Expectation{Records: rows()})
	require.Equal(t, classify.Missing, j.Verdict.Class)

	unread := `<table><tr class="row"><td class="n">Rope</td><td class="p">on request</td><td><a href="/r/9">see</a></td></tr></table>`
	j = judge(t, listPage+advert+advert+unread, &classify.Expectation{Records: rows()})
	require.Equal(t, classify.Invalid, j.Verdict.Class)
}

func TestStepFailure(t *testing.T) {
	wait := &classify.StepFailure{Index: 1, Name: "wait", Selector: "#name", Message: "no such element"}
	click := &classify.StepFailure{Index: 1, Name: "click", Selector: "#buy", Message: "no such element"}
	expect := &classify.Expectation{Marker: "#name"}
	for name, tc := range map[string]struct {
		html string
		step *classify.StepFailure
		want classify.Class
	}{
		"click on a good page":            {listPage, click, classify.ScriptError},
		"click on a wall":                 {`<script>window._cf_chl_opt={}</script>`, click, classify.Interstitial},
		"click on a login page":           {`<form><input type="password"></form>`, click, classify.LoginWall},
		"click where the marker is none":  {`<p>A page about the weather at sea, and about nothing else at all.</p>`, click, classify.ScriptError},
		"wait for what never came":        {`<p>A page about the weather at sea, and about nothing else at all.</p>`, wait, classify.Missing},
		"wait on a shell":                 {`<div id="app"></div><script src="/a.js"></script>`, wait, classify.Unhydrated},
		"wait for something else in vain": {listPage, wait, classify.ScriptError},
	} {
		t.Run(name, func(t *testing.T) {
			ev := evidence(tc.html, expect)
			ev.Step = tc.step
			v := classifier(t).Classify(ev).Verdict
			require.Equal(t, tc.want, v.Class, "%+v", v.Signals)
		})
	}
}

func TestTruncatedPage(t *testing.T) {
	ev := evidence(listPage, &classify.Expectation{Marker: "#name"})
	ev.Page.Truncated = true
	v := classifier(t).Classify(ev).Verdict
	require.Equal(t, classify.Useful, v.Class, "the marker came before the cut")
	require.GreaterOrEqual(t, indexRule(v, "page.truncated"), 0)
	ev.Expect = &classify.Expectation{Marker: "#other"}
	require.Equal(t, classify.Truncated, classifier(t).Classify(ev).Verdict.Class)
}

func TestDeepPage(t *testing.T) {
	deep := `<html><body><h1 id="name">Rope</h1>`
	for range 1024 {
		deep += "<div>"
	}
	v := judge(t, deep+`<p class="deep">bottom</p>`, &classify.Expectation{Marker: "#name"}).Verdict
	require.Equal(t, classify.Useful, v.Class)
	require.GreaterOrEqual(t, indexRule(v, "page.parse_limit"), 0)
	v = judge(t, deep+`<p class="deep">bottom</p>`, &classify.Expectation{Marker: "p.deep"}).Verdict
	require.Equal(t, classify.Useful, v.Class, "found below the limit as well")
}

func TestExpectationFaultsAreAllReported(t *testing.T) {
	e := &classify.Expectation{
		Marker: "#[", Geo: classify.GeoExpectation{Currency: "EURO", Country: "Germany", Language: "deutsch!", Selector: ">>"},
		Empty:  &classify.EmptySpec{},
		Schema: json.RawMessage(`{"$ref":"https://shop.test/schema.json"}`),
		Records: &classify.RecordsSpec{Min: -1, Fields: map[string]classify.FieldSpec{
			"a": {CSS: "!!", Type: "money"}, "b": {Pattern: "("}, "c": {Count: true},
		}},
	}
	_, err := e.Compile()
	var faults classify.FieldErrors
	require.ErrorAs(t, err, &faults)
	var paths []string
	for _, f := range faults {
		paths = append(paths, f.Path)
	}
	require.ElementsMatch(t, []string{
		"marker", "geo.selector", "geo.currency", "geo.country", "geo.language", "empty.selector", "schema",
		"records.each", "records.min", "records.fields.a.css", "records.fields.a.type", "records.fields.b.pattern", "records.fields.c.count",
	}, paths)
	_, err = classify.Extract("", "", classify.RecordsSpec{})
	require.ErrorAs(t, err, &faults)
}

func TestExplainSaysWhyAndWhatWouldChangeIt(t *testing.T) {
	text := classify.Explain(judge(t, listPage, nil))
	require.Contains(t, text, "unknown (output)")
	require.Contains(t, text, "expect.nothing")
	require.Contains(t, text, "give a marker")
	for _, c := range classify.All() {
		j := classify.Judgement{Verdict: classify.Verdict{Class: c, Stage: classify.StageOf(c)}}
		require.Contains(t, classify.Explain(j), string(c))
	}
}
