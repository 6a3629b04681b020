package trace

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// shortSecret is the length in bytes below which a secret is replaced only where it stands alone: a pin
	// of three digits is part of half the numbers of a page.
	shortSecret = 4
	// minCore is the least number of base64 characters that stand for a secret inside a longer encoded text.
	// Six carry 36 bits: less than one hit by chance in 4 GiB of random base64.
	minCore = 6
)

// formsOf gives every way in which a secret is known to be written, without duplicates: as it is, in URLs, in
// JSON, in HTML, in hex and in base64, alone or in the middle of a longer text such as "user:password".
func formsOf(secret string) []string {
	forms := []string{secret}
	add := func(s string) {
		if !slices.Contains(forms, s) {
			forms = append(forms, s)
		}
	}
	add(url.QueryEscape(secret))
	add(url.PathEscape(secret))
	add(strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")) // as encodeURIComponent writes a space
	add(lowerHexOfPercent(url.QueryEscape(secret)))
	add(percentAll(secret))
	add(jsonForm(secret, true))
	add(jsonForm(secret, false))
	add(html.EscapeString(secret))
	if len(secret) >= shortSecret {
		add(hex.EncodeToString([]byte(secret)))
		add(strings.ToUpper(hex.EncodeToString([]byte(secret))))
		for _, core := range base64Cores(secret) {
			add(core)
		}
	}
	return forms
}

// base64Cores gives the characters that a secret leaves in base64 whatever stands before and after it: one
// text for each of the three positions that it can start at, in both alphabets.
func base64Cores(secret string) []string {
	var cores []string
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for lead := range 3 {
			encoded := enc.EncodeToString([]byte(strings.Repeat("\x00", lead) + secret))
			// The characters that hold bits of the bytes before: 0, 2 or 3; and, when the last group is not
			// full, one that would hold bits of what follows.
			start := []int{0, 2, 3}[lead]
			end := len(encoded)
			if (lead+len(secret))%3 != 0 {
				end--
			}
			if end-start >= minCore {
				cores = append(cores, encoded[start:end])
			}
		}
	}
	return cores
}

func jsonForm(s string, escapeHTML bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	if e.Encode(s) != nil { // a string always encodes
		return s
	}
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

func lowerHexOfPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// percentAll writes every byte as %XX, which no encoder needs to do and some do.
func percentAll(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte('%')
		b.WriteByte(digits[s[i]>>4])
		b.WriteByte(digits[s[i]&15])
	}
	return b.String()
}

// cutPartial removes from the end of a text that was cut what may be the beginning of a form: half a password
// is half a secret.
func cutPartial(s string, forms []string) string {
	for {
		n := partial(s, forms)
		if n == 0 {
			return strings.ToValidUTF8(s, "")
		}
		s = s[:len(s)-n]
	}
}

// partial is the length of the longest end of s that is a proper beginning of a form of at least three bytes.
func partial(s string, forms []string) int {
	best := 0
	for _, f := range forms {
		for n := min(len(f)-1, len(s)); n >= 3 && n > best; n-- {
			if strings.HasSuffix(s, f[:n]) && utf8.ValidString(f[:n]) {
				best = n
			}
		}
	}
	return best
}
