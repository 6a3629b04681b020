package jobfile

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/identity"
)

// URLOptions tune FromURL. The zero value is usable.
type URLOptions struct {
	// Each is the selector of one record's element. Empty means the whole page, which is one record.
	Each string
	// Marker is the selector without which the page is not useful. Empty means that of the first field.
	Marker string
}

var (
	fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	attribute = regexp.MustCompile(`@([A-Za-z_][A-Za-z0-9_:-]*)$`)
)

// FromURL is the job of a command line: one page by the direct exit, with a record of the fields that selects name.
// A select is name=css for the text of an element, or name=css@attribute.
func FromURL(address string, selects []string, o URLOptions) (Job, error) {
	u, problem := parseAddress(address)
	if problem != "" {
		return Job{}, fmt.Errorf("%s: give one such as https://shop.example/product/7", problem)
	}
	if len(selects) == 0 {
		return Job{}, fmt.Errorf("nothing says what to take from the page: add --select name=css")
	}
	spec := classify.RecordsSpec{Each: o.Each, Fields: map[string]classify.FieldSpec{}}
	if spec.Each == "" {
		spec.Each = "html"
	}
	marker := o.Marker
	for _, s := range selects {
		name, f, err := parseSelect(s)
		if err != nil {
			return Job{}, err
		}
		if _, twice := spec.Fields[name]; twice {
			return Job{}, fmt.Errorf("--select %s: the field %q is there twice", s, name)
		}
		spec.Fields[name] = f
		if marker == "" {
			marker = f.CSS
		}
	}
	for _, css := range []string{spec.Each, marker} {
		if _, err := cascadia.ParseGroup(css); err != nil {
			return Job{}, fmt.Errorf("%q is not a CSS selector: %w", css, err)
		}
	}
	pos := Position{File: "command line", Line: 1, Column: 1}
	return Job{
		ID:       "page",
		Pos:      pos,
		Identity: identity.ID("page"),
		Origin:   originOf(u.String()),
		Intent:   scheduler.Intent{Protocol: "direct"},
		Trace:    Trace{Failed: true, Level: "light"},
		Scope:    Scope{Origins: []string{u.Hostname()}},
		Steps:    []Step{{Verb: Goto, Pos: pos, URL: u.String()}},
		Expect:   classify.Expectation{Marker: marker, Records: &spec},
		Robots:   "obey",
	}, nil
}

func parseSelect(s string) (string, classify.FieldSpec, error) {
	name, css, ok := strings.Cut(s, "=")
	if !ok || !fieldName.MatchString(name) || strings.TrimSpace(css) == "" {
		return "", classify.FieldSpec{}, fmt.Errorf("--select %s: want name=css, such as price=\"#price\"", s)
	}
	f := classify.FieldSpec{CSS: css}
	if m := attribute.FindStringSubmatch(css); m != nil {
		f.CSS, f.Attr = strings.TrimSuffix(css, m[0]), m[1]
	}
	if _, err := cascadia.ParseGroup(f.CSS); err != nil {
		return "", classify.FieldSpec{}, fmt.Errorf("--select %s: %q is not a CSS selector: %w", s, f.CSS, err)
	}
	return name, f, nil
}
