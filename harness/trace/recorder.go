package trace

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// A Recorder is the flight recorder of one browser context: it keeps the newest events, log lines and steps of
// an attempt in bounded memory and costs nothing else until an archive is written. It is safe for concurrent
// use, and none of its methods blocks on anything but its own short lock.
type Recorder struct {
	limits Limits

	mu      sync.Mutex
	ring    ring
	steps   []step
	lost    int // steps, pages and images that did not fit
	next    StepID
	current StepID // the step that has begun last; 0 before the first
	files   []file
	html    int    // bytes of attached pages
	images  int    // bytes of attached screenshots
	address string // of the main document
	began   time.Time
}

// A StepID names a step of a Recorder. Zero names none.
type StepID int

// A step is one thing that the job did on a page.
type step struct {
	id     StepID
	name   string
	params map[string]string
	began  time.Time
	ended  time.Time // zero while it runs
	err    string    // empty if it went well
	failed bool
}

// An entry is one event or one log line.
type entry struct {
	event drivers.Event // Kind is empty for a log line, whose text is Text
	step  StepID        // the step that ran when it came
	size  int           // approximate bytes in memory
	cut   bool          // Text or URL is a prefix
}

// A file is an attached page or image.
type file struct {
	name        string
	contentType string
	data        []byte
	at          time.Time
	step        StepID
	url         string // of the main document when it was attached
	image       bool
}

var _ drivers.Sink = (*Recorder)(nil)

// NewRecorder makes an empty recorder.
func NewRecorder(l Limits) *Recorder {
	l = l.orDefaults()
	return &Recorder{limits: l, ring: ring{max: l.Bytes}, began: time.Now()}
}

// Record keeps e, at the cost of the oldest events when there is no room. The recorder owns e.Header from then on.
func (r *Recorder) Record(e drivers.Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	r.push(e)
}

// Log keeps a line about the attempt, such as what the harness decided.
func (r *Recorder) Log(text string) { r.push(drivers.Event{At: time.Now(), Text: text}) }

func (r *Recorder) push(e drivers.Event) {
	var cutText, cutURL bool
	e.Text, cutText = shorten(e.Text, maxTextBytes)
	e.URL, cutURL = shorten(e.URL, maxURLBytes)
	en := entry{event: e, size: sizeOf(e), cut: cutText || cutURL}
	r.mu.Lock()
	defer r.mu.Unlock()
	en.step = r.current
	if e.MainFrame && e.Kind == drivers.EventNavigated {
		r.address = e.URL
	}
	r.ring.push(en)
}

// Begin says that a step starts. The recorder owns params from then on; values of secrets may be in it, since
// they are redacted before anything is written.
func (r *Recorder) Begin(name string, params map[string]string) StepID {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	r.current = r.next
	if len(r.steps) >= r.limits.Steps {
		r.lost++
		return r.next
	}
	r.steps = append(r.steps, step{id: r.next, name: name, params: params, began: time.Now()})
	return r.next
}

// End says that a step is over and how it went. A step that is not known, or is over already, is left alone.
func (r *Recorder) End(id StepID, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.steps) - 1; i >= 0; i-- {
		if r.steps[i].id == id && r.steps[i].ended.IsZero() {
			r.steps[i].ended = time.Now()
			if err != nil {
				r.steps[i].err, r.steps[i].failed = err.Error(), true
			}
			return
		}
	}
}

// AttachHTML keeps a page as it stands, for the step that has begun last. The newest page becomes the DOM of the archive.
// The recorder owns b from then on. A page that does not fit is dropped and counted.
func (r *Recorder) AttachHTML(name, contentType string, b []byte) {
	r.attach(file{name: name, contentType: contentType, data: b}, &r.html, r.limits.HTMLBytes)
}

// AttachScreenshot keeps an image for the step that has begun last. The recorder owns b from then on. An image
// that does not fit is dropped and counted.
func (r *Recorder) AttachScreenshot(name, contentType string, b []byte) {
	r.attach(file{name: name, contentType: contentType, data: b, image: true}, &r.images, r.limits.ImageBytes)
}

// attach keeps f if its size fits under limit together with used, which mu guards.
func (r *Recorder) attach(f file, used *int, limit int) {
	f.at = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(f.data) == 0 || *used+len(f.data) > limit {
		r.lost++
		return
	}
	*used += len(f.data)
	f.step, f.url = r.current, r.address
	r.files = append(r.files, f)
}

// Reset forgets everything: the next attempt begins.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring.reset()
	r.steps, r.files = nil, nil
	r.lost, r.current, r.html, r.images = 0, 0, 0, 0
	r.began = time.Now()
}

// Dropped is how many events, log lines, steps, pages and images were lost for want of room since the last Reset.
func (r *Recorder) Dropped() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ring.dropped + r.lost
}

// A recording is what a Recorder held at one moment.
type recording struct {
	began   time.Time
	entries []entry
	steps   []step
	files   []file
	dropped int
}

func (r *Recorder) snapshot() recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return recording{
		began: r.began, entries: slices.Clone(r.ring.live()), steps: slices.Clone(r.steps),
		files: slices.Clone(r.files), dropped: r.ring.dropped + r.lost,
	}
}

// shorten cuts s to n bytes. The copy lets go of the rest.
func shorten(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	return strings.ToValidUTF8(strings.Clone(s[:n]), ""), true
}

// sizeOf is what an event takes in memory: its struct, and its strings. 256 is the size of an entry rounded up.
func sizeOf(e drivers.Event) int {
	n := 256 + len(e.RequestID) + len(e.Method) + len(e.URL) + len(e.Type) + len(e.MIMEType) + len(e.Text)
	for k, v := range e.Header {
		n += len(k) + len(v) + 48 // two string headers and the map's share
	}
	return n
}
