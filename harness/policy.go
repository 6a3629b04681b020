package harness

import (
	"fmt"
	"net/url"
	"time"

	"github.com/limpet-dev/limpet/harness/jobfile"
)

// denied says why policy forbids a job before any traffic; empty if it does not.
func (r *Runner) denied(j *jobfile.Job) string {
	if exp := j.Scope.Expires; !exp.IsZero() && time.Now().After(exp) {
		return fmt.Sprintf("the authorization of %s ended on %s", j.Scope.Owner, exp.UTC().Format(time.DateOnly))
	}
	for _, st := range j.Steps {
		if st.Verb != jobfile.Goto {
			continue
		}
		u, err := url.Parse(st.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Sprintf("%s: %q is no http or https address", st.Pos, st.URL)
		}
		if !allowed(j.Scope.Origins, u.Hostname()) {
			return fmt.Sprintf("%s: %s is outside the scope %v", st.Pos, u.Hostname(), j.Scope.Origins)
		}
	}
	return ""
}
