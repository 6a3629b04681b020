package harness

import (
	"errors"

	"github.com/limpet-dev/limpet/drivers"
)

// A StartError reports that the run could not begin: nothing was done.
type StartError struct{ Err error }

// Error is the cause.
func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// ErrCredential reports that the run stopped because a credential was rejected or an account is exhausted. A
// person must act; jobs that had not ended are cancelled and run again when the run is resumed.
var ErrCredential = errors.New("a credential was rejected or an account is exhausted")

// ErrEngineLost reports that the run stopped because no browser can be started any more, or because results
// cannot be written. What had ended before is kept.
var ErrEngineLost = errors.New("engine lost")

// ErrInterrupted reports that the run was told to stop. What had ended before is kept.
var ErrInterrupted = errors.New("interrupted")

func asDriverError(err error) (*drivers.Error, bool) { return errors.AsType[*drivers.Error](err) }
