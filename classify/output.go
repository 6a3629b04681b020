package classify

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// output is what the page holds of what the job expects.
type output struct {
	compiled *Compiled // nil: nothing was expected
	fault    error     // the expectation does not compile
	marker   bool      // the marker was asked for and found
	present  bool      // the business marker is there: the marker, or a record where none was named
	page     extraction
	records  []Record // of extract steps and of the page, before the schema
	empty    bool     // the page says that there is nothing, as the job allows
	invalid  string   // why the schema refused the first record that it refused; "" if none
	refused  int      // by the schema
}

// examine reads the page once for everything that later stages ask about the job's expectation.
func (j *judge) examine() output {
	var o output
	o.compiled, o.fault = j.c.compile(j.ev.Expect)
	o.records = slices.Clone(j.ev.Extracted)
	c := o.compiled
	if c == nil || j.v.doc == nil {
		return o
	}
	if c.marker != nil {
		o.marker = cascadia.Query(j.v.doc, c.marker) != nil
	}
	if c.records != nil {
		o.page = c.records.read(j.v.doc, newLocale(j.v.doc, c.expect.Geo.Currency, j.v.url))
		o.records = join(o.records, o.page.records)
	}
	if c.empty != nil {
		o.empty = slices.ContainsFunc(cascadia.QueryAll(j.v.doc, c.empty), shown)
	}
	o.present = o.marker || c.marker == nil && len(o.page.records) > 0
	o.checkSchema()
	return o
}

// join adds the final page's records to those that extract steps took. A last page that a step has already read
// does not count twice.
func join(taken, page []Record) []Record {
	if len(taken) == 0 || len(page) == 0 {
		return append(taken, page...)
	}
	seen := make(map[string]bool, len(taken))
	for _, r := range taken {
		seen[fingerprint(r)] = true
	}
	if !slices.ContainsFunc(page, func(r Record) bool { return !seen[fingerprint(r)] }) {
		return taken
	}
	return append(taken, page...)
}

func fingerprint(r Record) string {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Sprint(r)
	}
	return string(b)
}

// checkSchema keeps the records that the schema accepts.
func (o *output) checkSchema() {
	if o.compiled.schema == nil {
		return
	}
	kept := o.records[:0:0]
	for _, r := range o.records {
		err := o.compiled.schema.Validate(map[string]any(r))
		if err == nil {
			kept = append(kept, r)
			continue
		}
		if o.refused++; o.refused == 1 {
			o.invalid = schemaFault(err)
		}
	}
	o.records = kept
}

// judgeOutput is the last stage: is this what the job came for, and if not, why not?
func (j *judge) judgeOutput() finding {
	if j.out.fault != nil {
		return found(ScriptError, sureFact, "expect.unusable", clip(j.out.fault.Error(), 4*maxRawSignal))
	}
	var m market
	if j.out.compiled != nil {
		m = j.market(j.out.compiled)
		j.noted = append(j.noted, m.noted...)
	}
	if len(m.wrong) > 0 {
		j.noted = append(j.noted, m.unsure...)
		return finding{class: WrongGeo, confidence: sureStatus, signals: m.wrong}
	}
	if j.ev.Step == nil && j.out.compiled.asks() {
		if f := j.useful(m); f.found() {
			return f
		}
	}
	j.noted = append(j.noted, m.unsure...)
	if f := j.softFailure(); f.found() {
		return f
	}
	return j.notUseful()
}

// useful accepts the page if everything that was asked for is there.
func (j *judge) useful(m market) finding {
	o, c := &j.out, j.out.compiled
	if o.empty && o.page.elements == 0 && len(o.records) == 0 {
		return found(UsefulEmpty, sureFact, "expect.empty", c.expect.Empty.Selector)
	}
	if c.marker != nil && !o.marker || !o.enough() {
		return finding{}
	}
	f := finding{class: Useful, confidence: sureFact}
	if o.marker {
		f.signals = append(f.signals, Signal{Rule: "expect.marker", Weight: 1, Where: c.expect.Marker})
	}
	if c.geo != nil && cascadia.Query(j.v.doc, c.geo) == nil {
		return found(WrongGeo, sureLikely, "geo.selector", c.expect.Geo.Selector+" not found")
	}
	if c.records != nil {
		f.signals = append(f.signals, Signal{
			Rule: "expect.records", Weight: 1, Where: fmt.Sprintf("%d records of %s", len(o.records), c.expect.Records.Each),
		})
	}
	if len(m.unsure) > 0 {
		return finding{class: Unknown, confidence: sureNothing, signals: m.unsure}
	}
	j.noteRejected()
	return f
}

// enough reports whether there are as many good records as were asked for, and no more bad ones than good: a
// page of which most is refused has changed, whatever the minimum.
func (o *output) enough() bool {
	if o.compiled.records == nil {
		return o.refused == 0
	}
	return len(o.records) >= o.compiled.records.min && o.page.rejected+o.refused <= len(o.records)
}

func (j *judge) noteRejected() {
	if n := j.out.page.rejected; n > 0 {
		j.note("records.rejected", fmt.Sprintf("%d of %d: %s", n, j.out.page.elements, j.out.page.why))
	}
	if n := j.out.refused; n > 0 {
		j.note("records.schema", fmt.Sprintf("%d refused: %s", n, j.out.invalid))
	}
}

// notUseful names what is missing where nothing else explains it.
func (j *judge) notUseful() finding {
	o := &j.out
	page := j.v.doc != nil
	if s := j.ev.Step; s != nil && (s.Name != "wait" || o.compiled.asks() && o.present || !o.compiled.asks()) {
		where := fmt.Sprintf("step %d %s %s", s.Index+1, s.Name, s.Selector)
		return found(ScriptError, sureStatus, "step.failed", clip(collapse(where+": "+s.Message), 4*maxRawSignal))
	}
	switch {
	case !o.compiled.asks():
		return finding{class: Unknown, confidence: sureNothing, signals: []Signal{
			{Rule: "expect.nothing", Weight: weightNoted, Where: "no marker and no records were expected"},
		}}
	case !page:
		return found(Missing, sureGuess, "page.none", "no page")
	case o.compiled.marker != nil && !o.marker:
		return found(Missing, sureLikely, "expect.marker_missing", o.compiled.expect.Marker)
	case o.page.rejected+o.refused > 0:
		return j.rejected()
	case len(o.records) == 0:
		return j.noRecords()
	default:
		return found(Missing, sureLikely, "expect.too_few",
			fmt.Sprintf("%d of at least %d records of %s", len(o.records), o.compiled.records.min, o.compiled.expect.Records.Each))
	}
}

// rejected tells records whose fields are not there from such as hold something else than the job describes.
func (j *judge) rejected() finding {
	o := &j.out
	f := finding{class: Invalid, confidence: sureStatus}
	if o.page.unread+o.refused == 0 {
		f.class = Missing
	}
	if o.page.rejected > 0 {
		f.signals = append(f.signals, Signal{
			Rule: "records.rejected", Weight: 1, Where: fmt.Sprintf("%d of %d: %s", o.page.rejected, o.page.elements, o.page.why),
		})
	}
	if o.refused > 0 {
		f.signals = append(f.signals, Signal{Rule: "records.schema", Weight: 1, Where: fmt.Sprintf("%d refused: %s", o.refused, o.invalid)})
	}
	return f
}

// noRecords tells an empty list from a page that is another one: with the marker it is the right page.
func (j *judge) noRecords() finding {
	each := j.out.compiled.expect.Records.Each
	if j.out.marker {
		return found(Empty, sureLikely, "expect.no_records", each)
	}
	return found(Missing, sureLikely, "expect.no_records", each)
}

// mediaElements show something without text.
var mediaElements = cascadia.MustCompile("img, video, canvas, picture, svg, object, embed, audio, iframe, frame")

func hasMedia(doc *html.Node) bool {
	return slices.ContainsFunc(cascadia.QueryAll(doc, mediaElements), shownMedia)
}

// shownMedia is shown for elements that hide their own content but are seen themselves.
func shownMedia(n *html.Node) bool { return n.Parent == nil || shown(n.Parent) }
