package trace_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/trace"
)

const password = `p@ss:w/ö"rd<&>7`

// disguises are the ways in which a secret is written that a reader of an artefact could undo.
func disguises(t *testing.T, secret string) map[string]string {
	t.Helper()
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	return map[string]string{
		"raw":           secret,
		"query":         url.QueryEscape(secret),
		"path":          url.PathEscape(secret),
		"component":     strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
		"json":          strings.Trim(string(quoted), `"`),
		"html":          html.EscapeString(secret),
		"hex":           hex.EncodeToString([]byte(secret)),
		"base64":        base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 url":    base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"basic":         base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
		"basic 2":       base64.StdEncoding.EncodeToString([]byte("us:" + secret + "\n")),
		"basic 3":       base64.StdEncoding.EncodeToString([]byte("a:" + secret + "!")),
		"in a sentence": "sent " + secret + " to the gateway",
	}
}

func TestAGivenSecretIsFoundInEveryDisguise(t *testing.T) {
	red := trace.NewRedactor([]string{password})
	for name, text := range disguises(t, password) {
		clean := red.Text("x" + text + "y")
		require.Contains(t, clean, trace.Redacted, name)
		for other, form := range disguises(t, password) {
			require.NotContains(t, clean, form, "%s left %s", name, other)
		}
	}
}

func TestAShortSecretIsHiddenOnlyWhereItStandsAlone(t *testing.T) {
	red := trace.NewRedactor([]string{"42"})
	require.Equal(t, "pin=[redacted], price 1420", red.Text("pin=42, price 1420"))
}

func TestFieldsAreHiddenByTheirNames(t *testing.T) {
	red := trace.NewRedactor(nil, regexp.MustCompile(`SKU-\d+`))
	for _, c := range []struct{ in, want string }{
		{"http://u:pw@gate.test:80/x", "http://[redacted]@gate.test:80/x"},
		{"https://shop.test/p?sku=a-1&access_token=abc&x=1", "https://shop.test/p?sku=a-1&access_token=[redacted]&x=1"},
		{"/p?keyword=chair&sort=asc", "/p?keyword=chair&sort=asc"},
		{"next=%2Fcb%3Ftoken%3Dabc&x=1", "next=%2Fcb%3Ftoken%3D[redacted]&x=1"},
		{`{"password":"hunter2","name":"ada"}`, `{"password":"[redacted]","name":"ada"}`},
		{`{\"apiKey\":\"hunter2\"}`, `{\"apiKey\":\"[redacted]\"}`},
		{"Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"},
		{"sent Cookie: a=1; b=2\nnext line", "sent Cookie: [redacted]\nnext line"},
		{"got bearer abcdef123456", "got bearer [redacted]"},
		{"basic authentication is old", "basic authentication is old"},
		{"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl!", "jwt [redacted]!"},
		{"ref SKU-123", "ref [redacted]"},
		{"mail ada@shop.test about https://cdn.test/react@18", "mail ada@shop.test about https://cdn.test/react@18"},
	} {
		require.Equal(t, c.want, red.Text(c.in))
		require.Equal(t, c.want, red.Text(red.Text(c.in)), "redacting twice changes nothing")
	}
}

func TestURLKeepsEverythingButSecrets(t *testing.T) {
	red := trace.NewRedactor(nil)
	require.Equal(t, "https://shop.test/p?to%6Ben=[redacted]&q=a%20b#access_token=[redacted]",
		red.URL("https://shop.test/p?to%6Ben=abc&q=a%20b#access_token=abc"))
	require.Equal(t, "data:image/png;base64,[data]", red.URL("data:image/png;base64,aGVsbG8="))
}

func TestHeaderKeepsNamesAndSchemes(t *testing.T) {
	red := trace.NewRedactor(nil)
	in := drivers.Header{
		"authorization": "Basic dTpw", "proxy-authorization": "opaque", "cookie": "sid=1; theme=dark",
		"set-cookie": "sid=1; Path=/; HttpOnly\ncart=2", "x-api-key": "k", "location": "/cb?token=abc",
		"access-control-allow-credentials": "true", "server": "nginx",
	}
	require.Equal(t, drivers.Header{
		"authorization": "Basic [redacted]", "proxy-authorization": "[redacted]", "cookie": "sid=[redacted]; theme=[redacted]",
		"set-cookie": "sid=[redacted]; Path=/; HttpOnly\ncart=[redacted]", "x-api-key": "[redacted]",
		"location": "/cb?token=[redacted]", "access-control-allow-credentials": "true", "server": "nginx",
	}, red.Header(in))
	require.Equal(t, "Basic dTpw", in["authorization"], "the original is left alone")
}

func TestWhatIsLearnedStaysWithTheOneThatLearnedIt(t *testing.T) {
	parent := trace.NewRedactor([]string{"given-secret"})
	child := parent.With("more-secret")
	child.Learn(drivers.Header{"set-cookie": "sid=session-8841; Path=/", "authorization": "Basic " +
		base64.StdEncoding.EncodeToString([]byte("ada:enchantress"))})
	require.Equal(t, "[redacted] [redacted] [redacted] [redacted]", child.Text("given-secret more-secret session-8841 enchantress"))
	require.Equal(t, "[redacted] more-secret session-8841", parent.Text("given-secret more-secret session-8841"))
}

func FuzzRedactorHidesTheSecret(f *testing.F) {
	f.Add("hunter2-hunter2", "before ", " after")
	f.Add(password, `{"a":"`, `"}`)
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < 4 || strings.Contains(trace.Redacted, secret) {
			t.Skip()
		}
		red := trace.NewRedactor([]string{secret})
		once := red.Text(before + secret + after)
		// What a replacement leaves can spell the secret anew only with the brackets of the mark itself.
		if !strings.ContainsAny(secret, "[]") && !strings.Contains(before+after, secret) {
			require.NotContains(t, once, secret)
		}
	})
}
