package jobfile

import (
	"encoding/json"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	_ "time/tzdata" // slim containers have no zone database, and a name must not be right or wrong by machine (FC10-14)

	"github.com/andybalholm/cascadia"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/limpet-dev/limpet/harness/strict"
)

// The readers of this file check a value once its variables are filled in. An absent value is zero and no fault.

func (l *loader) duration(n *strict.Node) time.Duration {
	if n == nil {
		return 0
	}
	d, ok := strict.ParseDuration(n.Text())
	switch {
	case !ok:
		l.faults.Addf(n, "", "%q is not a duration with its unit, such as 500ms, 90s, 10m or 1h", n.Text())
	case d == 0:
		l.faults.Addf(n, "leave it out for the default", "%s: a duration of nothing", n.Key())
	}
	return d
}

func (l *loader) size(n *strict.Node) int64 {
	if n == nil {
		return 0
	}
	bytes, ok := strict.ParseSize(n.Text())
	switch {
	case !ok:
		l.faults.Addf(n, "", "%q is not a size with its unit, such as 500kB, 5MB or 2MiB", n.Text())
	case bytes == 0:
		l.faults.Addf(n, "leave it out for no limit", "%s: a size of nothing", n.Key())
	}
	return bytes
}

func (l *loader) country(n *strict.Node) string {
	if n == nil {
		return ""
	}
	text := n.Text()
	region, err := language.ParseRegion(text)
	switch {
	case err != nil || len(text) != 2 || !region.IsCountry():
		l.faults.Addf(n, "", "%q is not a country of two capital letters, such as DE", text)
	case region.Canonicalize().String() != text: // also uk, whose code is GB
		l.faults.Addf(n, "write "+region.Canonicalize().String(), "%q is not a country of two capital letters", text)
	}
	return text
}

func (l *loader) currency(n *strict.Node) string {
	if n == nil {
		return ""
	}
	if unit, err := currency.ParseISO(n.Text()); err != nil || unit.String() != n.Text() {
		l.faults.Addf(n, "", "%q is not a currency of three capital letters, such as EUR", n.Text())
	}
	return n.Text()
}

// locale is a BCP 47 tag in its usual spelling: de-de becomes de-DE.
func (l *loader) locale(n *strict.Node) string {
	if n == nil {
		return ""
	}
	tag, err := language.Parse(n.Text())
	if err != nil {
		l.faults.Addf(n, "", "%q is not a language tag, such as de-DE", n.Text())
		return ""
	}
	return tag.String()
}

func (l *loader) timeZone(n *strict.Node) string {
	if n == nil {
		return ""
	}
	name := n.Text()
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		l.faults.Addf(n, "", "%q is not in the time zone database: write a name such as Europe/Berlin", name)
	}
	return name
}

func (l *loader) selector(n *strict.Node) string {
	if n == nil {
		return ""
	}
	text := n.Text()
	err, known := l.selectors[text]
	if !known {
		_, err = cascadia.ParseGroup(text)
		l.selectors[text] = err
	}
	switch {
	case err != nil:
		l.faults.Addf(n, "", "%q is not a CSS selector: %v", text, err)
	case strings.TrimSpace(text) == "":
		l.faults.Addf(n, "", "%s: the selector is empty", n.Key())
	}
	return text
}

func (l *loader) pattern(n *strict.Node) string {
	if n == nil {
		return ""
	}
	if _, err := regexp.Compile(n.Text()); err != nil {
		reason := err.Error()
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			reason = string(e.Code)
		}
		l.faults.Addf(n, "in YAML single quotes keep backslashes", "this is not a regular expression: %s", reason)
	}
	return n.Text()
}

// A schemaFile is the schema of a record as it was read.
type schemaFile struct {
	data json.RawMessage
	err  error
}

// recordSchema reads and compiles the schema that a node names, relative to its file.
func (l *loader) recordSchema(n *strict.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	path := beside(n.File(), n.Text())
	s, known := l.schemas[path]
	if !known {
		s = readSchema(path)
		l.schemas[path] = s
	}
	if s.err != nil {
		l.faults.Addf(n, "the path is relative to the job file", "%s: %v", path, s.err)
	}
	return s.data
}

func readSchema(path string) schemaFile {
	data, err := strict.ReadFile(path)
	if err != nil {
		return schemaFile{err: errors.New(strict.Reason(err))}
	}
	if !json.Valid(data) {
		return schemaFile{err: errors.New("this is not JSON")}
	}
	if _, err := strict.NewSchema("record", data); err != nil {
		return schemaFile{err: errors.New("this is not a JSON Schema that compiles: " + lastLine(err))}
	}
	return schemaFile{data: data}
}

// lastLine is the most particular line of an error that tells a tree of causes.
func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimLeft(lines[len(lines)-1], " -")
}
