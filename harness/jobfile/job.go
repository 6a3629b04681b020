package jobfile

import (
	"fmt"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/identity"
)

// A Position is a place in a job file.
type Position struct {
	File         string
	Line, Column int // from 1
}

// String is "file:line:column".
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// A Job is one unit of work for one identity, with every variable filled in and every default applied.
type Job struct {
	ID         string
	Pos        Position
	Identity   identity.ID
	Persona    identity.Persona
	Origin     string // registrable domain or host of the first goto: the site that limits and burns are kept for
	Intent     scheduler.Intent
	Limits     scheduler.Limits
	Trace      Trace
	Scope      Scope
	Steps      []Step
	Expect     classify.Expectation
	Continuity bool   // never rotate inside this job
	Robots     string // "obey" (default) or "ignore"
	// Secrets are the values of secret fills, which must be redacted wherever they would appear.
	Secrets []string
}

// Trace says which attempts keep their trace.
type Trace struct {
	Failed bool    // default true
	Sample float64 // share of useful attempts, 0 to 1; default 0
	Level  string  // "light" (default) or "full"
}

// Scope is where jobs may go and who answers for them.
type Scope struct {
	Origins []string // host names; a name covers its sub-domains. Default: hosts of the jobs' first steps
	Owner   string
	Basis   string
	Expires time.Time // the authorization's end; zero means none
}

// A Step is one thing to do on a page. Exactly one of the verbs is set, as Verb says.
type Step struct {
	Verb Verb
	Pos  Position

	URL      string                // goto; wait: pattern
	Selector string                // click, fill, select, press, wait, scroll; paginate: next
	Value    string                // fill
	Secret   bool                  // Value came from a secret reference and is never shown
	Values   []string              // select
	Key      string                // press
	DX, DY   int                   // scroll
	For      time.Duration         // wait: time
	Idle     bool                  // wait: until the DOM holds still
	Script   string                // evaluate
	Records  *classify.RecordsSpec // extract; nil means the job's own expectation
	Max      int                   // paginate: pages at most
	Name     string                // boundary, screenshot
	Full     bool                  // screenshot: whole page
	Effect   bool                  // begins a side effect: never retried by itself
	Timeout  time.Duration         // of this step; zero means the runner's default
}

// Verb names what a Step does.
type Verb string

// The verbs of this version.
const (
	Goto       Verb = "goto"
	Click      Verb = "click"
	Fill       Verb = "fill"
	Select     Verb = "select"
	Press      Verb = "press"
	Wait       Verb = "wait"
	Scroll     Verb = "scroll"
	Extract    Verb = "extract"
	Paginate   Verb = "paginate"
	Screenshot Verb = "screenshot"
	Evaluate   Verb = "evaluate"
	Boundary   Verb = "boundary"
)
