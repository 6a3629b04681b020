package classify

import (
	"encoding/json"
	"time"
)

// Evidence is what one attempt left. A nil part was not observed, which is not the same as absent.
type Evidence struct {
	// Transport is what the gateway and the driver saw of the way to the origin.
	Transport Transport
	// HTTP is the main document's exchange; nil if no answer arrived.
	HTTP *Exchange
	// Page is the settled DOM; nil if there was none.
	Page *Page
	// Step is the job's own step that failed; nil if all succeeded.
	Step *StepFailure
	// Extracted are records that extract steps took on the way; they count with those of the final page.
	Extracted []Record
	// Expect is what the job calls useful. Nil means that nothing was asked: never more than unknown.
	Expect *Expectation
	// ObservedCountry is where the exit was seen to be, ISO 3166 alpha-2; empty if unknown.
	ObservedCountry string
	// Now is the time of the judgement, for dates in Retry-After.
	Now time.Time
}

// Transport is what happened below HTTP.
type Transport struct {
	// Fault is the gateway's class for the connection that failed, one of the navigation classes; empty if
	// the gateway saw no fault.
	Fault Class
	// FaultDetail says what the gateway saw, without secrets.
	FaultDetail string
	// Driver is the driver's kind of error (drivers.Kind as text); empty if the visit did not fail.
	Driver string
	// NetError is the browser's own text, "net::ERR_…"; empty if none.
	NetError string
	// Committed means that a document had arrived before the visit failed.
	Committed bool
	// LocalReply means that the answer in HTTP was made by our own gateway.
	LocalReply bool
}

// Exchange is the answer to the main document's request.
type Exchange struct {
	Status    int
	Header    map[string]string // names in lower case; set-cookie fields joined by "\n"
	MIMEType  string
	URL       string // of the final document
	Requested string // as the job asked for it
	Redirects []string
}

// Page is the settled DOM.
type Page struct {
	URL         string
	Title       string
	HTML        string
	ContentType string
	// VisibleText is what the browser shows; empty with HasVisible false means that it is to be estimated from
	// the HTML, as for a saved page.
	VisibleText string
	HasVisible  bool
	Frames      []Frame
	Truncated   bool
	// BrowserError means that this is the browser's own error document.
	BrowserError bool
}

// Frame is a frame element of the page.
type Frame struct {
	URL           string
	Width, Height int
	Visible       bool
}

// StepFailure is a job's own step that did not succeed.
type StepFailure struct {
	Index    int    // from 0
	Name     string // "click"
	Selector string
	Message  string
}

// A Record is one extracted thing: field name to value (string, json.Number, bool, nil).
type Record map[string]any

// Expectation is what a job calls useful output. The zero value expects nothing and so never says useful.
type Expectation struct {
	Marker  string          // CSS selector without which a page is not useful
	Records *RecordsSpec    // nil: the marker is enough
	Geo     GeoExpectation  // checked before the records
	Empty   *EmptySpec      // when an empty result is expected and fine
	Schema  json.RawMessage // JSON Schema of one record; nil: none
}

// RecordsSpec says how to read records from a page.
type RecordsSpec struct {
	Each   string               // selector of one record's element
	Fields map[string]FieldSpec // by name
	Min    int                  // fewer is a failure; 0 means 1
}

// FieldSpec says how to read one field inside a record's element.
type FieldSpec struct {
	CSS      string // relative to the record; empty means the record's element itself
	Attr     string // attribute to read; empty means the text
	Type     string // text (default), number, decimal, integer, boolean, url, price, date
	Count    bool   // the number of matches instead of a value
	Optional bool   // may be missing
	Pattern  string // RE2; first group, or the whole match
}

// GeoExpectation is what a page of the right market shows. Empty fields are not checked.
type GeoExpectation struct {
	Currency string // ISO 4217
	Country  string // ISO 3166 alpha-2, against the observed exit
	Language string // BCP 47 prefix, against <html lang>
	Selector string // must match
}

// EmptySpec says how a page shows that there is honestly nothing.
type EmptySpec struct {
	Selector string // must match
}
