package jobfile

import (
	"strings"

	"github.com/limpet-dev/limpet/harness/strict"
)

// defaultPages is how many pages paginate takes if the step does not say: enough for a category, and an end to a list
// that never ends.
const defaultPages = 10

// A stepReader reads the steps of one job.
type stepReader struct {
	*loader
	variables variables
	secrets   []string
}

// step reads a map with one verb in its short form (click: "#buy") or its long one (click: { selector: "#buy" }).
func (r *stepReader) step(n *strict.Node) Step {
	verbs := n.Items()
	if len(verbs) == 0 {
		return Step{Pos: position(n)} // reported as empty or unknown
	}
	if len(verbs) > 1 {
		r.faults.AddKeyf(verbs[1], "begin a new step with a dash", "a step does one thing, and this one begins with %s", verbs[0].Key())
	}
	v := verbs[0]
	st := Step{
		Verb:    Verb(v.Key()),
		Pos:     position(n),
		Effect:  v.Get("effect").Bool(),
		Timeout: r.duration(v.Get("timeout")),
	}
	r.read(&st, v)
	return st
}

// word is the main word of a verb: the whole of a short form, or one key of a long one.
func word(v *strict.Node, key string) *strict.Node {
	if v.Kind == strict.Map {
		return v.Get(key)
	}
	return v
}

func (r *stepReader) read(st *Step, v *strict.Node) {
	switch st.Verb {
	case Goto:
		st.URL = r.address(word(v, "url"))
	case Click:
		st.Selector = r.selector(word(v, "selector"))
	case Fill:
		r.fill(st, v)
	case Select:
		r.choose(st, v)
	case Press:
		st.Key = word(v, "key").Text()
		st.Selector = r.selector(v.Get("selector"))
	case Wait:
		r.wait(st, v)
	case Scroll:
		r.scroll(st, v)
	case Extract:
		if v.Get("each") != nil {
			st.Records = r.records(v)
		}
	case Paginate:
		st.Selector = r.selector(word(v, "next"))
		st.Max = v.Get("max").Int()
		if st.Max == 0 {
			st.Max = defaultPages
		}
	case Screenshot:
		st.Name, st.Full = word(v, "name").Text(), v.Get("full").Bool()
	case Evaluate:
		st.Script = word(v, "script").Text()
	case Boundary:
		st.Name = word(v, "name").Text()
	}
}

func (r *stepReader) fill(st *Step, v *strict.Node) {
	st.Selector = r.selector(v.Get("selector"))
	value, secret := v.Get("value"), v.Get("secret")
	switch {
	case value != nil && secret != nil:
		r.faults.AddKeyf(secret, "keep one of them", "a fill has a value or a secret, not both")
	case secret != nil:
		st.Secret = true
		st.Value = r.variables.secret(secret)
		if st.Value != "" {
			r.secrets = append(r.secrets, st.Value)
		}
	case value != nil:
		st.Value = value.Text()
	default:
		r.faults.AddKeyf(v, "add value, or secret for what nobody may see", "fill does not say what to type")
	}
}

func (r *stepReader) choose(st *Step, v *strict.Node) {
	st.Selector = r.selector(v.Get("selector"))
	value, values := v.Get("value"), v.Get("values")
	if (value == nil) == (values == nil) {
		r.faults.AddKeyf(v, "write value for one option, values for several", "select names its options once")
	}
	if value == nil {
		value = values
	}
	st.Values = value.Texts()
}

func (r *stepReader) wait(st *Step, v *strict.Node) {
	st.Selector = r.selector(word(v, "selector"))
	st.URL = v.Get("url").Text()
	st.Idle = v.Get("idle").Bool()
	st.For = r.duration(v.Get("time"))
	if v.Kind == strict.Map {
		r.one(v, "selector", "url", "idle", "time")
	}
}

func (r *stepReader) scroll(st *Step, v *strict.Node) {
	st.Selector = r.selector(word(v, "selector"))
	st.DX, st.DY = v.Get("x").Int(), v.Get("y").Int()
	switch {
	case st.Selector != "" && (st.DX != 0 || st.DY != 0):
		r.faults.AddKeyf(v, "keep the selector, or x and y", "scroll has a selector or pixels, not both")
	case v.Kind == strict.Map && st.Selector == "" && st.DX == 0 && st.DY == 0:
		r.faults.AddKeyf(v, "write a selector, or pixels such as y: 600", "scroll does not say where to")
	}
}

// one reports a long form that has not exactly one of some keys.
func (r *stepReader) one(v *strict.Node, keys ...string) {
	var there []string
	for _, k := range keys {
		if v.Get(k) != nil {
			there = append(there, k)
		}
	}
	list := strings.Join(keys, ", ")
	switch {
	case len(there) == 0:
		r.faults.AddKeyf(v, "one of "+list, "%s does not say what for", v.Key())
	case len(there) > 1:
		r.faults.AddKeyf(v.Get(there[1]), "make two steps of it", "%s is for one thing: %s", v.Key(), strings.Join(there, " or "))
	}
}
