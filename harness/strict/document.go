package strict

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	// MaxBytes is the size of the largest document that is read. A job file of 100 000 hand-written lines has 4 MB.
	MaxBytes = 8 << 20
	// MaxNodes bounds the values of a document after its aliases are expanded: nine aliases of nine aliases and so
	// on would fill any memory (facts/ux.md, section 2.1).
	MaxNodes = 200_000
	// MaxDepth bounds nesting, and so also aliases that contain themselves. The deepest job file of the examples has 8.
	MaxDepth = 100
)

// A Document is a file in memory.
type Document struct {
	File  string // as faults name it
	lines []string
}

// Load reads and parses a file. The error is Errors.
func Load(file string) (*Node, error) {
	data, err := ReadFile(file)
	if err != nil {
		return nil, Errors{{File: file, Message: Reason(err)}}
	}
	return Parse(file, data)
}

// ReadFile is os.ReadFile for regular files and pipes of at most MaxBytes.
func ReadFile(file string) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // the file that the user names
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errIsFolder
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, errTooLarge
	}
	return data, nil
}

var (
	errIsFolder = errors.New("is a folder, not a file")
	errTooLarge = fmt.Errorf("is larger than %d MiB, the most that is read", MaxBytes>>20)
)

// Reason says in words why a file cannot be read, without its name.
func Reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read it"
	case errors.Is(err, errIsFolder), errors.Is(err, errTooLarge):
		return "it " + err.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return "it cannot be read: " + e.Err.Error()
	}
	return "it cannot be read: " + err.Error()
}

// newDocument checks that data is text and keeps its lines.
func newDocument(file string, data []byte) (*Document, string, error) {
	text := strings.TrimPrefix(string(data), "\uFEFF")
	d := &Document{File: file, lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	switch {
	case len(data) > MaxBytes:
		return nil, "", Errors{{File: file, Message: "it " + errTooLarge.Error()}}
	case strings.TrimSpace(text) == "":
		return nil, "", Errors{{File: file, Message: "the file is empty"}}
	}
	for i, line := range d.lines {
		if at := strings.IndexFunc(line, notText); at >= 0 {
			column := utf8.RuneCountInString(line[:at]) + 1
			return nil, "", Errors{d.fault(i+1, column, 1, "save the file as UTF-8 text", "the file is not text: it has bytes here that no text has")}
		}
	}
	return d, text, nil
}

// notText reports what YAML does not allow, and what a decoder makes of bytes that are not UTF-8.
func notText(r rune) bool {
	return r == utf8.RuneError || r == 0x7F || r < ' ' && r != '\t' && r != '\r'
}

// line is a source line, counted from 1; empty outside the document.
func (d *Document) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return d.lines[n-1]
}

func (d *Document) fault(line, column, width int, hint, message string) *Fault {
	f := &Fault{File: d.File, Line: line, Column: column, Message: message, Hint: hint}
	source := mask(d.line(line))
	if strings.TrimSpace(source) == "" {
		return f
	}
	f.snippet, f.caret = window(source, column)
	f.width = max(1, min(width, utf8.RuneCountInString(f.snippet)-f.caret))
	return f
}
