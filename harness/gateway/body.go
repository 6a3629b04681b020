package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// A framing says where a body ends.
type framing struct {
	kind   framingKind
	length int64 // for byLength
}

type framingKind int

const (
	noBody framingKind = iota
	byLength
	byChunks
	byClose // of an answer: the connection's end is the body's end
)

// requestFraming reads a request that passed checkFraming.
func requestFraming(h *head) framing {
	switch {
	case h.lists("transfer-encoding", "chunked"):
		return framing{kind: byChunks}
	case h.get("content-length") != "":
		return ofLength(h.all("content-length")[0])
	default:
		return framing{}
	}
}

// replyFraming is RFC 9112, section 6.3.
func replyFraming(h *head, method string) framing {
	codings := h.get("transfer-encoding")
	switch {
	case method == http.MethodHead, h.status < 200, h.status == http.StatusNoContent, h.status == http.StatusNotModified:
		return framing{}
	case codings != "" && strings.HasSuffix(strings.ToLower(strings.TrimSpace(codings)), "chunked"):
		return framing{kind: byChunks}
	case codings != "":
		return framing{kind: byClose}
	case h.get("content-length") != "":
		return ofLength(h.all("content-length")[0])
	default:
		return framing{kind: byClose}
	}
}

// ofLength reads a length. One that is no number ends with the connection, as browsers have it.
func ofLength(s string) framing {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || n < 0:
		return framing{kind: byClose}
	case n == 0:
		return framing{}
	default:
		return framing{kind: byLength, length: n}
	}
}

var errBadChunk = errors.New("the chunked body is malformed")

// copyBody passes a body on in the framing that it came in.
func copyBody(dst io.Writer, src *bufio.Reader, f framing, buf []byte) error {
	switch f.kind {
	case byLength:
		return copyExactly(dst, src, f.length, buf)
	case byChunks:
		return copyChunks(dst, src, buf)
	case byClose:
		_, err := io.CopyBuffer(onlyWriter{dst}, onlyReader{src}, buf)
		return err
	default:
		return nil
	}
}

func copyExactly(dst io.Writer, src *bufio.Reader, n int64, buf []byte) error {
	copied, err := io.CopyBuffer(onlyWriter{dst}, io.LimitReader(src, n), buf)
	if err == nil && copied < n {
		return io.ErrUnexpectedEOF
	}
	return err
}

func copyChunks(dst io.Writer, src *bufio.Reader, buf []byte) error {
	for {
		size, err := copyLine(dst, src)
		if err != nil {
			return err
		}
		digits, _, _ := strings.Cut(string(size), ";")
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 16, 63)
		if err != nil {
			return errBadChunk
		}
		if n == 0 {
			return copyTrailers(dst, src)
		}
		if err := copyExactly(dst, src, int64(n), buf); err != nil { // 63 bits fit
			return err
		}
		if end, err := copyLine(dst, src); err != nil || len(end) > 0 {
			return errors.Join(errBadChunk, err)
		}
	}
}

func copyTrailers(dst io.Writer, src *bufio.Reader) error {
	for {
		l, err := copyLine(dst, src)
		if err != nil || len(l) == 0 {
			return err
		}
	}
}

// copyLine passes one line on and answers it without its end. A line longer than src's buffer is malformed.
func copyLine(dst io.Writer, src *bufio.Reader) ([]byte, error) {
	l, err := src.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errBadChunk
	}
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if _, err := dst.Write(l); err != nil {
		return nil, err
	}
	return bytes.TrimRight(l, "\r\n"), nil
}

// onlyReader and onlyWriter hide ReadFrom and WriteTo: io.CopyBuffer would take them in place of the buffer, and
// with them the exact counts.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
