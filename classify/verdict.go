package classify

import "time"

// Stage is where an attempt failed first.
type Stage string

// The stages, in the order in which they are judged.
const (
	StageOK         Stage = "ok"
	StageNavigation Stage = "navigation"
	StageHTTP       Stage = "http"
	StageChallenge  Stage = "challenge"
	StageOutput     Stage = "output"
)

// Class is a stable name for what happened: it appears in results, events, metrics and rules.
type Class string

// The classes. Which stage each belongs to and whom it blames is in the table of classes.go.
const (
	Useful      Class = "useful"
	UsefulEmpty Class = "useful_empty"
	Unknown     Class = "unknown"

	GatewayUnreachable Class = "gateway_unreachable"
	CredentialRejected Class = "credential_rejected" //nolint:gosec // a class name
	ProviderLimit      Class = "provider_limit"
	ProviderPolicy     Class = "provider_policy"
	NoExit             Class = "no_exit"
	ExitLost           Class = "exit_lost"
	ExitChanged        Class = "exit_changed"
	TunnelFailed       Class = "tunnel_failed"
	DNS                Class = "dns"
	Connect            Class = "connect"
	TLS                Class = "tls"
	Reset              Class = "reset"
	RedirectLoop       Class = "redirect_loop"
	Timeout            Class = "timeout"
	BrowserCrashed     Class = "browser_crashed"
	LaunchFailed       Class = "launch_failed"
	Unresponsive       Class = "unresponsive"
	DriverLost         Class = "driver_lost"
	Download           Class = "download"
	UnsupportedContent Class = "unsupported_content"
	PolicyDenied       Class = "policy_denied"
	BudgetExhausted    Class = "budget_exhausted"
	Cancelled          Class = "cancelled"

	RateLimited  Class = "rate_limited"
	Unauthorized Class = "unauthorized"
	Gone         Class = "gone"
	BadRequest   Class = "bad_request"
	Forbidden    Class = "forbidden"
	ServerError  Class = "server_error"

	Interstitial Class = "interstitial"
	Captcha      Class = "captcha"
	BlockPage    Class = "block_page"

	WrongGeo     Class = "wrong_geo"
	LoginWall    Class = "login_wall"
	SessionEnded Class = "session_ended"
	ConsentWall  Class = "consent_wall"
	Paywall      Class = "paywall"
	Maintenance  Class = "maintenance"
	Soft404      Class = "soft_404"
	Unhydrated   Class = "unhydrated"
	Truncated    Class = "truncated"
	Missing      Class = "missing"
	Invalid      Class = "invalid"
	Empty        Class = "empty"
	ScriptError  Class = "script_error"
)

// Blamed names the party whose health a verdict moves.
type Blamed string

// The parties.
const (
	BlameNobody     Blamed = "nobody"
	BlameEndpoint   Blamed = "endpoint"
	BlameCredential Blamed = "credential"
	BlameAccount    Blamed = "account"
	BlamePolicy     Blamed = "policy"
	BlameSegment    Blamed = "segment"
	BlameExit       Blamed = "exit"
	BlameExitOrigin Blamed = "exit_origin"
	BlameOrigin     Blamed = "origin"
	BlamePace       Blamed = "pace"
	BlameSession    Blamed = "session"
	BlameWorker     Blamed = "worker"
	BlameJob        Blamed = "job"
)

// A Verdict is what the classifier says of evidence.
type Verdict struct {
	Stage      Stage    `json:"stage"`
	Class      Class    `json:"class"`
	Vendor     *string  `json:"vendor"`
	Blamed     Blamed   `json:"blamed"`
	Confidence float64  `json:"confidence"` // 0 to 1
	Signals    []Signal `json:"signals"`    // never nil: what decided, strongest first
	Status     int      `json:"status"`     // of the main document; 0 if none
	FinalURL   string   `json:"final_url"`
	// RetryAfter is how long the origin asked to wait; 0 if it did not say. Unparsable values are 0 and leave
	// a signal with the raw text.
	RetryAfter time.Duration `json:"-"`
}

// A Signal is one observation that spoke for the verdict.
type Signal struct {
	Rule   string  `json:"rule"`   // stable id, such as "cloudflare.chl_opt"
	Weight float64 `json:"weight"` // 0 to 1; 1 decides alone
	Where  string  `json:"where"`  // "header cf-mitigated", "title", "script src", …
}

// OK reports whether the attempt was useful.
func (v Verdict) OK() bool { return v.Stage == StageOK }

// A Judgement is a verdict with the records that earned it.
type Judgement struct {
	Verdict Verdict
	Records []Record // accepted records; empty unless the verdict is useful
}
