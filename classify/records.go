package classify

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// maxRecords bounds what one page can yield.
const maxRecords = 100_000

// Extract reads records from a page, for the extract steps of a job. html is the settled DOM, address resolves
// relative links. Elements whose required fields are missing or unreadable are left out; that there are none is
// no error. It fails only if spec does not compile, with a FieldErrors.
func Extract(html, address string, spec RecordsSpec) ([]Record, error) {
	var b specCompiler
	compiled := b.records("", &spec)
	if len(b.faults) > 0 {
		return nil, b.faults
	}
	doc, _ := parseHTML(html)
	return compiled.read(doc, newLocale(doc, "", address)).records, nil
}

// extraction is what one page yielded.
type extraction struct {
	records  []Record
	elements int // that each matched
	rejected int
	unread   int    // of the rejected: a value was there and could not be read
	why      string // the first rejection: "field price: …"
}

// read extracts every record of doc.
func (c *compiledRecords) read(doc *html.Node, loc locale) extraction {
	var out extraction
	for _, n := range cascadia.QueryAll(doc, c.each) {
		if out.elements++; out.elements > maxRecords {
			break
		}
		rec, err := c.one(n, loc)
		if err != nil {
			out.reject(err)
			continue
		}
		out.records = append(out.records, rec)
	}
	return out
}

func (e *extraction) reject(err error) {
	if e.rejected++; e.rejected == 1 {
		e.why = err.Error()
	}
	if !errors.Is(err, errFieldMissing) {
		e.unread++
	}
}

func (c *compiledRecords) one(n *html.Node, loc locale) (Record, error) {
	rec := make(Record, len(c.fields))
	for _, f := range c.fields {
		v, err := f.value(n, loc)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.name, err)
		}
		rec[f.name] = v
	}
	return rec, nil
}

// value gives the field's value in the record's element; nil if it is missing and may be.
func (f *compiledField) value(record *html.Node, loc locale) (any, error) {
	if f.spec.Count {
		return json.Number(strconv.Itoa(len(cascadia.QueryAll(record, f.css)))), nil
	}
	raw, ok := f.raw(record)
	if ok && f.pattern != nil {
		raw, ok = firstGroup(f.pattern.FindStringSubmatch(raw))
	}
	if !ok || raw == "" {
		if f.spec.Optional {
			return nil, nil //nolint:nilnil // JSON null: the field is not there
		}
		return nil, errFieldMissing
	}
	return f.read(raw, loc)
}

func (f *compiledField) raw(record *html.Node) (string, bool) {
	n := record
	if f.css != nil {
		n = cascadia.Query(record, f.css)
	}
	if n == nil {
		return "", false
	}
	if f.spec.Attr == "" {
		return textOf(n), true
	}
	return collapse(attr(n, f.spec.Attr)), hasAttr(n, f.spec.Attr)
}

func firstGroup(groups []string) (string, bool) {
	switch len(groups) {
	case 0:
		return "", false
	case 1:
		return collapse(groups[0]), true
	default:
		return collapse(groups[1]), true
	}
}

// resolve gives the absolute form of a link.
func resolve(link, base string) (*url.URL, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, fmt.Errorf("%q is no address", clip(link, maxRawSignal))
	}
	b, err := url.Parse(base)
	if err != nil {
		return u, nil //nolint:nilerr // without a usable base the link has to stand alone
	}
	return b.ResolveReference(u), nil
}
