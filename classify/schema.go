package classify

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaFault says in one line what a schema found wrong first: where in the record, and what. Values of the
// page do not appear beyond what the library quotes, and that is cut.
func schemaFault(err error) string {
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return clip(err.Error(), 2*maxRawSignal)
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	lines := strings.Split(v.Error(), "\n")
	return clip("/"+strings.Join(v.InstanceLocation, "/")+": "+strings.TrimSpace(lines[len(lines)-1]), 2*maxRawSignal)
}
