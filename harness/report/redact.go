package report

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// encodeRedacted is the JSON of v on one line in which every string value and every key has passed redact.
// Members keep their order and numbers their digits: the JSON of v is rewritten token by token.
func encodeRedacted(v any, redact func(string) string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the files are read by programs and people, not by browsers
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	src := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	out := make([]byte, 0, len(src))
	for len(src) > 0 {
		at := bytes.IndexByte(src, '"')
		if at < 0 {
			return append(out, src...), nil
		}
		out = append(out, src[:at]...)
		end := closing(src[at:])
		quoted := src[at : at+end]
		clean, err := redactQuoted(quoted, redact)
		if err != nil {
			return nil, err
		}
		out = append(out, clean...)
		src = src[at+end:]
	}
	return out, nil
}

// closing is the length of the JSON string that b begins with, quotes included.
func closing(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func redactQuoted(quoted []byte, redact func(string) string) ([]byte, error) {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, err
	}
	clean := redact(s)
	if clean == s && utf8.ValidString(s) {
		return quoted, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(clean); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeIndented is encodeRedacted for people.
func encodeIndented(v any, redact func(string) string) ([]byte, error) {
	line, err := encodeRedacted(v, redact)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
