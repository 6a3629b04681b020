package strict

import (
	"regexp"
	"strings"
	"unicode"
)

// maxSnippet is how much of a source line is shown around the caret: what fits beside the gutter on a wide terminal.
const maxSnippet = 120

// Secrets may stand in the source of a document that is refused for exactly that, so source lines are masked before
// anybody sees them: whatever follows a key that names a credential, unless it is a reference, and what stands before
// the @ of an address.
var (
	secretKey = regexp.MustCompile(`(?i)["']?\b(?:username|password|passwd|pass|secret|token|creds|credential|next|otlp)["']?[ \t]*:[ \t]*`)
	reference = regexp.MustCompile(`^(?:["']?(?:env:|file:|exec:|\{\{ *env\.)|\{|\[|$)`)
	userinfo  = regexp.MustCompile(`://[^\s"']*@`)
)

// mask replaces every character of a literal secret in a source line by an asterisk, so that columns stay.
func mask(line string) string {
	from := 0
	for {
		at := secretKey.FindStringIndex(line[from:])
		if at == nil {
			break
		}
		value := from + at[1]
		if !reference.MatchString(line[value:]) {
			// A quoted value may hold anything, also what looks like its end: nothing after it is trusted.
			line = line[:value] + stars(line[value:])
			break
		}
		from = value
	}
	return userinfo.ReplaceAllStringFunc(line, func(s string) string {
		return "://" + stars(s[len("://"):len(s)-1]) + "@"
	})
}

func stars(s string) string { return strings.Repeat("*", len([]rune(s))) }

// window cuts a line to maxSnippet characters around column (from 1), with control characters made visible. It
// answers how many characters stand before the caret.
func window(line string, column int) (snippet string, caret int) {
	runes := []rune(line)
	for i, r := range runes {
		switch {
		case r == '\t':
			runes[i] = ' '
		case !unicode.IsPrint(r):
			runes[i] = '·'
		}
	}
	caret = min(max(column-1, 0), len(runes))
	if len(runes) <= maxSnippet {
		return string(runes), caret
	}
	start := min(max(0, caret-maxSnippet/2), len(runes)-maxSnippet)
	cut := runes[start : start+maxSnippet]
	return string(cut), caret - start
}
