package harness

import (
	"slices"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/gateway"
)

// An account is what a job has used so far, for its result.
type account struct {
	attempts     int
	routeChanges int
	up, down     int64
	exits        []string // distinct, in the order used
	started      time.Time
	trace        string // path of the last trace; empty if none
	verdict      *classify.Verdict
	effect       bool
}

// charge adds what one attempt used.
func (a *account) charge(u gateway.Usage, exit string) {
	a.up += u.Up
	a.down += u.Down
	if exit != "" && !slices.Contains(a.exits, exit) {
		a.exits = append(a.exits, exit)
	}
}
