package classify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

func TestSignatureFaultsNameFileAndRule(t *testing.T) {
	rule := func(table, body string) string {
		return "version: 1\nvendors:\n  - vendor: acme\n    " + table + ":\n      - {id: gate, " + body + "}\n"
	}
	for name, tc := range map[string]struct{ src, want string }{
		"unknown key":            {rule("definitive", "class: captcha, wenn: {title: x}"), "wenn"},
		"unknown matcher":        {rule("definitive", "class: captcha, when: {titel: x}"), "titel"},
		"bad expression":         {rule("definitive", "class: captcha, when: {title: '('}"), "rule acme.gate: title"},
		"bad selector":           {rule("definitive", "class: captcha, when: {css: '#['}"), "rule acme.gate: css"},
		"bad selector inside":    {rule("definitive", "class: captcha, when: {any: [{not: {css_shown: '>>'}}]}"), "rule acme.gate: any: not: css_shown"},
		"bad header":             {rule("definitive", "class: captcha, when: {header: {X-Big: x}}"), "rule acme.gate: header"},
		"no matcher":             {rule("definitive", "class: captcha"), "rule acme.gate: matches nothing"},
		"phrase in capitals":     {rule("definitive", "class: captcha, when: {text: [Hello]}"), "lower case"},
		"negative gate":          {rule("definitive", "class: captcha, when: {title: x, text_under: -1}"), "rule acme.gate"},
		"no such class":          {rule("definitive", "class: wall, when: {title: x}"), `"wall": no such class`},
		"class of another table": {rule("definitive", "class: login_wall, when: {title: x}"), "soft table"},
		"success as a rule":      {rule("soft", "class: useful, when: {title: x}"), "output stage"},
		"ambient with a class":   {rule("ambient", "class: captcha, when: {title: x}"), "ambient"},
		"bad id":                 {rule("definitive", "class: captcha, when: {title: x}") + "      - {id: 'A B', class: captcha, when: {title: x}}\n", "a-z"},
		"twice":                  {rule("definitive", "class: captcha, when: {title: x}") + "      - {id: gate, class: captcha, when: {title: x}}\n", "acme.gate: defined twice"},
		"another version":        {"version: 2\n", "version 2"},
		"no YAML":                {"\t{", "mine.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := classify.New(classify.Options{Signatures: []classify.Source{{Name: "mine.yaml", Data: []byte(tc.src)}}})
			require.ErrorContains(t, err, tc.want)
			if name != "twice" {
				require.ErrorContains(t, err, "mine.yaml")
			}
		})
	}
}

func TestSignaturesOfTheUser(t *testing.T) {
	c, err := classify.New(classify.Options{Signatures: []classify.Source{{Name: "mine.yaml", Data: []byte(`
version: 1
vendors:
  - vendor: acme
    definitive:
      - {id: limit, class: rate_limited, when: {text: ["hold your horses"], text_under: 200}}
`)}}})
	require.NoError(t, err)
	v := c.Classify(evidence(`<p>Hold your horses!</p>`, nil)).Verdict
	require.Equal(t, classify.RateLimited, v.Class)
	require.Equal(t, "acme", *v.Vendor)
	require.Equal(t, classify.Signal{Rule: "acme.limit", Weight: 1, Where: "visible text"}, v.Signals[0])
}

// TestMatchers tries every kind of matcher on evidence that has it and on evidence that has not.
func TestMatchers(t *testing.T) {
	with := classify.Evidence{
		HTTP: &classify.Exchange{
			Status: 200, URL: "https://shop.test/gate", Requested: "https://shop.test/list",
			Header: map[string]string{"x-gate": "shut", "set-cookie": "a=1; path=/\ngate=2"},
		},
		Page: &classify.Page{
			URL: "https://shop.test/gate", Title: "The  Gate",
			HTML:   `<div id="gate"><p>Gate is shut</p></div><script src="/gate.js"></script><script>var gate = 1</script>`,
			Frames: []classify.Frame{{URL: "https://gate.test/frame"}},
		},
	}
	without := classify.Evidence{
		HTTP: &classify.Exchange{Status: 201, URL: "https://shop.test/list", Requested: "https://shop.test/list"},
		Page: &classify.Page{HTML: `<div id="gate" hidden>Gate is shut</div><p>A list of ropes, of lamps and of whatever else a harbour needs</p><script>var list = 1</script>`},
	}
	for when, where := range map[string]string{
		`{status: [200]}`:                                 "status 200",
		`{header: {x-gate: '^shut$'}}`:                    "header x-gate",
		`{header: {x-gate: ''}}`:                          "header x-gate",
		`{cookie: '^gate$'}`:                              "cookie gate",
		`{url: '/gate$'}`:                                 "final url",
		`{redirected: '/gate$'}`:                          "final url",
		`{title: '^the gate$'}`:                           "title",
		`{text: ["gate is shut"]}`:                        "visible text",
		`{text_re: 'gate (is|was) shut'}`:                 "visible text",
		`{head: ["gate is shut"]}`:                        "top of visible text",
		`{css: 'div#gate > p'}`:                           "div#gate > p",
		`{css_shown: '.x, #gate'}`:                        "#gate",
		`{script: '/gate\.js$'}`:                          "script src",
		`{inline: ["var gate"]}`:                          "inline script",
		`{frame: '^https://gate\.test/'}`:                 "frame src",
		`{all: [{title: gate}, {css: '#gate p'}]}`:        "title + #gate p",
		`{any: [{title: nothing}, {css: '#gate p'}]}`:     "#gate p",
		`{css: '#gate p', not: {title: list}}`:            "#gate p",
		`{css: '#gate p', text_under: 13, text_over: 11}`: "#gate p",
		`{title: gate, css: 'div:has(p)', status: [200]}`: "status 200 + title + div:has(p)",
	} {
		c, err := classify.New(classify.Options{Signatures: []classify.Source{{Name: "mine.yaml", Data: []byte(
			"version: 1\nvendors:\n  - {vendor: acme, definitive: [{id: gate, class: captcha, when: " + when + "}]}\n")}}})
		require.NoError(t, err, when)
		v := c.Classify(with).Verdict
		require.Equal(t, classify.Captcha, v.Class, when)
		require.Equal(t, where, v.Signals[0].Where, when)
		require.Equal(t, classify.Unknown, c.Classify(without).Verdict.Class, when)
	}
}

// TestWalls holds the arithmetic of signals: what decides, what does not, and what the marker changes.
func TestWalls(t *testing.T) {
	const (
		phrase = `<p>Please verify that you are human.</p>`
		widget = `<div class="h-captcha"></div>`
		marker = `<h1 id="name">Lantern</h1>`
		hard   = `<script>window._cf_chl_opt={}</script>`
		box    = `<div id="challenge-error-text">Enable JavaScript and cookies to continue</div>`
	)
	for name, tc := range map[string]struct {
		html   string
		status int
		want   classify.Class
	}{
		"one phrase":                            {phrase, 200, classify.Missing},
		"one widget":                            {widget + "<p>Write to us about lanterns and ropes</p>", 200, classify.Missing},
		"phrase and widget":                     {phrase + widget, 200, classify.Captcha},
		"phrase and hidden widget":              {phrase + `<div hidden>` + widget + `</div>`, 200, classify.Missing},
		"phrase and status":                     {phrase, 403, classify.Captcha},
		"status alone":                          {"<p>Go away</p>", 403, classify.Forbidden},
		"phrase, widget and marker":             {phrase + widget + marker, 200, classify.Useful},
		"definitive despite the marker":         {hard + marker, 200, classify.Interstitial},
		"dormant container beside the marker":   {box + marker, 200, classify.Useful},
		"dormant container without the marker":  {box, 200, classify.Interstitial},
		"phrases of one source are one witness": {"<p>Verify that you are human. You have been blocked.</p>", 200, classify.Missing},
		"title that repeats the status":         {"<title>Access denied</title><p>Go away</p>", 403, classify.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			ev := evidence(tc.html, &classify.Expectation{Marker: "#name"})
			ev.HTTP.Status = tc.status
			v := classifier(t).Classify(ev).Verdict
			require.Equal(t, tc.want, v.Class, "%+v", v.Signals)
		})
	}
}
