package gateway

import (
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/provider"
)

// A Grant opens one loopback port for one lease.
type Grant struct {
	Lease string // id, for logs and evidence
	Route provider.Route
	// Admit is asked once the exit's address is known and before the origin sees a byte. An error refuses the
	// connection; its text is the evidence. Nil admits all. It may be called from many goroutines.
	Admit func(Observation) error
}

// An Observation is what a CONNECT answer says of the exit.
type Observation struct {
	Addr    string // empty if the provider does not say
	Country string // ISO 3166 alpha-2; empty if unknown
}

// Usage is what a port has carried, as exact payload bytes on the upstream side, CONNECT overhead included.
type Usage struct{ Up, Down int64 }

// A Connection is the evidence of one connection through a port.
type Connection struct {
	Target  string // host:port as the browser asked
	Tunnel  bool   // CONNECT; else plain http
	Started time.Time
	// Stages are the moments reached, in order: accept, parse, gate, dial, connect_sent, connect_answer, first_up,
	// first_down, close.
	Stages []StageAt
	// Fault is the navigation class of what went wrong; empty if nothing did, or if the browser left first.
	Fault  classify.Class
	Detail string // without secrets
	Retry  bool   // of a provider's refusal: waiting may help
	Status int    // of the provider's answer; 0 if none
	Exit   Observation
	Up     int64
	Down   int64
}

// StageAt is a stage and when it was reached.
type StageAt struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}
