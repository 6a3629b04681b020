package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/limpet-dev/limpet/classify"
)

// A Refusal is what Admit answers to turn an exit down for a reason of its own.
type Refusal struct { //nolint:errname // it names an event: callers make one to say no
	Class  classify.Class
	Detail string // without secrets: it becomes evidence
}

// Error is the class and the detail.
func (r *Refusal) Error() string { return string(r.Class) + ": " + r.Detail }

// A fault ends a connection. It is the package's only error that becomes evidence.
type fault struct {
	class  classify.Class
	detail string
	status int  // of the provider's answer; 0 if none
	retry  bool // waiting may help
}

// Error is the class and the detail.
func (f *fault) Error() string { return string(f.class) + ": " + f.detail }

var (
	errStopped = errors.New("stopped")
	errSpent   = errors.New("the byte budget is used up")
)

// refusalOf reads an error of Admit: a *Refusal says what it is, any other error means that the exit is not the
// one that the lease was granted for.
func refusalOf(err error) *fault {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return &fault{class: r.Class, detail: r.Detail}
	}
	return &fault{class: classify.ExitChanged, detail: err.Error()}
}

// dialFault says what a failed direct dial means. The text names the step, and no more than the browser asked for.
func dialFault(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return &fault{class: classify.DNS, detail: cause(err)}
	}
	if isTimeout(err) {
		return &fault{class: classify.Timeout, detail: "connect: " + cause(err)}
	}
	return &fault{class: classify.Connect, detail: cause(err)}
}

// cause is the innermost reason of a network error, without the addresses around it.
func cause(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.Err
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	switch {
	case isTimeout(err):
		return "timed out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "closed"
	}
	return err.Error()
}

func isTimeout(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	n, ok := errors.AsType[net.Error](err)
	return ok && n.Timeout()
}
