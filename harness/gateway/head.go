package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// A line is one header field, as received and as understood.
type line struct {
	name  string // lower case
	value string
	raw   []byte // without the line end
}

// A head is a request's or an answer's start line and fields, in the order received.
type head struct {
	fields  []line
	method  string // of a request
	target  string // of a request, as in the start line
	version string // "HTTP/1.1" or "HTTP/1.0"
	status  int    // of an answer
	reason  string // of an answer
}

var errHeadTooLarge = errors.New("the header is over 32 KiB")

// readHead reads up to the empty line that ends a head. Both CRLF and LF end a line, as RFC 9112 lets a reader
// allow. io.EOF means that nothing came at all.
func readHead(r *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(head)+len(part) > maxHeadBytes {
			return nil, errHeadTooLarge
		}
		blank := len(bytes.TrimRight(part, "\r\n")) == 0
		whole := len(head) == 0 || head[len(head)-1] == '\n' // part begins a line
		head = append(head, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(head) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case blank && whole && len(bytes.TrimRight(head, "\r\n")) == 0:
			head = head[:0] // an empty line before the start line is allowed
		case blank && whole:
			return head, nil
		}
	}
}

// parseRequest reads a browser's request head. It is strict: two readings of one head are how requests are
// smuggled.
func parseRequest(raw []byte) (*head, error) {
	start, rest := cutLine(raw)
	method, rem, ok1 := strings.Cut(string(start), " ")
	target, version, ok2 := strings.Cut(rem, " ")
	if !ok1 || !ok2 || method == "" || target == "" || !isToken(method) {
		return nil, errors.New("the request line is malformed")
	}
	if version != "HTTP/1.1" && version != "HTTP/1.0" {
		return nil, errors.New("the protocol is not HTTP/1")
	}
	h := &head{method: method, target: target, version: version}
	for len(rest) > 0 {
		var raw []byte
		if raw, rest = cutLine(rest); len(raw) == 0 {
			break
		}
		l, err := parseField(raw)
		if err != nil {
			return nil, err
		}
		h.fields = append(h.fields, l)
	}
	return h, h.checkFraming()
}

// parseReply reads an answer's head. It is tolerant: providers send names with spaces, missing reasons and lines
// without a colon, and a refusal must be understood all the same.
func parseReply(raw []byte) (*head, error) {
	start, rest := cutLine(raw)
	version, rem, _ := strings.Cut(string(start), " ")
	code, reason, _ := strings.Cut(strings.TrimLeft(rem, " "), " ")
	status, err := strconv.Atoi(code)
	if !strings.HasPrefix(version, "HTTP/1.") || err != nil || len(code) != 3 || status < 100 {
		return nil, errors.New("the answer is not HTTP/1")
	}
	h := &head{version: version, status: status, reason: strings.TrimSpace(reason)}
	for len(rest) > 0 {
		var raw []byte
		if raw, rest = cutLine(rest); len(raw) == 0 {
			break
		}
		name, value, ok := bytes.Cut(raw, []byte(":"))
		if !ok {
			continue
		}
		h.fields = append(h.fields, line{
			name: strings.ToLower(string(bytes.TrimSpace(name))), value: string(bytes.TrimSpace(value)), raw: raw,
		})
	}
	return h, nil
}

func parseField(raw []byte) (line, error) {
	name, value, ok := bytes.Cut(raw, []byte(":"))
	if !ok || !isToken(string(name)) || bytes.ContainsAny(raw, "\r\x00") {
		return line{}, errors.New("a header line is malformed")
	}
	return line{name: strings.ToLower(string(name)), value: string(bytes.TrimSpace(value)), raw: raw}, nil
}

// checkFraming refuses a request whose length can be read in two ways.
func (h *head) checkFraming() error {
	lengths, encodings := h.all("content-length"), h.all("transfer-encoding")
	for _, l := range lengths {
		if l != lengths[0] {
			return errors.New("two content lengths differ")
		}
		if _, err := strconv.ParseUint(l, 10, 63); err != nil {
			return errors.New("the content length is no number")
		}
	}
	switch {
	case len(lengths) > 0 && len(encodings) > 0:
		return errors.New("both a content length and a transfer coding")
	case len(encodings) > 1 || len(encodings) == 1 && !strings.EqualFold(encodings[0], "chunked"):
		return fmt.Errorf("transfer coding %q", encodings)
	}
	return nil
}

func cutLine(b []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(first, []byte("\r")), rest
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func (h *head) all(name string) (values []string) {
	for _, l := range h.fields {
		if l.name == name {
			values = append(values, l.value)
		}
	}
	return values
}

func (h *head) get(name string) string { return strings.Join(h.all(name), ", ") }

// lists reports whether a comma-separated field holds the word.
func (h *head) lists(name, word string) bool {
	for part := range strings.SplitSeq(h.get(name), ",") {
		if strings.EqualFold(strings.TrimSpace(part), word) {
			return true
		}
	}
	return false
}

// fieldMap is the fields by lower-case name, repeated ones joined by commas.
func (h *head) fieldMap() map[string]string {
	m := make(map[string]string, len(h.fields))
	for _, l := range h.fields {
		if old, ok := m[l.name]; ok {
			m[l.name] = old + ", " + l.value
			continue
		}
		m[l.name] = l.value
	}
	return m
}

// absolute splits the target of a plain proxy request into host:port and the path for the origin.
func (h *head) absolute() (hostport, path string, err error) {
	u, err := url.Parse(h.target)
	if err != nil || u.Scheme != "http" && u.Scheme != "ws" || u.Host == "" || u.Opaque != "" || u.User != nil {
		return "", "", errors.New("a request to a proxy must name an http:// address")
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	// The path goes on exactly as it came: what is after the authority in the text, not what url.Parse made of it.
	_, after, _ := strings.Cut(h.target, "://")
	i := strings.IndexAny(after, "/?#")
	switch {
	case i < 0:
		path = "/"
	case after[i] == '/':
		path = after[i:]
	default:
		path = "/" + after[i:]
	}
	return net.JoinHostPort(u.Hostname(), port), path, nil
}
