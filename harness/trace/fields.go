package trace

import (
	"net/url"
	"regexp"
	"strings"
)

// secretNames matches names of query parameters, form fields and JSON members whose value is a secret. The
// first group of words says so anywhere in a name, the second only as a word of its own: "sort_key" and "key",
// but not "keyword".
const secretNames = `(?:[\w.\-\[\]]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|signature|credential|session[_-]?id)[\w.\-\[\]]*` +
	`|(?:[\w.\-\[\]]*[_.\-\[])?(?:key|sig|pass|pwd|sid|auth|authorization|jwt|otp|session|sessionid|csrf|xsrf)\]?)`

var (
	secretName = regexp.MustCompile(`(?i)^` + secretNames + `$`)

	// userInfo is user and password in an address.
	userInfo = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.\-]*://)[^\s/?#"'<>@]+(?::[^\s/?#"'<>]*)?@`)
	// queryPair is a secret parameter in whatever looks like a query or a form body. A separator may itself be
	// written for HTML or JSON.
	queryPair = regexp.MustCompile(`(?i)((?:^|[?&;#\s]|&amp;|\\u0026|%3F|%26)` + secretNames + `(?:=|%3D))([^&;#\s"'<>\\]+)`)
	// member is a secret member of a JSON object, in quotes that may be escaped.
	member = regexp.MustCompile(`(?i)(\\*["']` + secretNames + `\\*["']\s*:\s*\\*["'])([^"'\\]+)`)
	// headerLine is a secret header written as text.
	headerLine = regexp.MustCompile(`(?im)((?:^|[\s"'\[{,])(?:proxy-authorization|authorization|set-cookie|cookie|x-api-key|x-auth-token)["']?\s*[:=]\s*["']?)([^\r\n"']+)`)
	// bearer is a token after its scheme. It has eight characters at least, so that "basic house" stays.
	bearer = regexp.MustCompile(`(?i)\b(bearer|basic)\s+([A-Za-z0-9._~+/\-]{8,}=*)`)
	// webToken is a JSON Web Token: three parts, the first of which is an object in base64.
	webToken = regexp.MustCompile(`\beyJ[\w\-]{8,}\.[\w\-]{4,}\.[\w\-]*`)
)

// redactFields replaces what is a secret by the name that stands before it. Each expression runs only where a
// text can match: pages have megabytes, and a look for words costs a hundredth of an expression.
func redactFields(s string) string {
	lower := strings.ToLower(s)
	if strings.Contains(s, "://") && strings.Contains(s, "@") {
		s = userInfo.ReplaceAllString(s, "${1}"+Redacted+"@")
	}
	if namesSecret(lower) {
		if strings.ContainsAny(s, "=%") {
			s = queryPair.ReplaceAllString(s, "${1}"+Redacted)
		}
		if strings.Contains(s, ":") {
			s = member.ReplaceAllString(s, "${1}"+Redacted)
		}
		if strings.ContainsAny(s, ":=") {
			s = headerLine.ReplaceAllStringFunc(s, redactHeaderLine)
		}
	}
	if strings.Contains(lower, "bearer") || strings.Contains(lower, "basic") {
		s = bearer.ReplaceAllStringFunc(s, redactBearer)
	}
	if strings.Contains(s, "eyJ") {
		s = webToken.ReplaceAllLiteralString(s, Redacted)
	}
	return s
}

// namesSecret reports whether a text in lower case holds a word that every name of a secret has.
func namesSecret(lower string) bool {
	for _, w := range []string{
		"token", "secret", "pass", "key", "sig", "pwd", "sid", "auth", "jwt", "otp", "session", "csrf", "xsrf", "credential", "cookie",
	} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

func redactHeaderLine(line string) string {
	g := headerLine.FindStringSubmatch(line)
	if strings.Contains(strings.ToLower(g[1]), "authorization") {
		return g[1] + redactScheme(g[2])
	}
	return g[1] + Redacted
}

func redactBearer(s string) string {
	scheme, token, _ := strings.Cut(s, " ")
	// A token has a digit, a capital or padding; "basic authentication" has none.
	if !strings.ContainsAny(token, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ=") {
		return s
	}
	return scheme + " " + Redacted
}

// redactURL hides user, password and secret parameters of an address, names written in percent form included.
// Of a data: address only the head is kept.
func redactURL(s string) string {
	if head, _, ok := strings.Cut(s, ","); ok && strings.HasPrefix(strings.ToLower(s), "data:") {
		return head + ",[data]"
	}
	before, fragment, hasFragment := strings.Cut(s, "#")
	path, query, hasQuery := strings.Cut(before, "?")
	if hasQuery {
		path += "?" + redactQuery(query)
	}
	if hasFragment {
		path += "#" + redactQuery(fragment)
	}
	return path
}

func redactQuery(q string) string {
	pairs := strings.Split(q, "&")
	for i, pair := range pairs {
		name, _, ok := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); ok && err == nil && secretName.MatchString(plain) {
			pairs[i] = name + "=" + Redacted
		}
	}
	return strings.Join(pairs, "&")
}

// headerSecret matches names of header fields that carry a secret, other than cookies.
var headerSecret = regexp.MustCompile(`token|secret|passw|authorization|api-?key|session-?id|csrf|xsrf|credential|signature$|(?:^|-)(?:auth|sid|jwt)$`)

// secretHeader reports whether a field of that name, in lower case, carries a secret.
func secretHeader(name string) bool {
	return headerSecret.MatchString(name) && !strings.HasPrefix(name, "access-control-")
}

// redactScheme keeps the scheme of an Authorization value: which one was used is evidence.
func redactScheme(value string) string {
	if scheme, _, ok := strings.Cut(strings.TrimSpace(value), " "); ok && len(scheme) <= len("Negotiate") {
		return scheme + " " + Redacted
	}
	return Redacted
}

// redactCookies keeps the names: which cookies were sent is evidence, what was in them is not.
func redactCookies(value string) string {
	pairs := strings.Split(value, ";")
	for i, pair := range pairs {
		pairs[i] = redactCookie(pair)
	}
	return strings.Join(pairs, ";")
}

// redactSetCookies keeps names and attributes.
func redactSetCookies(value string) string {
	lines := strings.Split(value, "\n")
	for i, line := range lines {
		pair, attributes, ok := strings.Cut(line, ";")
		lines[i] = redactCookie(pair)
		if ok {
			lines[i] += ";" + attributes
		}
	}
	return strings.Join(lines, "\n")
}

func redactCookie(pair string) string {
	name, _, ok := strings.Cut(pair, "=")
	if !ok {
		return Redacted
	}
	return name + "=" + Redacted
}
