package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// escapes are the control sequences of terminals: CSI, OSC up to its end, and the short ones.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]")

// visible makes remote text safe to print: without control sequences, and with every control character, line
// break and mark of writing direction as a space. A page must not be able to draw on the operator's terminal.
func visible(s string) string {
	clean := strings.IndexFunc(s, hidden) < 0
	if clean {
		return s
	}
	s = escapes.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return ' '
		}
		return r
	}, s)
}

// hidden reports whether r does something other than to show a letter. Cf holds the marks of direction and the
// zero-width ones.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// columns is how many columns s takes on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// fit makes s safe to print and cuts it to n columns, the last of which says that something is missing.
func fit(s string, n int) string {
	s = visible(s)
	if columns(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used+runeColumns(r) > n-1 {
			return s[:i] + "…"
		}
		used += runeColumns(r)
	}
	return s
}

// count is a number with its noun: "1 job", "2 jobs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// grouped is n with a thin space of no doubt: 11 872.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// size is a number of bytes for people, in units of 1000 as traffic is sold.
func size(bytes float64) string {
	for _, u := range []struct {
		name  string
		bytes float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if bytes >= u.bytes {
			return fmt.Sprintf("%.1f %s", bytes/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%.0f B", bytes)
}

// span is a number of milliseconds for people.
func span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// words is a stable identifier as people read it: rate_limited becomes "rate limited".
func words(id string) string { return strings.ReplaceAll(id, "_", " ") }

// verdictText is the verdict's class and vendor in words.
func verdictText(r Result) string {
	if r.Verdict == nil {
		return "no verdict"
	}
	s := words(string(r.Verdict.Class))
	if r.Verdict.Vendor != nil && *r.Verdict.Vendor != "" {
		s += " · " + *r.Verdict.Vendor
	}
	return s
}

// because is why a job ended as it did: the decision's reason, else the error.
func because(r Result) string {
	if r.Reason != "" {
		return r.Reason
	}
	return string(r.Error)
}
