package classify_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/limpet-dev/limpet/classify"
)

// pageCase is what a page of testdata/pages says about itself in its first comment: the rest of the evidence,
// and the verdict that a person wrote down as class and vendor.
type pageCase struct {
	Want      string            `yaml:"want"`
	Status    int               `yaml:"status"`
	Header    map[string]string `yaml:"header"`
	URL       string            `yaml:"url"`
	Requested string            `yaml:"requested"`
	Marker    string            `yaml:"marker"`

	html string
}

func (p pageCase) evidence() classify.Evidence {
	ev := classify.Evidence{
		HTTP: &classify.Exchange{Status: p.Status, Header: p.Header, URL: p.URL, Requested: p.Requested},
		Page: &classify.Page{URL: p.URL, HTML: p.html},
		Now:  time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	}
	if p.Marker != "" {
		ev.Expect = &classify.Expectation{Marker: p.Marker}
	}
	return ev
}

func pages(tb testing.TB) map[string]pageCase {
	tb.Helper()
	files, err := filepath.Glob("testdata/pages/*.html")
	require.NoError(tb, err)
	require.NotEmpty(tb, files)
	all := map[string]pageCase{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(tb, err)
		head, html, ok := strings.Cut(strings.TrimPrefix(string(raw), "<!--evidence\n"), "-->\n")
		require.True(tb, ok, f)
		p := pageCase{URL: "https://shop.test/lantern", html: html}
		require.NoError(tb, yaml.Load([]byte(head), &p, yaml.WithKnownFields()), f)
		all[strings.TrimSuffix(filepath.Base(f), ".html")] = p
	}
	return all
}

// shared is one Classifier for all tests: it is safe for concurrent use, and they rely on it.
var shared = sync.OnceValues(func() (*classify.Classifier, error) { return classify.New(classify.Options{}) })

func classifier(tb testing.TB) *classify.Classifier {
	tb.Helper()
	c, err := shared()
	require.NoError(tb, err)
	return c
}

// TestPages holds every page to the class and vendor that its author wrote into it, and to the whole verdict in
// its golden file. UPDATE_GOLDEN=1 rewrites the golden files, never what a page wants.
func TestPages(t *testing.T) {
	c := classifier(t)
	for name, p := range pages(t) {
		t.Run(name, func(t *testing.T) {
			v := c.Classify(p.evidence()).Verdict
			got := string(v.Class)
			if v.Vendor != nil {
				got += " " + *v.Vendor
			}
			require.Equal(t, p.Want, got, "%+v", v.Signals)
			require.Equal(t, classify.StageOf(v.Class), v.Stage)
			require.Equal(t, classify.Blames(v.Class), v.Blamed)
			golden(t, filepath.Join("testdata/pages", name+".golden.json"), v)
		})
	}
}

func golden(t *testing.T, file string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	got = append(got, '\n')
	if os.Getenv("UPDATE_GOLDEN") == "1" { //nolint:forbidigo // the house's switch for golden files
		require.NoError(t, os.WriteFile(file, got, 0o600))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with UPDATE_GOLDEN=1 and read what it wrote")
	require.Equal(t, string(want), string(got))
}

// TestEveryVendorHasAPageAndALookalike keeps the signature tables honest: who adds a vendor adds a page that it
// decides and one that only resembles it.
func TestEveryVendorHasAPageAndALookalike(t *testing.T) {
	all := pages(t)
	for _, vendor := range vendors(t) {
		decided, resembled := false, false
		prefix := strings.ReplaceAll(strings.TrimSuffix(vendor, "_waf"), "_", "-") + "-"
		for name, p := range all {
			decided = decided || strings.HasPrefix(name, prefix) && strings.HasSuffix(p.Want, " "+vendor)
			resembled = resembled || strings.HasPrefix(name, prefix) && strings.Contains(name, "lookalike")
		}
		require.True(t, decided, "no page for %s", vendor)
		require.True(t, resembled, "no look-alike for %s", vendor)
	}
}

func vendors(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("signatures/*.yaml")
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		var doc struct {
			Vendors []struct {
				Vendor string `yaml:"vendor"`
			} `yaml:"vendors"`
		}
		require.NoError(t, yaml.Load(raw, &doc))
		for _, v := range doc.Vendors {
			if v.Vendor != "generic" {
				names = append(names, v.Vendor)
			}
		}
	}
	return names
}
