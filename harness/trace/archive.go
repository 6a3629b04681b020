package trace

import (
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// Meta says what an archive is about. Its strings are redacted like everything else.
type Meta struct {
	Title          string // shown by the viewer; empty means "JOB, attempt N"
	Job            string
	Attempt        int // from 1
	Identity       string
	Origin         string
	Driver         string
	BrowserVersion string
	Viewport       drivers.Size // zero means 1280 x 720
	Started        time.Time    // of the attempt; zero means when the recorder was reset
	// Verdict and Gateway are kept as JSON in limpet/verdict.json and limpet/gateway.json; nil leaves them out.
	Verdict any
	Gateway any
	// Outcome is one line for the last action of the viewer, such as "captcha (cloudflare): review"; empty
	// leaves the action out. Failed marks it as an error.
	Outcome string
	Failed  bool
}

// Write writes what rec holds to an archive at path, which appears whole or not at all. Its folder is made if
// it is missing. The recorder is left as it is.
func Write(path string, m Meta, rec *Recorder, red *Redactor) error {
	return write(path, m, rec.snapshot(), red)
}
