// Package stricttest turns Go structs into the JSON Schemas that package strict checks with, and the schemas into tests.
package stricttest

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"
)

// Golden checks that the file holds the schema of shape, or writes it there under UPDATE_GOLDEN=1.
func Golden(t *testing.T, file, title string, shape any) {
	t.Helper()
	got := Generate(t, title, shape)
	if os.Getenv("UPDATE_GOLDEN") != "" { //nolint:forbidigo // the switch of the test itself
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	want, err := os.ReadFile(file) //nolint:gosec // a golden file beside the test
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run with UPDATE_GOLDEN=1 and read the difference")
}

// Generate is the draft-07 schema of a struct. Names are those of its yaml tags; descriptions, of jsonschema_description tags.
func Generate(t *testing.T, title string, shape any) []byte {
	t.Helper()
	s := reflector().Reflect(shape)
	s.Version, s.Title = "http://json-schema.org/draft-07/schema#", title
	// What begins with x- is the author's own.
	s.PatternProperties = map[string]*jsonschema.Schema{"^x-": {}}
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	// Draft 07 calls definitions by another name, and ignores what stands beside a reference.
	raw = bytes.ReplaceAll(raw, []byte("#/$defs/"), []byte("#/definitions/"))
	var tree map[string]any
	require.NoError(t, json.Unmarshal(raw, &tree))
	if defs, ok := tree["$defs"]; ok {
		tree["definitions"] = defs
		delete(tree, "$defs")
	}
	wrapReferences(tree)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(tree))
	return out.Bytes()
}

func reflector() *jsonschema.Reflector {
	return &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true, FieldNameTag: "yaml",
		Namer: name, Mapper: spans,
	}
}

// spans makes every time.Duration a text with a unit.
func spans(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[time.Duration]() {
		return Duration("").JSONSchema()
	}
	return nil
}

// name is a type's name without the suffix that tells shapes apart; empty for a type without a name.
func name(t reflect.Type) string {
	n := strings.TrimSuffix(t.Name(), "Shape")
	if n == "" {
		return ""
	}
	return strings.ToLower(n[:1]) + n[1:]
}

func wrapReferences(v any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"]; ok && len(v) > 1 {
			delete(v, "$ref")
			v["allOf"] = []any{map[string]any{"$ref": ref}}
		}
		for _, c := range v {
			wrapReferences(c)
		}
	case []any:
		for _, c := range v {
			wrapReferences(c)
		}
	}
}

// Matching is text of a form: a pattern for editors, and the end of a sentence ("is not a …") for people. A value
// with a variable in it is judged once that is filled in.
func Matching(pattern, sentence, description string, examples ...any) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Pattern: `^(?:` + pattern + `)$|\{\{`, Description: description, Examples: examples,
		Extras: map[string]any{"errorMessage": sentence},
	}
}

// OneOf is a value with a short and a long form.
func OneOf(forms ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{OneOf: forms} }

// Inline is the schema of a struct in its place.
func Inline(shape any) *jsonschema.Schema {
	r := reflector()
	r.DoNotReference = true
	s := r.Reflect(shape)
	s.Version = ""
	return s
}

// Refused is a key that is known and not allowed, with the end of a sentence that says why.
func Refused(sentence string) *jsonschema.Schema {
	return &jsonschema.Schema{Not: &jsonschema.Schema{}, Extras: map[string]any{"errorMessage": sentence, "doNotSuggest": true}}
}

// Text is any text that is not empty.
func Text() *jsonschema.Schema {
	one := uint64(1)
	return &jsonschema.Schema{Type: "string", MinLength: &one}
}

// Duration is a span of time with its unit.
type Duration string

// JSONSchema is the form that strict.ParseDuration reads.
func (Duration) JSONSchema() *jsonschema.Schema {
	return Matching(`([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+`, "is not a duration with its unit, such as 500ms, 90s, 10m or 1h", "A duration with its unit.", "90s", "10m")
}

// Size is a number of bytes with its unit.
type Size string

// JSONSchema is the form that strict.ParseSize reads.
func (Size) JSONSchema() *jsonschema.Schema {
	return Matching(`[0-9]+(\.[0-9]+)? ?([kKMG]i?)?B`, "is not a size with its unit, such as 500kB, 5MB or 2MiB", "A size with its unit: kB, MB and GB count in thousands; KiB, MiB and GiB in 1024.", "5MB")
}

// Country is an ISO 3166 alpha-2 code.
type Country string

// JSONSchema is two capital letters.
func (Country) JSONSchema() *jsonschema.Schema {
	return Matching(`[A-Z]{2}`, "is not a country of two capital letters, such as DE", "ISO 3166 alpha-2 code of a country, in capitals.", "DE")
}
