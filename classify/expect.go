package classify

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
)

// A FieldError reports what is wrong with one part of an expectation.
type FieldError struct {
	Path string // such as "records.fields.price.css", as in a job file below "expect"
	Err  error
}

// Error says where and what.
func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// FieldErrors are all faults of one expectation.
type FieldErrors []*FieldError

// Error lists the faults, one a line.
func (es FieldErrors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults.
func (es FieldErrors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// A Compiled is an expectation whose selectors, patterns and schema have been parsed. It is read-only and safe
// for concurrent use.
type Compiled struct {
	expect  Expectation
	marker  cascadia.Matcher // nil: none
	geo     cascadia.Matcher
	empty   cascadia.Matcher
	records *compiledRecords
	schema  *jsonschema.Schema
}

type compiledRecords struct {
	each   cascadia.Matcher
	fields []compiledField // by name
	min    int
}

type compiledField struct {
	name    string
	spec    FieldSpec
	css     cascadia.Matcher // nil: the record's element itself
	pattern *regexp.Regexp   // nil: none
	read    reader           // of its type
}

// asks reports whether the expectation can make a page useful at all.
func (c *Compiled) asks() bool { return c != nil && (c.marker != nil || c.records != nil) }

// Compile parses what e names. Its error is a FieldErrors with every fault.
func (e *Expectation) Compile() (*Compiled, error) {
	var b specCompiler
	c := &Compiled{expect: *e}
	c.marker = b.selector("marker", e.Marker)
	c.geo = b.selector("geo.selector", e.Geo.Selector)
	b.geo(e.Geo)
	if e.Empty != nil {
		if e.Empty.Selector == "" {
			b.fault("empty.selector", errors.New("missing: name what an empty result shows"))
		}
		c.empty = b.selector("empty.selector", e.Empty.Selector)
	}
	if e.Records != nil {
		c.records = b.records("records.", e.Records)
	}
	c.schema = b.schema(e.Schema)
	if len(b.faults) > 0 {
		return nil, b.faults
	}
	return c, nil
}

// A specCompiler collects faults while it compiles.
type specCompiler struct{ faults FieldErrors }

func (b *specCompiler) fault(path string, err error) {
	b.faults = append(b.faults, &FieldError{Path: path, Err: err})
}

func (b *specCompiler) selector(path, css string) cascadia.Matcher {
	if css == "" {
		return nil
	}
	group, err := cascadia.ParseGroup(css)
	if err != nil {
		b.fault(path, fmt.Errorf("selector %q does not parse: %w", css, err))
		return nil
	}
	return group
}

func (b *specCompiler) records(path string, r *RecordsSpec) *compiledRecords {
	out := &compiledRecords{each: b.selector(path+"each", r.Each), min: r.Min}
	if r.Each == "" {
		b.fault(path+"each", errors.New("missing: name the element of one record"))
	}
	if r.Min < 0 {
		b.fault(path+"min", fmt.Errorf("%d: not a number of records", r.Min))
	}
	out.min = max(out.min, 1)
	if len(r.Fields) == 0 {
		b.fault(path+"fields", errors.New("missing: name at least one field"))
	}
	for _, name := range sortedKeys(r.Fields) {
		out.fields = append(out.fields, b.field(path+"fields."+name, name, r.Fields[name]))
	}
	return out
}

func (b *specCompiler) field(path, name string, f FieldSpec) compiledField {
	out := compiledField{name: name, spec: f, css: b.selector(path+".css", f.CSS)}
	if out.read = readerOf(f.Type); out.read == nil {
		b.fault(path+".type", fmt.Errorf("%q is no type; the types are %s", f.Type, fieldTypes))
	}
	if f.Count && f.CSS == "" {
		b.fault(path+".count", errors.New("needs css: say what to count"))
	}
	if f.Count && (f.Attr != "" || f.Pattern != "") {
		b.fault(path+".count", errors.New("stands alone: a count has no attr and no pattern"))
	}
	if f.Pattern != "" {
		re, err := regexp.Compile(f.Pattern)
		if err != nil {
			b.fault(path+".pattern", err)
		}
		out.pattern = re
	}
	return out
}

func (b *specCompiler) geo(g GeoExpectation) {
	if g.Currency != "" {
		if _, err := currency.ParseISO(g.Currency); err != nil {
			b.fault("geo.currency", fmt.Errorf("%q is no ISO 4217 code such as EUR", g.Currency))
		}
	}
	if g.Country != "" {
		if r, err := language.ParseRegion(g.Country); err != nil || len(g.Country) != 2 || !r.IsCountry() && g.Country != "XK" {
			b.fault("geo.country", fmt.Errorf("%q is no ISO 3166 code such as DE", g.Country))
		}
	}
	if g.Language != "" {
		if _, err := language.Parse(g.Language); err != nil {
			b.fault("geo.language", fmt.Errorf("%q is no language tag such as de or de-AT", g.Language))
		}
	}
}

// schemaURL names the schema while it is compiled; nothing is ever loaded from it.
const schemaURL = "limpet:record"

func (b *specCompiler) schema(raw []byte) *jsonschema.Schema {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		b.fault("schema", fmt.Errorf("not JSON: %w", err))
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	if err := c.AddResource(schemaURL, doc); err != nil {
		b.fault("schema", err)
		return nil
	}
	s, err := c.Compile(schemaURL)
	if err != nil {
		b.fault("schema", err)
		return nil
	}
	return s
}

// noLoader refuses references to other documents: a classifier reads neither files nor the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %q: a schema must be whole in itself", url)
}
