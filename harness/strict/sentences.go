package strict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// report words one error of the schema about n.
func (s *Schema) report(n *Node, e *jsonschema.ValidationError, faults *Faults) {
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, key := range k.Properties {
			if v := n.entry(key); v != nil {
				faults.AddKeyf(v, s.misplaced(e, key), "unknown key %q%s", key, inside(n))
				v.refused = true
			}
		}
	case *kind.Required:
		faults.AddKeyf(n, "", "%s missing%s", isAre(k.Missing), inside(n))
	case *kind.Not: // a key that is known and not allowed
		faults.AddKeyf(n, "", "%q %s", n.Key(), s.message(e))
		n.refused = true
	default:
		s.reportValue(n, e, faults)
		n.refused = true
	}
}

func isAre(words []string) string {
	if len(words) == 1 {
		return fmt.Sprintf("%q is", words[0])
	}
	return fmt.Sprintf("%q are", words)
}

// reportValue words an error about a value of the wrong kind or form.
func (s *Schema) reportValue(n *Node, e *jsonschema.ValidationError, faults *Faults) {
	if text := s.message(e); text != "" {
		faults.Addf(n, "", "%s %s", show(n), text)
		return
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		faults.Addf(n, boolHint(n, k.Want), "%swant %s, not %s", label(n), kinds(k.Want), n.Kind)
	case *kind.OneOf, *kind.AnyOf:
		var want []string
		for _, c := range e.Causes {
			want = append(want, wanted(c)...)
		}
		faults.Addf(n, "", "%swant %s, not %s", label(n), kinds(want), n.Kind)
	case *kind.Enum:
		words := texts(k.Want)
		faults.Addf(n, DidYouMean(n.text, words), "%s is none of %s", show(n), strings.Join(words, ", "))
	case *kind.Const:
		faults.Addf(n, "", "%s is not %v", show(n), k.Want)
	case *kind.MinProperties, *kind.MinItems, *kind.MinLength:
		faults.Addf(n, "", "%sthis is empty", label(n))
	case *kind.Minimum:
		faults.Addf(n, "", "%s%s is less than %s", label(n), n.text, k.Want.RatString())
	case *kind.ExclusiveMinimum:
		faults.Addf(n, "", "%s%s is not more than %s", label(n), n.text, k.Want.RatString())
	case *kind.Maximum:
		faults.Addf(n, "", "%s%s is more than %s", label(n), n.text, k.Want.RatString())
	default:
		faults.Addf(n, "", "%s%s", label(n), e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
	}
}

// misplaced is the hint for an unknown key: the nearest known one, else where the key does belong.
func (s *Schema) misplaced(e *jsonschema.ValidationError, key string) string {
	properties, _ := s.definition(e)["properties"].(map[string]any)
	known := slices.DeleteFunc(sortedKeys(properties), func(k string) bool {
		p, _ := properties[k].(map[string]any)
		return p["not"] != nil
	})
	if near := Nearest(key, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if homes := s.homes[key]; len(homes) > 0 {
		return fmt.Sprintf("%q belongs in %s", key, strings.Join(homes[:min(len(homes), 3)], " or ")) // more is a list to read, not a hint
	}
	return DidYouMean(key, known)
}

// inside is " in budget", or nothing where the map has no name.
func inside(n *Node) string {
	if n.key == nil {
		return ""
	}
	return " in " + n.key.text
}

func label(n *Node) string {
	if n.key == nil {
		return ""
	}
	return n.key.text + ": "
}

// show quotes a scalar, and names anything else by its kind.
func show(n *Node) string {
	switch n.Kind {
	case Text:
		return fmt.Sprintf("%q", n.text)
	case Bool, Int, Float:
		return n.text
	default:
		return label(n) + n.Kind.String()
	}
}

// boolHint helps with what was a truth value in older YAML.
func boolHint(n *Node, want []string) string {
	yesNo := []string{"yes", "no", "on", "off", "y", "n"}
	if n.Kind == Text && slices.Contains(want, "boolean") && slices.Contains(yesNo, strings.ToLower(n.text)) {
		return "write true or false"
	}
	if n.Kind == Text && slices.Contains(want, "integer") {
		return "write the number without quotes, unit or leading zero"
	}
	return ""
}

// wanted are the types that the alternatives ask for.
func wanted(e *jsonschema.ValidationError) []string {
	if k, ok := e.ErrorKind.(*kind.Type); ok {
		return k.Want
	}
	var all []string
	for _, c := range e.Causes {
		all = append(all, wanted(c)...)
	}
	return all
}

// kinds names JSON types as a person would: "text or a map".
func kinds(types []string) string {
	names := map[string]Kind{
		"null": Null, "boolean": Bool, "integer": Int, "number": Float, "string": Text, "array": List, "object": Map,
	}
	var words []string
	for _, t := range types {
		if word := names[t].String(); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " or ")
}

func texts(values []any) []string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return words
}
