package provider

import (
	"log/slog"
	"time"

	"github.com/limpet-dev/limpet/classify"
)

// A Secret is a credential. It prints, logs and marshals as "[redacted]"; only Reveal gives its bytes.
type Secret struct{ value string }

// NewSecret keeps v.
func NewSecret(v string) Secret { return Secret{value: v} }

// Reveal gives the credential itself. Only the gateway's dialler and the redactor may call it.
func (s Secret) Reveal() string { return s.value }

// Empty reports whether there is no credential.
func (s Secret) Empty() bool { return s.value == "" }

// String is "[redacted]".
func (Secret) String() string { return redacted }

// GoString is "[redacted]".
func (Secret) GoString() string { return redacted }

// LogValue is "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText is "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

const redacted = "[redacted]"

// Kind is how bytes reach the exit.
type Kind string

// The kinds of route.
const (
	Direct  Kind = "direct"  // from this machine
	Connect Kind = "connect" // through an HTTP proxy: CONNECT, or absolute-form for plain http
)

// An Ask is what a route must express.
type Ask struct {
	Country, Region, City, ASN string
	Session                    string        // fresh random id of the lease's epoch; empty rotates per connection
	TTL                        time.Duration // how long the session is wanted; zero means the provider's default
	Endpoint                   string        // one of the provider's own; empty means its first
}

// A Route is a rendered way out: what the gateway dials, and with which credential. It is a secret as a whole:
// the rendered username carries the session.
type Route struct {
	Source   string
	Kind     Kind
	Endpoint string // host:port of the provider's gateway; empty for Direct
	Username Secret
	Password Secret
	// ExitAddrHeader and ExitCountryHeader name fields of the CONNECT answer that show the exit; empty if none.
	ExitAddrHeader, ExitCountryHeader string
	// Errors reads the provider's refusals. Nil means the rules by status alone.
	Errors *ErrorCatalogue
}

// A Reply is a provider's answer to CONNECT, or its own answer to a plain request.
type Reply struct {
	Status int
	Reason string            // reason phrase
	Header map[string]string // names in lower case
}

// A Fault is what a refusal means.
type Fault struct {
	Class  classify.Class
	Detail string // vendor code or status, without secrets
	// Vendor is true when a vendor mark decided, false when only the status did.
	Vendor bool
	// Retry is true when waiting may help (threads used up).
	Retry bool
}
