package jobfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/strict"
)

// job makes a job file of one job with these lines under it.
func job(lines string) string {
	return "version: 1\njobs:\n  - id: a\n    steps: [{ goto: \"https://shop.test/\" }]\n" + lines
}

const expect = "    expect: { marker: h1 }\n"

// Each case is a kind of mistake that people make, and the place and words that they get for it.
var mistakes = map[string]struct {
	text string
	want []string // parts of the rendered faults, in order
}{
	"unknown key":            {job("    identiy: { key: k }\n" + expect), []string{`jobs.yaml:5:5: error: unknown key "identiy"`, "^^^^^^^", `did you mean "identity"?`}},
	"misplaced key":          {job("    attempts: 3\n" + expect), []string{`:5:5: error:`, `"attempts"`}},
	"key twice":              {job("    robots: obey\n    robots: ignore\n" + expect), []string{`:6:5: error:`, `robots`}},
	"duration without unit":  {job("    budget: { elapsed: 90 }\n" + expect), []string{`:5:24: error: 90 is not a duration with its unit`}},
	"size without unit":      {job("    budget: { bytes: 5 }\n" + expect), []string{`:5:22: error:`, "size"}},
	"negative attempts":      {job("    budget: { attempts: -1 }\n" + expect), []string{`:5:25: error:`}},
	"variable not set":       {strings.Replace(job(expect), "shop.test/", "shop.test/{{sku}}", 1), []string{`error: the variable "sku" is not set`}},
	"environment not set":    {strings.Replace(job(expect), "shop.test/", "shop.test/{{env.NOPE}}", 1), []string{`error: the environment variable NOPE is not set`}},
	"selector":               {job("    expect: { marker: \"h1[\" }\n"), []string{`:5:23: error: "h1[" is not a CSS selector`}},
	"country":                {job("    intent: { country: USA }\n" + expect), []string{`:5:24: error: "USA" is not a country of two capital letters`}},
	"currency":               {job("    expect: { marker: h1, geo: { currency: euro } }\n"), []string{`error: "euro" is not a currency`}},
	"time zone":              {job("    identity: { key: k, persona: { timezone: Europe/Warszawa } }\n" + expect), []string{`error:`, "Europe/Warszawa"}},
	"locale":                 {job("    identity: { key: k, persona: { locale: german! } }\n" + expect), []string{`error:`, "german!"}},
	"mode":                   {job("    intent: { mode: sticky }\n" + expect), []string{`:5:21: error:`, "rotate"}},
	"unknown verb":           {strings.Replace(job(expect), "goto:", "got:", 1), []string{`error: unknown key "got"`, `did you mean "goto"?`}},
	"a later version's verb": {strings.Replace(job(expect), "[{ goto: \"https://shop.test/\" }]", "[{ goto: \"https://shop.test/\" }, { hover: a }]", 1), []string{`"hover" is not in this version of Limpet`}},
	"two verbs":              {strings.Replace(job(expect), "[{ goto: \"https://shop.test/\" }]", "[{ goto: \"https://shop.test/\", click: a }]", 1), []string{`error:`}},
	"first step is no goto":  {strings.Replace(job(expect), "{ goto: \"https://shop.test/\" }", "{ click: a }", 1), []string{`error: the first step must be a goto`}},
	"no http address":        {strings.Replace(job(expect), "https://shop.test/", "ftp://shop.test/", 1), []string{`error:`, "http"}},
	"outside the scope":      {"version: 1\nscope: { origins: [shop.test] }\n" + strings.Replace(strings.TrimPrefix(job(expect), "version: 1\n"), "shop.test/", "other.test/", 1), []string{`error:`, "other.test"}},
	"nobody answers":         {strings.Replace(job(expect), "shop.test", "shop.example.com", 1), []string{`error:`, "owner"}},
	"expired":                {"version: 1\nscope: { owner: me, basis: mine, expires: 2020-01-01 }\n" + strings.TrimPrefix(job(expect), "version: 1\n"), []string{`error:`, "2020-01-01"}},
	"id twice":               {job(expect) + "  - id: a\n    steps: [{ goto: \"https://shop.test/\" }]\n" + expect, []string{`:6:9: error:`, `"a"`}},
	"id twice by foreach":    {job("    foreach: { n: [1, 2] }\n" + expect), []string{`error:`, `"a"`}},
	"foreach file missing":   {job("    foreach: { file: rows.csv }\n" + expect), []string{`error:`, "rows.csv"}},
	"schema file missing":    {job("    expect: { marker: h1, records: { each: main, fields: { a: b }, schema: none.json } }\n"), []string{`error:`, "none.json"}},
	"version":                {strings.Replace(job(expect), "version: 1", "version: 2", 1), []string{`:1:10: error: 2 is not a version that this program reads`}},
	"no jobs":                {"version: 1\n", []string{`error:`, "jobs"}},
	"nothing":                {"", []string{`jobs.yaml`, "error:"}},
	"a tab":                  {"version: 1\njobs:\n\t- id: a\n", []string{`jobs.yaml:3:`, "error:"}},
	"not YAML":               {"version: [1\n", []string{`jobs.yaml:`, "error: this is not YAML"}},
	"a list":                 {"- a\n- b\n", []string{`jobs.yaml:1:1: error:`}},
	"merge key":              {"version: 1\nx-a: &a { robots: obey }\n" + strings.TrimPrefix(job("    <<: *a\n"+expect), "version: 1\n"), []string{`error:`, "defaults"}},
	"alias bomb":             {"version: 1\nx-a: &a [x,x,x,x,x,x,x,x,x,x]\nx-b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nx-c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nx-d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\nx-e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nx-f: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", []string{`error:`}},
	"several at once":        {job("    robots: maybe\n    intent: { country: de }\n    expect: { marker: \"[\" }\n"), []string{`:5:13: error:`, `:6:24: error:`, `:7:23: error:`, "3 errors"}},
}

func TestMistakesAreNamedWithTheirPlace(t *testing.T) {
	for name, c := range mistakes {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.text)
			var faults strict.Errors
			require.ErrorAs(t, err, &faults)
			text := faults.Render()
			rest := text
			for _, part := range c.want {
				at := strings.Index(rest, part)
				require.GreaterOrEqual(t, at, 0, "%q is not in:\n%s", part, text)
				rest = rest[at+len(part):]
			}
		})
	}
}

// load reads text as jobs.yaml, by a relative name as a user gives it.
func load(t *testing.T, text string) ([]jobfile.Job, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("jobs.yaml", []byte(text), 0o600))
	env := map[string]string{"PASS": "hunter-2-canary", "USER": "ada"}
	return jobfile.Load(jobfile.Options{Files: []string{"jobs.yaml"}, Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
}

func TestASecretIsAReferenceAndIsNeverShown(t *testing.T) {
	_, err := load(t, strings.Replace(job(expect), "[{ goto: \"https://shop.test/\" }]", "[{ goto: \"https://shop.test/\" }, { fill: { selector: a, secret: s3cr3t-canary } }]", 1))
	var faults strict.Errors
	require.ErrorAs(t, err, &faults)
	require.NotContains(t, faults.Render(), "s3cr3t-canary")
	require.Contains(t, faults.Render(), "reference")

	jobs, err := load(t, strings.Replace(job(expect), "[{ goto: \"https://shop.test/\" }]", "[{ goto: \"https://shop.test/\" }, { fill: { selector: a, secret: \"{{env.PASS}}\" } }]", 1))
	require.NoError(t, err)
	require.Equal(t, []string{"hunter-2-canary"}, jobs[0].Secrets)
	require.True(t, jobs[0].Steps[1].Secret)
}

func TestSpellingsThatAreFine(t *testing.T) {
	for name, text := range map[string]string{
		"byte order mark": "\ufeff" + job(expect),
		"windows lines":   strings.ReplaceAll(job(expect), "\n", "\r\n"),
		"JSON":            `{"version": 1, "jobs": [{"id": "a", "steps": [{"goto": "https://shop.test/"}], "expect": {"marker": "h1"}}]}`,
		"norway":          job("    intent: { country: NO }\n" + expect),
		"own keys":        "x-mine: { anything: goes }\n" + job(expect),
	} {
		t.Run(name, func(t *testing.T) {
			jobs, err := load(t, text)
			require.NoError(t, err)
			require.Len(t, jobs, 1)
			require.Equal(t, "shop.test", jobs[0].Origin)
			require.True(t, jobs[0].Trace.Failed, "the default")
		})
	}
}

func TestForeachAndDefaults(t *testing.T) {
	jobs, err := load(t, `version: 1
defaults: { intent: { mode: windowed, country: DE, minutes: 10 }, budget: { attempts: 5, elapsed: 2m } }
jobs:
  - id: "{{size}}-{{sku}}"
    foreach: { sku: [a, b], size: [s, l] }
    identity: { key: "who-{{sku}}" }
    intent: { country: GB }
    steps: [{ goto: "https://www.shop.test/{{sku}}?u={{env.USER}}" }]
    expect: { marker: h1 }
`)
	require.NoError(t, err)
	require.Len(t, jobs, 4, "each combination")
	ids := map[string]jobfile.Job{}
	for _, j := range jobs {
		ids[j.ID] = j
	}
	j := ids["l-b"]
	require.Equal(t, "GB", j.Intent.Country, "the job's own")
	require.EqualValues(t, "windowed", j.Intent.Mode, "the rest of the map is the default's")
	require.Equal(t, 5, j.Limits.Attempts)
	require.EqualValues(t, "who-b", j.Identity)
	require.Equal(t, "https://www.shop.test/b?u=ada", j.Steps[0].URL)
	require.Equal(t, "shop.test", j.Origin, "the registrable domain")
}

func TestRowsOfAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("rows.csv", []byte("sku,size\na-1,s\na-2,l\n"), 0o600))
	require.NoError(t, os.WriteFile("jobs.yaml", []byte(strings.Replace(job("    foreach: { file: rows.csv }\n"+expect), "id: a", "id: \"{{sku}}-{{size}}\"", 1)), 0o600))
	jobs, err := jobfile.Load(jobfile.Options{Files: []string{"jobs.yaml"}})
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	require.Equal(t, "a-2-l", jobs[1].ID)
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{dir, filepath.Join(dir, "missing.yaml")} {
		_, err := jobfile.Load(jobfile.Options{Files: []string{file}})
		var faults strict.Errors
		require.ErrorAs(t, err, &faults)
		require.Contains(t, faults.Render(), file)
	}
}

// Whatever the bytes: no panic, and every fault has a place inside the file.
func FuzzLoad(f *testing.F) {
	for _, c := range mistakes {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "jobs.yaml")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		_, err := jobfile.Load(jobfile.Options{Files: []string{file}})
		if err == nil {
			return
		}
		var faults strict.Errors
		require.ErrorAs(t, err, &faults)
		lines := strings.Count(strings.ReplaceAll(string(text), "\r", "\n"), "\n") + 1
		for _, fault := range faults {
			require.NotEmpty(t, fault.Message)
			require.LessOrEqual(t, fault.Line, lines+1)
		}
	})
}
