package classify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/limpet-dev/limpet/classify"
)

func TestVisibleText(t *testing.T) {
	for html, want := range map[string]string{
		`<title>t</title><p>one</p><p>two  <b>thr</b>ee</p>`:                           "one two three",
		`a<script>b</script><style>c</style><noscript>d</noscript>`:                    "a",
		`a<template>b</template><p hidden>c</p><p style="display : none">d</p>`:        "a",
		`a<p style="visibility:hidden">b</p><dialog>c</dialog><dialog open>d</dialog>`: "a d",
		`a<br>b<span>c</span>`:           "a bc",
		`<textarea>x</textarea>a&nbsp;b`: "a b",
		``:                               "",
		`<x-a><template shadowrootmode="open"><p>in the shadow</p></template></x-a>`: "in the shadow",
	} {
		require.Equal(t, want, classify.VisibleText(html), html)
	}
	require.LessOrEqual(t, len(classify.VisibleText(strings.Repeat("word ", 100_000))), 64<<10)
}

func TestWhatTheBrowserSaysCountsBeforeTheEstimate(t *testing.T) {
	html := `<div class="h-captcha"></div><p class="hidden-by-a-style-sheet">Please verify that you are human.</p>`
	ev := evidence(html, nil)
	require.Equal(t, classify.Captcha, classifier(t).Classify(ev).Verdict.Class)
	ev.Page.HasVisible = true
	require.NotEqual(t, classify.Captcha, classifier(t).Classify(ev).Verdict.Class)
}

func TestDecode(t *testing.T) {
	const russian, japaneseText, chinese = "Верёвка", "ランタン", "灯笼与绳索"
	enc := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		require.NoError(t, err)
		return out
	}
	cyrillic := enc(charmap.Windows1251, russian)
	for name, tc := range map[string]struct{ raw, contentType, want string }{
		"UTF-8 without a hint":       {"<p>" + russian, "", russian},
		"UTF-8 mark, wrong header":   {"\ufeff<p>" + russian, "text/html; charset=windows-1251", russian},
		"header":                     {"<p>" + cyrillic, "text/html; charset=windows-1251", russian},
		"header before declaration":  {`<meta charset="utf-8"><p>` + cyrillic, "text/html; charset=windows-1251", russian},
		"declaration at byte 900":    {strings.Repeat(" ", 900) + `<META CHARSET="windows-1251"><p>` + cyrillic, "", russian},
		"declaration at byte 3000":   {strings.Repeat(" ", 3000) + `<meta charset="windows-1251"><p>` + cyrillic, "", russian},
		"old declaration":            {`<meta name="a"><meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>` + enc(japanese.ShiftJIS, japaneseText), "", japaneseText},
		"GBK":                        {`<meta charset="gbk"><p>` + enc(simplifiedchinese.GBK, chinese), "", chinese},
		"UTF-16 with a mark":         {enc(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "<p>"+russian), "", russian},
		"snapshot of an old page":    {`<meta charset="windows-1251"><p>` + russian, "", russian},
		"western without a hint":     {"<p>Gr\xfc\xdfe", "", "Grüße"},
		"unknown charset":            {`<p>` + russian, "text/html; charset=klingon", russian},
		"nonsense":                   {"<p>\xff\xfe\xfd", "text/html; charset=utf-8", "\ufffd"},
		"declaration without an end": {`<p>Grüße</p><meta charset`, "", "Grüße"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, classify.Decode([]byte(tc.raw), tc.contentType), tc.want)
		})
	}
}

// FuzzClassify holds what must be true of any page: the same evidence gets the same verdict, a decided verdict
// names its signals, and a business marker never turns a useful page into one that is not.
func FuzzClassify(f *testing.F) {
	files, err := filepath.Glob("testdata/pages/*.html")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(raw), 200, "server", "cloudflare")
	}
	f.Add(strings.Repeat("<div>", 600)+`<p class="deep">`, 403, "retry-after", "soon")
	f.Add("<svg><title>x</title><template><template shadowrootmode=open></svg><frameset><frame src=a>", 0, "set-cookie", "=")
	c := classifier(f)
	expect := listExpectation()
	expect.Geo, expect.Marker = classify.GeoExpectation{}, ""
	f.Fuzz(func(t *testing.T, html string, status int, name, value string) {
		ev := classify.Evidence{
			HTTP:   &classify.Exchange{Status: status, URL: value, Requested: name, Header: map[string]string{name: value}},
			Page:   &classify.Page{URL: value, HTML: html},
			Expect: expect,
		}
		first := c.Classify(ev)
		require.Equal(t, first, c.Classify(ev))
		require.NotEmpty(t, first.Verdict.Signals)
		require.NotEmpty(t, first.Verdict.Signals[0].Rule)
		require.True(t, classify.Known(first.Verdict.Class))
		require.LessOrEqual(t, len(first.Verdict.Signals), 32)
		require.NotEmpty(t, classify.Explain(first))

		ev.Expect = &classify.Expectation{Marker: "p"}
		if c.Classify(ev).Verdict.OK() {
			ev.Page = &classify.Page{URL: value, HTML: `<p>One more.</p>` + html}
			require.True(t, c.Classify(ev).Verdict.OK())
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbf<meta charset=gbk>"), "text/html; charset=x")
	f.Fuzz(func(t *testing.T, raw []byte, contentType string) {
		text := classify.Decode(raw, contentType)
		require.Equal(t, strings.ToValidUTF8(text, ""), text)
		_ = classify.VisibleText(text)
	})
}
