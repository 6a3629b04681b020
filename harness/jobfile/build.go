package jobfile

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/harness/strict"
	"github.com/limpet-dev/limpet/identity"
)

// job builds one job from its node, in which variables are filled in and defaults applied.
func (l *loader) job(n *strict.Node, v variables) {
	id := n.Get("id")
	j := Job{
		ID:         id.Text(),
		Pos:        position(n),
		Intent:     l.intent(n.Get("intent")),
		Limits:     l.limits(n.Get("budget")),
		Trace:      traceOf(n.Get("trace")),
		Continuity: n.Get("continuity").Bool(),
		Robots:     n.Get("robots").Text(),
	}
	if j.Robots == "" {
		j.Robots = "obey"
	}
	l.checkID(id, v)
	l.identity(&j, n.Get("identity"))
	if e := n.Get("expect"); e != nil {
		j.Expect = l.expectation(e)
	} else {
		l.faults.AddKeyf(n, `add expect: { marker: "#name" } with the selector of what only the right page has`, "%q is missing: without a marker no page counts as useful", "expect")
	}
	s := stepReader{loader: l, variables: v}
	for i, step := range n.Get("steps").Items() {
		st := s.step(step)
		if i == 0 && st.Verb != Goto {
			l.faults.Addf(step, "begin with goto: and the address of the first page", "the first step must be a goto")
		}
		if (st.Verb == Paginate || st.Verb == Extract && st.Records == nil) && j.Expect.Records == nil {
			l.faults.Addf(step, "add records to expect", "there is nothing to extract: expect.records does not say what a record is")
		}
		j.Steps = append(j.Steps, st)
	}
	j.Secrets = s.secrets
	if len(j.Steps) > 0 {
		j.Origin = originOf(j.Steps[0].URL)
	}
	l.jobs = append(l.jobs, j)
}

// maxID is the most characters of an id, which names trace files: file systems stop at 255 bytes.
const maxID = 100

func (l *loader) checkID(id *strict.Node, v variables) {
	if id == nil {
		return // reported as missing
	}
	text := id.Text()
	bad := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-@+", r)
	})
	if text == "" || bad >= 0 || text[0] == '.' || text[0] == '-' || len([]rune(text)) > maxID {
		l.faults.Addf(id, fmt.Sprintf("at most %d letters, digits and . _ - @ +, not a dot or a dash first", maxID), "%q cannot be the id of a job", text)
		return
	}
	first, used := l.ids[text]
	if !used {
		l.ids[text] = position(id)
		return
	}
	if first == position(id) && v.row != nil {
		l.faults.Addf(id, "put a variable of foreach into it that differs from row to row", "several rows of foreach give the id %q", text)
		return
	}
	l.faults.Addf(id, "first used at "+first.String(), "the job id %q is already used", text)
}

func position(n *strict.Node) Position {
	return Position{File: n.File(), Line: n.Line, Column: n.Column}
}

func (l *loader) identity(j *Job, n *strict.Node) {
	key := n.Get("key")
	j.Identity = identity.ID(key.Text())
	if key == nil {
		j.Identity = identity.ID(j.ID)
	}
	if strings.ContainsFunc(key.Text(), unicode.IsControl) {
		l.faults.Addf(key, "", "the key of an identity is one line of text")
	}
	p := n.Get("persona")
	j.Persona = identity.Persona{
		Country:   l.country(p.Get("country")),
		Locale:    l.locale(p.Get("locale")),
		TimeZone:  l.timeZone(p.Get("timezone")),
		Viewport:  drivers.Size{Width: p.Get("viewport").Get("width").Int(), Height: p.Get("viewport").Get("height").Int()},
		Exclusive: n.Get("exclusive").Bool(),
	}
}

func (l *loader) intent(n *strict.Node) scheduler.Intent {
	i := scheduler.Intent{
		Mode:     scheduler.Mode(n.Get("mode").Text()),
		Country:  l.country(n.Get("country")),
		Region:   n.Get("region").Text(),
		City:     n.Get("city").Text(),
		ASN:      strings.TrimPrefix(n.Get("asn").Text(), "AS"),
		Protocol: n.Get("protocol").Text(),
		Window:   time.Duration(n.Get("minutes").Int()) * time.Minute,
		Class:    n.Get("class").Text(),
		Exit:     n.Get("exit").Text(),
	}
	if strings.Trim(i.ASN, "0123456789") != "" {
		l.faults.Addf(n.Get("asn"), "", "%q is not the number of an autonomous system, such as 3320 or AS3320", i.ASN)
	}
	for _, key := range []string{"region", "city"} {
		if n.Get(key) != nil && n.Get("country") == nil {
			l.faults.AddKeyf(n.Get(key), "add the country", "a %s needs its country", key)
		}
	}
	return i
}

func (l *loader) limits(n *strict.Node) scheduler.Limits {
	limits := scheduler.Limits{
		Attempts:     n.Get("attempts").Int(),
		RouteChanges: n.Get("route_changes").Int(),
		Elapsed:      l.duration(n.Get("elapsed")),
		Bytes:        l.size(n.Get("bytes")),
	}
	if n.Get("route_changes") != nil && limits.RouteChanges == 0 {
		limits.RouteChanges = -1 // zero would mean the default
	}
	return limits
}

func traceOf(n *strict.Node) Trace {
	t := Trace{Failed: true, Sample: n.Get("sample").Float(), Level: n.Get("level").Text()}
	if failed := n.Get("failed"); failed != nil {
		t.Failed = failed.Bool()
	}
	if t.Level == "" {
		t.Level = "light"
	}
	return t
}

func (l *loader) expectation(n *strict.Node) classify.Expectation {
	marker := n.Get("marker")
	if marker == nil {
		l.faults.AddKeyf(n, "name the selector of what only the right page has", "%q is missing in expect: without it no page counts as useful", "marker")
	}
	geo := n.Get("geo")
	e := classify.Expectation{
		Marker: l.selector(marker),
		Geo: classify.GeoExpectation{
			Currency: l.currency(geo.Get("currency")),
			Country:  l.country(geo.Get("country")),
			Language: l.locale(geo.Get("language")),
			Selector: l.selector(geo.Get("selector")),
		},
	}
	if records := n.Get("records"); records != nil {
		e.Records = l.records(records)
		e.Schema = l.recordSchema(records.Get("schema"))
	}
	if empty := n.Get("empty"); empty != nil {
		e.Empty = &classify.EmptySpec{Selector: l.selector(empty)}
	}
	return e
}

func (l *loader) records(n *strict.Node) *classify.RecordsSpec {
	spec := &classify.RecordsSpec{
		Each:   l.selector(n.Get("each")),
		Fields: map[string]classify.FieldSpec{},
		Min:    n.Get("min").Int(),
	}
	for _, f := range n.Get("fields").Items() {
		spec.Fields[f.Key()] = l.field(f)
	}
	return spec
}

func (l *loader) field(n *strict.Node) classify.FieldSpec {
	if n.Kind != strict.Map {
		return classify.FieldSpec{CSS: l.selector(n)}
	}
	f := classify.FieldSpec{
		CSS:      l.selector(n.Get("css")),
		Attr:     n.Get("attr").Text(),
		Type:     n.Get("type").Text(),
		Count:    n.Get("count").Bool(),
		Optional: n.Get("optional").Bool(),
		Pattern:  l.pattern(n.Get("pattern")),
	}
	if f.Count && (f.Attr != "" || f.Pattern != "" || f.Type != "") {
		l.faults.AddKeyf(n, "leave attr, type and pattern out", "a field with count is a number of matches, and has no text to read")
	}
	return f
}
