package scheduler

import "time"

// Mode says how long an identity rides one exit.
type Mode string

// The session modes.
const (
	// Rotate takes a new session for each job.
	Rotate Mode = "rotate"
	// Windowed keeps one session for Intent.Window, across jobs.
	Windowed Mode = "windowed"
	// Static keeps one exit for as long as it lives; when it is lost or burned no other is taken by itself.
	Static Mode = "static"
)

// Intent is the route a job asks for. A demand that no source can express is refused, never weakened.
type Intent struct {
	Country  string // ISO 3166 alpha-2 in upper case; empty means any
	Region   string
	City     string
	ASN      string
	Protocol string        // "http" (default), "socks5", "direct"
	Mode     Mode          // empty means Windowed
	Window   time.Duration // for Windowed; zero means the source's own limit, or 10 min
	Class    string        // target class; empty means "default"
	Exit     string        // name of one configured exit; empty means any
}

// A Source is where exits come from: one provider's gateway, or one fixed exit.
type Source struct {
	Name      string   // provider or exit name: stable, appears in events
	Provider  string   // account it belongs to; empty means Name
	Protocol  string   // "http", "socks5", "direct"
	Endpoints []string // host:port of the gateway, tried in turn; one for a fixed exit
	Fixed     bool     // one exit, always the same: no sessions to mint
	Countries []string // what may be asked for; empty means any for a provider, unknown for a fixed exit
	Region    bool     // a region can be expressed
	City      bool     // a city can be expressed
	ASN       bool     // an ASN can be expressed
	MaxTTL    time.Duration
	IdleLimit time.Duration // the session dies after this long without traffic; zero means never
}

// An ExitRef identifies where a lease leaves: by observed address once known, else by its session epoch. It is
// never identified by a token's name, because tokens outlive exits.
type ExitRef struct {
	Source   string
	Provider string
	Endpoint string
	Session  string // random session id, fresh for each epoch; empty for a fixed exit
	Addr     string // observed address; empty until seen
}

// Key is the name under which health is kept: the address if known, else source and session.
func (e ExitRef) Key() string {
	switch {
	case e.Addr != "":
		return e.Addr
	case e.Session != "":
		return e.Source + "/" + e.Session
	default:
		return e.Source
	}
}

// Segment is the unit of supply.
type Segment struct{ Provider, Country, Class, Protocol string }

// String is "provider/country/class/protocol", with * for any.
func (s Segment) String() string {
	or := func(v string) string {
		if v == "" {
			return "*"
		}
		return v
	}
	return or(s.Provider) + "/" + or(s.Country) + "/" + or(s.Class) + "/" + or(s.Protocol)
}

// Limits is what a job may spend. Zero means the default of DefaultLimits.
type Limits struct {
	Attempts     int
	RouteChanges int           // -1 means none
	Elapsed      time.Duration // from the first lease to the last report, waits included
	Bytes        int64         // both directions, as the gateway counts them
}

// A Request asks for a lease.
type Request struct {
	Job      string
	Identity string
	Origin   string
	Intent   Intent
	Limits   Limits
	// Sticky forbids a change of exit inside the job (continuity).
	Sticky bool
}

// A Lease is the grant of one exit to one identity for an origin until Expires.
type Lease struct {
	ID       string
	Token    uint64 // fencing: grows with every lease of the identity
	Epoch    uint64 // grows when the identity's exit changes; a session belongs to one epoch
	Identity string
	Origin   string
	Job      string
	Attempt  int // 1 for the job's first
	Intent   Intent
	Exit     ExitRef
	Segment  Segment
	Granted  time.Time
	Expires  time.Time
	// BytesLeft is what the job may still carry; negative means no limit.
	BytesLeft int64
	// Deadline is when the job's elapsed budget ends.
	Deadline time.Time
}

// Domain is the party that an outcome concerns.
type Domain string

// The failure domains.
const (
	DomainNone       Domain = ""
	DomainExitOrigin Domain = "exit_origin"
	DomainExit       Domain = "exit"
	DomainEndpoint   Domain = "endpoint"
	DomainSegment    Domain = "segment"
	DomainAccount    Domain = "account"
	DomainCredential Domain = "credential"
	DomainOrigin     Domain = "origin"
	DomainWorker     Domain = "worker"
	DomainPace       Domain = "pace"
	DomainPolicy     Domain = "policy"
	DomainSession    Domain = "session"
	DomainJob        Domain = "job"
)

// An Outcome is a verdict reduced to what the scheduler decides on.
type Outcome struct {
	OK     bool
	Domain Domain
	Class  string // the verdict's class, for the reason and for rules that depend on it
	Rule   Rule   // which default decision of design.md, section 5 applies
	// RetryAfter is how long the origin asked to wait; zero if it did not say.
	RetryAfter time.Duration
	BytesUp    int64
	BytesDown  int64
	// ExitAddr is the exit's observed address; empty if it was not seen.
	ExitAddr string
	// Effect means that the job's side effect had begun: it is never retried by itself.
	Effect bool
}

// Rule is a default decision of the table in design.md, section 5.
type Rule string

// The rules.
const (
	RuleDone        Rule = "done"          // useful
	RuleStopAll     Rule = "stop_all"      // credential rejected, account exhausted: a person must act
	RuleTerminal    Rule = "terminal"      // the job fails; nothing is tried again
	RuleDenied      Rule = "denied"        // policy; never another provider
	RuleReview      Rule = "review"        // a person decides
	RuleWaitSame    Rule = "wait_same"     // wait as told on the same session
	RuleBackOff     Rule = "back_off"      // try again later on the same session
	RuleBackOffOnce Rule = "back_off_once" // once, then review
	RuleNewSession  Rule = "new_session"   // the session is broken: from the start on a new one
	RuleRetireOnce  Rule = "retire_once"   // one new session, then review
	RuleRefused     Rule = "refused"       // the ladder of refusals
	RuleNewBrowser  Rule = "new_browser"   // the worker's fault: a new browser, the same exit
	RuleCancelled   Rule = "cancelled"     // nobody's fault
)

// Action is what to do with the job now.
type Action string

// The actions.
const (
	Done         Action = "done"
	Wait         Action = "wait"          // same session, not before NotBefore
	RetrySame    Action = "retry_same"    // same session
	RetryNew     Action = "retry_new"     // whole job again from its start on a new session
	RetryBrowser Action = "retry_browser" // same exit, new browser
	Stop         Action = "stop"          // the job ends failed
	Deny         Action = "deny"          // the job ends denied
	Review       Action = "review"        // the job waits for a person
	StopRun      Action = "stop_run"      // everything that uses this credential or account stops
	Cancel       Action = "cancel"        // the job ends cancelled
)

// A Decision is the scheduler's answer to a report.
type Decision struct {
	Action    Action    `json:"action"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Reason    string    `json:"reason"`              // one sentence: which rule, and which budget if one ended it
	Diagnosis string    `json:"diagnosis,omitempty"` // "pattern" or empty
}
