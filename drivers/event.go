package drivers

import "time"

// A Sink receives the events of a context, in order, from one goroutine of the driver at a time. Record must
// return at once and must not call the driver: a browser library that waits for a handler that waits for the
// library stands still for ever (field cases FC02-04, FC02-05).
type Sink interface {
	Record(e Event)
}

// SinkFunc makes a function a Sink.
type SinkFunc func(Event)

// Record calls f.
func (f SinkFunc) Record(e Event) { f(e) }

// EventKind says what an Event is about.
type EventKind string

// The kinds of event.
const (
	EventRequest   EventKind = "request"    // a request left the page
	EventResponse  EventKind = "response"   // its header arrived
	EventFinished  EventKind = "finished"   // its body arrived
	EventFailed    EventKind = "failed"     // it failed; Text is net::ERR_…
	EventConsole   EventKind = "console"    // Text is the message, Type its level
	EventPageError EventKind = "page_error" // an uncaught exception
	EventDialog    EventKind = "dialog"     // dismissed; Type is alert, confirm, prompt or beforeunload
	EventDownload  EventKind = "download"   // refused; Text is the suggested name
	EventPopup     EventKind = "popup"      // closed
	EventCrash     EventKind = "crash"      // the renderer is gone
	EventNavigated EventKind = "navigated"  // the main frame committed URL
)

// An Event is something that happened in a context. Fields that a kind does not name are zero. Header values
// are as the browser reported them, secrets included: whoever stores an event redacts it first.
type Event struct {
	Kind      EventKind
	At        time.Time
	RequestID string // pairs request, response, finished and failed
	Method    string
	URL       string
	Type      string // resource type of a request in lower case ("document", "script"), level, dialog type
	Status    int
	Header    Header // of the request or the response
	MIMEType  string
	Bytes     int64 // encoded body bytes, for finished
	Text      string
	MainFrame bool // a main-document request or navigation
	FromCache bool
}
