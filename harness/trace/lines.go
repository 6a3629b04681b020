package trace

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // screenshots come as PNG or JPEG, and the viewer wants to know how large they are
	_ "image/png"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

const (
	// formatVersion is the newest version of the trace format that still names snapshots and files by fields
	// which all viewers since Playwright 1.53 know; the viewer of 1.64 takes 0 to 10.
	formatVersion = 8

	pageID  = "page@1"
	frameID = "frame@1"
	// titleBytes bounds the title of an action: the viewer shows it on one line.
	titleBytes = 120
)

// line is one line of trace.trace.
type line map[string]any

// An attachment is a file that the viewer lists with an action.
type attachment struct {
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	SHA1        string `json:"sha1"` // the file's name below resources/
}

// A script makes the lines of trace.trace from a recording.
type script struct {
	meta  Meta
	rec   recording
	red   *Redactor
	at    func(time.Time) float64 // ms on the trace's own clock
	pages map[int][]byte          // redacted, by index in rec.files
	lines []line
}

// finalStep is the last action: what the attempt came to.
const finalStep = StepID(-1)

func (s *script) write(attached []attachment) []line {
	s.add(line{
		"type": "context-options", "version": formatVersion, "origin": "library", "browserName": "chromium",
		"platform": runtime.GOOS, "wallTime": s.meta.Started.UnixMilli(), "monotonicTime": s.at(s.meta.Started),
		"sdkLanguage": "javascript", "title": s.red.Text(s.meta.Title), "contextId": "context@1",
		"options": line{"viewport": viewportOf(s.meta.Viewport)},
	})
	for _, st := range s.rec.steps {
		s.before(st)
	}
	s.final(attached)
	for _, st := range s.rec.steps {
		s.after(st)
	}
	s.snapshots()
	for _, e := range s.rec.entries {
		s.entry(e)
	}
	return s.lines
}

func (s *script) add(l line) { s.lines = append(s.lines, l) }

func (s *script) before(st step) {
	params := make(map[string]string, len(st.params))
	for k, v := range st.params {
		switch {
		case k == "url":
			params[k] = s.red.URL(v)
		case secretName.MatchString(k) && k != "key": // key is which key to press
			params[k] = Redacted
		default:
			params[k] = s.red.Text(v)
		}
	}
	s.add(line{
		"type": "before", "callId": callID(st.id), "startTime": s.at(st.began), "class": "Page", "method": st.name,
		"title": titleOf(st.name, params), "params": params, "pageId": pageID,
	})
}

func (s *script) after(st step) {
	ended := st.ended
	if ended.IsZero() { // it was running when the archive was written
		ended = s.end()
	}
	l := line{"type": "after", "callId": callID(st.id), "endTime": s.at(ended)}
	if st.failed {
		l["error"] = line{"name": "Error", "message": s.red.Text(st.err)}
	}
	if s.shows(st.id) {
		l["afterSnapshot"] = "after@" + callID(st.id)
	}
	s.add(l)
}

// final adds the action that says what the attempt came to, with what belongs to the whole of it.
func (s *script) final(attached []attachment) {
	end := s.at(s.end())
	title := s.meta.Outcome
	if title == "" {
		title = "end of attempt"
	}
	s.add(line{
		"type": "before", "callId": callID(finalStep), "startTime": end, "class": "Limpet", "method": "verdict",
		"title": s.red.Text(title), "params": line{"driver": s.meta.Driver, "browser": s.meta.BrowserVersion}, "pageId": pageID,
	})
	for _, f := range s.rec.dropNotes() {
		s.add(line{"type": "log", "callId": callID(finalStep), "time": end, "message": f})
	}
	l := line{"type": "after", "callId": callID(finalStep), "endTime": end, "attachments": attached}
	if s.meta.Failed {
		l["error"] = line{"name": "Verdict", "message": s.red.Text(title)}
	}
	if s.shows(finalStep) {
		l["afterSnapshot"] = "after@" + callID(finalStep)
	}
	s.add(l)
}

// snapshots adds pages and images. They stand after the actions, because the viewer learns from those what a
// snapshot's name means.
func (s *script) snapshots() {
	last := s.lastPage()
	for i, f := range s.rec.files {
		if f.image {
			s.add(s.frame(i, f))
			continue
		}
		if i == last { // the page that the verdict was given on
			s.snapshot(i, f, finalStep)
		}
		if s.newestOf(i) && s.known(f.step) {
			s.snapshot(i, f, f.step)
		}
	}
}

func (s *script) snapshot(i int, f file, id StepID) {
	dom, ok := domOf(s.pages[i], s.red.URL(f.url))
	if !ok {
		return
	}
	s.add(line{"type": "frame-snapshot", "snapshot": line{
		"callId": callID(id), "snapshotName": "after@" + callID(id), "pageId": pageID, "frameId": frameID,
		"frameUrl": s.red.URL(f.url), "doctype": "html", "html": dom, "viewport": viewportOf(s.meta.Viewport),
		"timestamp": s.at(f.at), "wallTime": f.at.UnixMilli(), "resourceOverrides": []any{}, "isMainFrame": true,
	}})
}

func (s *script) frame(i int, f file) line {
	v := viewportOf(s.meta.Viewport)
	if c, _, err := image.DecodeConfig(bytes.NewReader(f.data)); err == nil {
		v = line{"width": c.Width, "height": c.Height}
	}
	return line{
		"type": "screencast-frame", "pageId": pageID, "sha1": imageName(i, f), "width": v["width"], "height": v["height"],
		"timestamp": s.at(f.at), "frameSwapWallTime": f.at.UnixMilli(),
	}
}

// entry adds an event or a log line.
func (s *script) entry(e entry) {
	text := s.red.Text(e.event.Text)
	if e.cut {
		text = s.red.cut(e.event.Text)
	}
	at := s.at(e.event.At)
	switch e.event.Kind {
	case "":
		id := e.step
		if !s.known(id) {
			id = finalStep
		}
		s.add(line{"type": "log", "callId": callID(id), "time": at, "message": text})
	case drivers.EventConsole:
		s.add(s.console(e, e.event.Type, text))
	case drivers.EventPageError:
		s.add(line{
			"type": "event", "time": at, "class": "BrowserContext", "method": "pageError", "pageId": pageID,
			"params": line{"error": line{"error": line{"name": "Error", "message": text, "stack": ""}}},
		})
	case drivers.EventDialog:
		s.add(s.console(e, "warning", "dialog dismissed ("+e.event.Type+"): "+text))
	case drivers.EventDownload:
		s.add(s.console(e, "warning", "download refused: "+text))
	case drivers.EventPopup:
		s.add(s.console(e, "warning", "pop-up closed: "+s.red.address(e)))
	case drivers.EventCrash:
		s.add(s.console(e, "error", "the page's process is gone "+text))
	case drivers.EventNavigated:
		s.add(s.console(e, "info", "navigated to "+s.red.address(e)))
	default: // network events are in trace.network
	}
}

func (s *script) console(e entry, level, text string) line {
	return line{
		"type": "console", "time": s.at(e.event.At), "pageId": pageID, "messageType": level, "text": text, "args": []any{},
		"location": line{"url": s.red.address(e), "lineNumber": 0, "columnNumber": 0},
	}
}

// end is when the last thing happened.
func (s *script) end() time.Time {
	end := s.meta.Started
	later := func(t time.Time) {
		if t.After(end) {
			end = t
		}
	}
	for _, e := range s.rec.entries {
		later(e.event.At)
	}
	for _, st := range s.rec.steps {
		later(st.began)
		later(st.ended)
	}
	for _, f := range s.rec.files {
		later(f.at)
	}
	return end
}

// known reports whether the step is in the archive.
func (s *script) known(id StepID) bool {
	return slices.ContainsFunc(s.rec.steps, func(st step) bool { return st.id == id })
}

// shows reports whether a page was kept that shows how the step left it.
func (s *script) shows(id StepID) bool {
	if id == finalStep {
		return s.lastPage() >= 0
	}
	return slices.ContainsFunc(s.rec.files, func(f file) bool { return !f.image && f.step == id })
}

// lastPage is the index of the newest page; -1 if none was kept.
func (s *script) lastPage() int {
	for i, f := range slices.Backward(s.rec.files) {
		if !f.image {
			return i
		}
	}
	return -1
}

// newestOf reports whether page i is the newest of its step: a snapshot's name stands for one page.
func (s *script) newestOf(i int) bool {
	return !slices.ContainsFunc(s.rec.files[i+1:], func(f file) bool { return !f.image && f.step == s.rec.files[i].step })
}

// dropNotes says what is missing.
func (r recording) dropNotes() []string {
	if r.dropped == 0 {
		return nil
	}
	return []string{fmt.Sprintf("TRUNCATED: %d older events, log lines or files did not fit and were dropped", r.dropped)}
}

func callID(id StepID) string {
	if id == finalStep {
		return "call@verdict"
	}
	return fmt.Sprintf("call@%d", id)
}

func titleOf(name string, params map[string]string) string {
	title := name
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if key != "value" { // what was typed is with the parameters
			title += " " + params[key]
		}
	}
	title, cut := shorten(strings.TrimSpace(title), titleBytes)
	if cut {
		title += "…"
	}
	return title
}

func viewportOf(s drivers.Size) line {
	if s.Width <= 0 || s.Height <= 0 {
		s = drivers.Size{Width: 1280, Height: 720}
	}
	return line{"width": s.Width, "height": s.Height}
}
