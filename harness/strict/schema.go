package strict

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Schema checks the shape of documents against a JSON Schema, and words what it finds for people. The keyword
// errorMessage (which editors know too) replaces the words for a value that does not match: "is not a duration with
// a unit, such as 90s". A Schema is immutable and safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	root     any
	base     string
	// homes are the maps in which a key is known, to tell a misplaced key from a misspelt one.
	homes map[string][]string
}

// NewSchema compiles a JSON Schema. It reads no other file and no network.
func NewSchema(name string, data []byte) (*Schema, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(noLoader{})
	base := "limpet:///" + name
	if err := c.AddResource(base, root); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	compiled, err := c.Compile(base)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	s := &Schema{compiled: compiled, root: root, base: base, homes: map[string][]string{}}
	s.walk(root, "the top level", 0)
	return s, nil
}

// noLoader keeps references inside the schema: reading files or addresses that a document names is not its job.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s, and only references inside it are followed", url)
}

// Check reports everything in root that the schema refuses. A value that is refused, or whose key is not known, is as
// if absent afterwards, so that the caller can go on with the rest and find the faults of meaning too.
func (s *Schema) Check(root *Node, faults *Faults) {
	err := s.compiled.Validate(root.Value())
	if err == nil {
		return
	}
	invalid, ok := err.(*jsonschema.ValidationError) //nolint:errorlint // documented as the type that Validate answers
	if !ok {
		faults.Addf(root, "", "it cannot be checked: %v", err)
		return
	}
	leaves := s.leaves(invalid)
	// What is there and wrong comes before what is missing: a misspelt key explains why the right one is not there.
	slices.SortStableFunc(leaves, func(a, b *jsonschema.ValidationError) int { return rank(a) - rank(b) })
	// Places are found before the first report, because what has a fault no longer counts as an item.
	nodes := make([]*Node, len(leaves))
	for i, leaf := range leaves {
		nodes[i] = at(root, leaf.InstanceLocation)
	}
	for i, leaf := range leaves {
		s.report(nodes[i], leaf, faults)
	}
}

// leaves are the errors that say something by themselves. Of alternatives the one that got furthest is taken.
func (s *Schema) leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		if s.message(e) != "" {
			return []*jsonschema.ValidationError{e}
		}
		var matching []*jsonschema.ValidationError
		for _, c := range e.Causes {
			if !s.wrongType(c, len(e.InstanceLocation)) {
				matching = append(matching, c)
			}
		}
		if len(matching) == 0 {
			return []*jsonschema.ValidationError{e}
		}
		best := slices.MaxFunc(matching, func(a, b *jsonschema.ValidationError) int { return depth(a) - depth(b) })
		return s.leaves(best)
	}
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, c := range e.Causes {
		all = append(all, s.leaves(c)...)
	}
	return all
}

// wrongType reports whether an alternative fails for the kind of the value itself, at the given depth.
func (s *Schema) wrongType(e *jsonschema.ValidationError, at int) bool {
	if _, ok := e.ErrorKind.(*kind.Type); ok {
		return len(e.InstanceLocation) == at
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return s.wrongType(c, at) })
}

func depth(e *jsonschema.ValidationError) int {
	d := len(e.InstanceLocation)
	for _, c := range e.Causes {
		d = max(d, depth(c))
	}
	return d
}

func rank(e *jsonschema.ValidationError) int {
	switch e.ErrorKind.(type) {
	case *kind.Required, *kind.MinProperties:
		return 2
	case *kind.AdditionalProperties:
		return 0
	default:
		return 1
	}
}

// at is the node at a location, also one that has a fault.
func at(root *Node, location []string) *Node {
	n := root
	for _, token := range location {
		var next *Node
		if n.Kind == List {
			// Items with a fault were left out of the value that was checked.
			if i, err := strconv.Atoi(token); err == nil && i < len(n.Items()) {
				next = n.Items()[i]
			}
		} else {
			next = n.entry(token)
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// definition is the part of the schema that refused, references followed.
func (s *Schema) definition(e *jsonschema.ValidationError) map[string]any {
	_, fragment, _ := strings.Cut(e.SchemaURL, "#")
	d, _ := s.lookup(fragment).(map[string]any)
	return d
}

func (s *Schema) lookup(pointer string) any {
	current := s.root
	for token := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(token)
		switch c := current.(type) {
		case map[string]any:
			if token != "" {
				current = c[token]
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			current = c[i]
		}
	}
	return current
}

func (s *Schema) message(e *jsonschema.ValidationError) string {
	text, _ := s.definition(e)["errorMessage"].(string)
	return text
}

// walk finds the homes of keys: the path of keys that leads to each map of the schema.
func (s *Schema) walk(schema any, place string, level int) {
	m, ok := schema.(map[string]any)
	if !ok || level > 12 { // definitions that contain themselves end here
		return
	}
	if ref, ok := m["$ref"].(string); ok {
		s.walk(s.lookup(strings.TrimPrefix(ref, "#")), place, level+1)
	}
	properties, _ := m["properties"].(map[string]any)
	for _, key := range sortedKeys(properties) {
		if !slices.Contains(s.homes[key], place) {
			s.homes[key] = append(s.homes[key], place)
		}
		s.walk(properties[key], key, level+1)
	}
	for _, word := range []string{"items", "additionalProperties"} {
		s.walk(m[word], place, level+1)
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := m[word].([]any)
		for _, branch := range list {
			s.walk(branch, place, level+1)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
