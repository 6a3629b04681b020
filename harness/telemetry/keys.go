package telemetry

// The keys of log attributes, one word for one thing as in the vocabulary of the design. Cookies, credentials
// and page bodies have no key: they are in no log line.
const (
	KeyJob        = "job_id"
	KeyIdentity   = "identity_id"
	KeyOrigin     = "origin"
	KeyAttempt    = "attempt"
	KeyLease      = "lease_id"
	KeyExit       = "exit"
	KeyProvider   = "provider"
	KeySegment    = "segment"
	KeyVerdict    = "verdict_class"
	KeyStage      = "verdict_stage"
	KeyBlamed     = "blamed"
	KeyDecision   = "decision"
	KeyReason     = "reason"
	KeyState      = "state"
	KeyDriver     = "driver"
	KeyVersion    = "version"
	KeyPID        = "pid"
	KeyURL        = "url" // redacted
	KeyStatus     = "status"
	KeyRecords    = "records"
	KeyBytesUp    = "bytes_up"
	KeyBytesDown  = "bytes_down"
	KeyDuration   = "duration"
	KeyNotBefore  = "not_before"
	KeyConnection = "connection"
	KeyTarget     = "target" // host:port
	KeyFault      = "fault"
	KeyPath       = "path"
	KeyError      = "error"
	KeyCount      = "count"
)
