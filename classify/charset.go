package classify

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// sniffBytes is how far Decode looks for a declaration. Browsers prescan 1024 bytes, but pages exist that
// declare themselves behind a long comment, and a browser finds those too while it parses.
const sniffBytes = 4096

// Decode turns the bytes of a saved page into text. The order is byte order mark, charset of contentType (which
// may be empty), the page's own declaration, what the bytes look like. One exception: bytes above 127 that form
// valid UTF-8 are UTF-8 whatever the page declares, because a saved snapshot of a DOM is UTF-8 with the
// declaration of the original still in it. What cannot be decoded becomes U+FFFD; Decode never fails.
func Decode(raw []byte, contentType string) string {
	out, err := encodingOf(raw, contentType).NewDecoder().Bytes(raw)
	if err != nil {
		out = raw
	}
	out = bytes.TrimPrefix(out, []byte("\ufeff"))
	return string(bytes.ToValidUTF8(out, []byte("\ufffd")))
}

func encodingOf(raw []byte, contentType string) encoding.Encoding {
	head := raw[:min(len(raw), sniffBytes)]
	if enc, _, certain := charset.DetermineEncoding(head, contentType); certain {
		return enc
	}
	if utf8.Valid(raw) && !isASCII(raw) {
		return unicode.UTF8
	}
	if enc := declared(head); enc != nil {
		return enc
	}
	if utf8.Valid(raw) {
		return unicode.UTF8
	}
	return charmap.Windows1252 // the web's fallback for western pages
}

// declared reads the first meta element that names a charset; nil if there is none.
func declared(head []byte) encoding.Encoding {
	for {
		i := indexFold(head, "<meta")
		if i < 0 {
			return nil
		}
		head = head[i:]
		end := bytes.IndexByte(head, '>')
		if end < 0 {
			return nil
		}
		if tag := head[:end+1]; indexFold(tag, "charset") >= 0 {
			enc, _, _ := charset.DetermineEncoding(tag, "")
			return enc
		}
		head = head[end+1:]
	}
}

func indexFold(b []byte, word string) int { return bytes.Index(bytes.ToLower(b), []byte(word)) }

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
