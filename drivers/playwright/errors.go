package playwright

import (
	"errors"
	"regexp"
	"strings"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// A fault is what the text of a library error says.
type fault struct {
	kind drivers.Kind // "" if the text says nothing known
	net  string       // "net::ERR_…" for Navigation
	why  string       // in few words, without anything the page or the caller wrote
}

var (
	netError = regexp.MustCompile(`net::ERR_[A-Z0-9_]+`)
	userInfo = regexp.MustCompile(`://[^/\s@]*@`)
	// blocked lists what the library's call log says of an element that it could not act upon. The rest of
	// the log quotes the page's HTML and the text typed into it, and so goes nowhere.
	blocked = regexp.MustCompile(`element is (?:not (?:visible|enabled|stable|editable)|outside of the viewport)|` +
		`intercepts pointer events|element was detached from the DOM|did not find some options`)
)

// read says what a library error means. Only its text tells most of them apart; the texts are those of
// playwright-core 1.64.1 with playwright-go v0.6401.0, and errors_test.go holds them.
func read(err error) fault {
	text := err.Error()
	head, log, _ := strings.Cut(text, "Call log:")
	switch {
	case contains(head, "Target crashed", "Page crashed"):
		return fault{kind: drivers.Crashed, why: "the renderer crashed"}
	case errors.Is(err, pw.ErrTargetClosed), contains(head, "has been closed", "Target closed", "Connection closed",
		"transport closed", "could not send message", "the library panicked", "has been collected"):
		return fault{kind: drivers.Closed, why: "the target is closed"}
	case contains(head, "Download is starting"):
		return fault{kind: drivers.Download, why: "the address answered with a file"}
	case netError.MatchString(head):
		return fault{kind: drivers.Navigation, net: netError.FindString(head)}
	case contains(head, "is interrupted by another navigation"):
		return fault{kind: drivers.Navigation, net: "net::ERR_ABORTED", why: "another navigation took its place"}
	case contains(head, "Cannot navigate to invalid URL"):
		return fault{kind: drivers.Navigation, net: "net::ERR_INVALID_URL"}
	case contains(head, "Execution context was destroyed", "Cannot find context with specified id", "Frame was detached"):
		return fault{kind: drivers.Script, why: errDocumentGone.Error()}
	case errors.Is(err, pw.ErrTimeout):
		return fault{kind: drivers.Timeout, why: last(blocked.FindAllString(log, -1))}
	}
	return fault{why: clean(head)}
}

// contains reports whether text has one of the parts.
func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// last gives the last of texts, or none.
func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// maxWhy caps the text of an error that is not known, in bytes.
const maxWhy = 300

// clean is the first line of an unknown text without the library's prefixes and without credentials.
func clean(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimPrefix(line, "playwright: ")
	line = stripUser(line)
	return strings.ToValidUTF8(line[:min(len(line), maxWhy)], "")
}

// stripUser takes user names and passwords out of the addresses in text.
func stripUser(text string) string { return userInfo.ReplaceAllString(text, "://") }

// cause makes why an error; nil if it says nothing.
func (f fault) cause() error {
	switch f.why {
	case "":
		return nil
	case errDocumentGone.Error():
		return errDocumentGone
	}
	return errors.New(f.why)
}
