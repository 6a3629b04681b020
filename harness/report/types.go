package report

import (
	"encoding/json"
	"time"

	"github.com/limpet-dev/limpet/classify"
)

// The JSON of the types in this file is an interface: other people's scripts read it. Members are added, never
// renamed.

// State is how a job ended.
type State string

// The terminal states. Every job ends in exactly one.
const (
	Useful    State = "useful"
	Failed    State = "failed"
	Denied    State = "denied"
	Review    State = "review"
	Cancelled State = "cancelled" // runs again when the run is resumed
)

// States gives every state, in the order in which they are shown.
func States() []State { return []State{Useful, Review, Failed, Denied, Cancelled} }

// Final reports whether a job in this state is done for good, so that resuming the run leaves it alone.
func (s State) Final() bool {
	return s == Useful || s == Failed || s == Denied || s == Review
}

// A Nullable is a text that is null in JSON when empty.
type Nullable string

// MarshalJSON writes null for the empty text.
func (n Nullable) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

// A Record is one line of records.jsonl: a record that a job accepted.
type Record struct {
	Job      string          `json:"job"`
	Identity string          `json:"identity"`
	Origin   string          `json:"origin"`
	URL      string          `json:"url"`
	Record   classify.Record `json:"record"`
	Attempt  int             `json:"attempt"` // from 1
	At       time.Time       `json:"at"`
}

// A Result is one line of results.jsonl: how a job ended.
type Result struct {
	Job          string            `json:"job"`
	Identity     string            `json:"identity"`
	Origin       string            `json:"origin"`
	State        State             `json:"state"`
	Verdict      *classify.Verdict `json:"verdict"`  // of the last attempt; null if there was none
	Decision     string            `json:"decision"` // the last one's action
	Attempts     int               `json:"attempts"`
	RouteChanges int               `json:"route_changes"`
	Records      int               `json:"records"`
	BytesUp      int64             `json:"bytes_up"`
	BytesDown    int64             `json:"bytes_down"`
	ElapsedMS    int64             `json:"elapsed_ms"` // from the job's first lease to its end, waits included
	Exits        []string          `json:"exits"`      // distinct, in the order used; never null
	Trace        Nullable          `json:"trace"`      // relative to the output folder
	Error        Nullable          `json:"error"`      // what went wrong, in words

	Reason    string    `json:"reason"`              // why the decision was taken
	Diagnosis Nullable  `json:"diagnosis"`           // "pattern" or null
	Page      Nullable  `json:"page"`                // the page's title, for people
	EndedAt   time.Time `json:"ended_at"`            // when the job ended
	Started   time.Time `json:"started_at,omitzero"` // when its first lease was asked for
}

// EventKind names an Event.
type EventKind string

// The kinds of event.
const (
	EventLease        EventKind = "lease"
	EventAttempt      EventKind = "attempt" // an attempt is over
	EventReport       EventKind = "report"  // the scheduler has decided
	EventRenew        EventKind = "renew"
	EventRelease      EventKind = "release"
	EventSessionStart EventKind = "session_start"
	EventSessionEnd   EventKind = "session_end"
	EventReview       EventKind = "review" // the job waits for a person
)

// An Event is one line of events.jsonl. Members that a kind has nothing to say about are zero, empty or null.
type Event struct {
	Event            EventKind         `json:"event"`
	At               time.Time         `json:"at"`
	Job              string            `json:"job"`
	Attempt          int               `json:"attempt"` // from 1
	Identity         string            `json:"identity"`
	Origin           string            `json:"origin"`
	Lease            string            `json:"lease"`
	Exit             string            `json:"exit"`
	Provider         string            `json:"provider"`
	Segment          string            `json:"segment"`
	Outcome          string            `json:"outcome"` // failure domain; "ok" if it was useful
	Verdict          *classify.Verdict `json:"verdict"`
	Decision         string            `json:"decision"`
	RequestedCountry string            `json:"requested_country"`
	ObservedCountry  string            `json:"observed_country"`
	Status           int               `json:"status"`
	BytesUp          int64             `json:"bytes_up"`
	BytesDown        int64             `json:"bytes_down"`
	DurationMS       int64             `json:"duration_ms"`

	Reason string `json:"reason,omitempty"` // in words
}
