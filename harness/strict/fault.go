package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Fault is one thing that is wrong in a document, for a person to read.
type Fault struct { //nolint:errname // the word of the documents and of the code that finds them
	File string
	// Line and Column count characters from 1. Line 0 means the file as a whole.
	Line, Column int
	// Message is a sentence without a full stop. It holds no secret.
	Message string
	// Hint says what to do; empty if there is nothing to add.
	Hint string

	snippet string // the source line, secrets masked; empty if it cannot be shown
	caret   int    // characters before the caret in snippet
	width   int    // length of the caret run
}

// Error is the fault on one line: place, message and hint.
func (f *Fault) Error() string {
	if f.Hint == "" {
		return f.headline()
	}
	return f.headline() + " (" + f.Hint + ")"
}

// Render is the fault over several lines, with the source line and a caret under the place. It ends in a new line.
func (f *Fault) Render() string {
	var b strings.Builder
	b.WriteString(f.headline() + "\n")
	number := fmt.Sprint(f.Line)
	gutter := strings.Repeat(" ", len(number)+2) + "|"
	if f.snippet != "" {
		fmt.Fprintf(&b, "%s\n %s | %s\n%s %s%s\n", gutter, number, f.snippet, gutter,
			strings.Repeat(" ", f.caret), strings.Repeat("^", f.width))
	}
	if f.Hint != "" {
		fmt.Fprintf(&b, "%s= help: %s\n", strings.Repeat(" ", len(number)+2), f.Hint)
	}
	return b.String()
}

func (f *Fault) headline() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: error: %s", f.File, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: error: %s", f.File, f.Line, f.Column, f.Message)
}

// Errors are the faults of one or more documents, in the order of their places.
type Errors []*Fault

// Error is each fault on its line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults, for errors.As.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, f := range e {
		errs[i] = f
	}
	return errs
}

// Render is every fault with its source line, an empty line between two, and their number at the end. No more than
// maxShown faults are spelled out.
func (e Errors) Render() string {
	var b strings.Builder
	for _, f := range e[:min(len(e), maxShown)] {
		b.WriteString(f.Render() + "\n")
	}
	if more := len(e) - maxShown; more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	noun := "errors"
	if len(e) == 1 {
		noun = "error"
	}
	fmt.Fprintf(&b, "%d %s\n", len(e), noun)
	return b.String()
}

// maxShown keeps the first fault on the screen: a wrong template repeats for every row of a foreach.
const maxShown = 50

// Faults collects what is wrong with documents. The zero value is ready to use. It is not safe for concurrent use.
type Faults struct{ list Errors }

// Addf reports a fault at a node. It is dropped if the node, or anything in it, already has one: the second would
// follow from the first.
func (f *Faults) Addf(n *Node, hint, format string, args ...any) {
	if n.Faulty() {
		return
	}
	n.noted = true
	f.list = append(f.list, n.fault(n.Line, n.Column, n.width, hint, fmt.Sprintf(format, args...)))
}

// AddKeyf is Addf with the caret under the key of the node instead of its value. A node without a key is as with Addf.
func (f *Faults) AddKeyf(n *Node, hint, format string, args ...any) {
	if n.key == nil {
		f.Addf(n, hint, format, args...)
		return
	}
	if n.Faulty() {
		return
	}
	n.noted = true
	f.list = append(f.list, n.fault(n.key.Line, n.key.Column, n.key.width, hint, fmt.Sprintf(format, args...)))
}

// AddInf is Addf with the caret under a part of the node's text, if that part can be found in the source.
func (f *Faults) AddInf(n *Node, part, hint, format string, args ...any) {
	if n.Faulty() {
		return
	}
	n.noted = true
	column, width := n.find(part)
	f.list = append(f.list, n.fault(n.Line, column, width, hint, fmt.Sprintf(format, args...)))
}

// Add takes over the faults of err. An error of another kind becomes a fault of the file as a whole.
func (f *Faults) Add(file string, err error) {
	switch e := err.(type) { //nolint:errorlint // what is wrapped is another package's and has no place in the file
	case nil:
	case Errors:
		f.list = append(f.list, e...)
	case *Fault:
		f.list = append(f.list, e)
	default:
		f.list = append(f.list, &Fault{File: file, Message: err.Error()})
	}
}

// Err is nil without faults, else Errors sorted by place. Of several faults at one place the first reported stays.
func (f *Faults) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	list := slices.Clone(f.list)
	slices.SortStableFunc(list, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(list, func(a, b *Fault) bool {
		return a.Line > 0 && a.File == b.File && a.Line == b.Line && a.Column == b.Column
	})
}
