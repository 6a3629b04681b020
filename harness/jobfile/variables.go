package jobfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/limpet-dev/limpet/harness/strict"
)

// variables fills {{name}} from the row of a foreach and {{env.NAME}} from the environment. There is nothing else: no
// functions, no defaults. A literal {{ is written {{{{.
type variables struct {
	row    map[string]string
	env    func(string) (string, bool)
	faults *strict.Faults
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	envName      = regexp.MustCompile(`^env\.[A-Za-z_][A-Za-z0-9_]*$`)
	envOnly      = regexp.MustCompile(`^(?:\{\{ *env\.[A-Za-z_][A-Za-z0-9_]* *\}\})+$`)
)

// fill is the text of a node with its variables filled in. Secrets are left to secret.
func (v variables) fill(n *strict.Node) string {
	if n.Key() == "secret" {
		return n.Text()
	}
	return v.expand(n)
}

// secret is the value of a node that must be made of references to the environment alone.
func (v variables) secret(n *strict.Node) string {
	if !envOnly.MatchString(n.Text()) {
		v.faults.Addf(n, `export it and write secret: "{{env.SHOP_PASS}}"; text that is no secret belongs in value`,
			"a secret must be a reference to the environment, not the secret itself")
		return ""
	}
	value := v.expand(n)
	if value == "" {
		v.faults.Addf(n, "", "the secret is empty: %s is set to nothing", strings.Trim(n.Text(), "{} "))
	}
	return value
}

func (v variables) expand(n *strict.Node) string {
	text := n.Text()
	var b strings.Builder
	for {
		at := strings.Index(text, "{{")
		if at < 0 {
			return b.String() + text
		}
		b.WriteString(text[:at])
		text = text[at:]
		if strings.HasPrefix(text, "{{{{") {
			b.WriteString("{{")
			text = text[len("{{{{"):]
			continue
		}
		end := strings.Index(text, "}}")
		if end < 0 {
			v.faults.AddInf(n, "{{", "close it with }}, or write {{{{ for two braces", "a variable is not closed")
			return b.String()
		}
		token := text[:end+len("}}")]
		b.WriteString(v.lookup(n, token, strings.TrimSpace(token[2:end])))
		text = text[len(token):]
	}
}

func (v variables) lookup(n *strict.Node, token, name string) string {
	if envName.MatchString(name) {
		value, ok := v.env(strings.TrimPrefix(name, "env."))
		if !ok {
			v.faults.AddInf(n, token, "export it, or leave the reference out", "the environment variable %s is not set", strings.TrimPrefix(name, "env."))
		}
		return value
	}
	if value, ok := v.row[name]; ok {
		return value
	}
	known := make([]string, 0, len(v.row))
	for k := range v.row {
		known = append(known, k)
	}
	slices.Sort(known)
	switch {
	case !variableName.MatchString(name):
		v.faults.AddInf(n, token, "only {{name}} of foreach and {{env.NAME}} are filled in; two literal braces are {{{{", "%q is not a variable", token)
	case len(known) == 0:
		v.faults.AddInf(n, token, "foreach sets variables; the environment is {{env."+strings.ToUpper(name)+"}}", "the variable %q is not set: the job has no foreach", name)
	default:
		v.faults.AddInf(n, token, strict.DidYouMean(name, known), "the variable %q is not set by foreach", name)
	}
	return ""
}
