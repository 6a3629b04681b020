package strict

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Parse reads one YAML or JSON document. The error is Errors, with every fault that can be told at once.
func Parse(file string, data []byte) (*Node, error) {
	doc, text, err := newDocument(file, data)
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := yaml.Load([]byte(text), &root); err != nil {
		return nil, Errors{doc.syntax(err)}
	}
	if len(root.Content) == 0 {
		return nil, Errors{{File: file, Message: "the file is empty"}}
	}
	p := parser{doc: doc}
	n := p.node(root.Content[0], 0)
	if err := p.faults.Err(); err != nil {
		return nil, err
	}
	return n, nil
}

// parser turns YAML nodes into ours, aliases expanded.
type parser struct {
	doc    *Document
	faults Faults
	nodes  int
}

func (p *parser) node(y *yaml.Node, depth int) *Node {
	n := &Node{Line: y.Line, Column: y.Column, doc: p.doc, width: 1}
	p.nodes++
	switch {
	case p.nodes == MaxNodes+1:
		p.faults.Addf(n, "repeat less, or split the file", "the document has more than %d values once its aliases are filled in", MaxNodes)
		return n
	case p.nodes > MaxNodes:
		return n // reported
	case depth > MaxDepth:
		p.faults.Addf(n, "", "values are nested more than %d deep here", MaxDepth)
		return n
	}
	switch y.Kind {
	case yaml.AliasNode:
		// The place is where the alias stands: that is what the author reads.
		to := *y.Alias
		to.Line, to.Column = y.Line, y.Column
		return p.node(&to, depth+1)
	case yaml.MappingNode:
		n.Kind = Map
		p.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = List
		for _, c := range y.Content {
			n.items = append(n.items, p.node(c, depth+1))
		}
	default:
		p.scalar(n, y)
	}
	return n
}

func (p *parser) mapping(n *Node, y *yaml.Node, depth int) {
	seen := map[string]*Node{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := &Node{Kind: Text, Line: y.Content[i].Line, Column: y.Content[i].Column, doc: p.doc, width: 1}
		if !p.key(k, y.Content[i]) {
			continue
		}
		if first := seen[k.text]; first != nil {
			p.faults.Addf(k, "it is already set at line "+strconv.Itoa(first.Line)+": keep one of them", "the key %q is there twice", k.text)
			continue
		}
		seen[k.text] = k
		v := p.node(y.Content[i+1], depth+1)
		v.key = k
		n.items = append(n.items, v)
	}
}

// key reads the key of a map. A key is text, whatever it looks like.
func (p *parser) key(k *Node, y *yaml.Node) bool {
	switch {
	case y.Kind == yaml.MappingNode && y.Style&yaml.FlowStyle != 0:
		p.faults.Addf(k, `put quotes around a value that begins with a variable: "{{name}}"`, "a bare {{ begins a map in YAML")
		return false
	case y.Kind != yaml.ScalarNode:
		p.faults.Addf(k, "", "a key must be one word, not a list, a map or an alias")
		return false
	case y.ShortTag() == "!!merge":
		p.faults.Addf(k, "what several jobs share belongs under defaults", "merge keys (<<) are not read")
		return false
	}
	k.text, k.width = y.Value, scalarWidth(y)
	return true
}

func (p *parser) scalar(n *Node, y *yaml.Node) {
	n.text, n.width = y.Value, scalarWidth(y)
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.text = Null, ""
	case "!!bool":
		n.Kind = Bool
	case "!!int":
		n.Kind, n.text = integer(y.Value)
	case "!!float":
		n.Kind, n.text = float(y.Value)
	case "!!str", "!!timestamp", "!!merge":
		n.Kind = Text
	default:
		p.faults.Addf(n, "remove the tag", "the tag %s is not known here", y.Tag)
	}
}

// integer keeps what fits an int and writes the rest as text, for the schema to refuse. The text stays as it was
// written, so that an article number 007 does not become 7.
func integer(text string) (Kind, string) {
	octal := len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' // nobody means 8 by 010
	if _, err := strconv.ParseInt(text, 0, 0); err != nil || octal {
		return Text, text
	}
	return Int, text
}

func float(text string) (Kind, string) {
	if v, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return Text, text
	}
	return Float, text
}

func scalarWidth(y *yaml.Node) int {
	w := utf8.RuneCountInString(y.Value)
	if y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		w += 2
	}
	return max(1, w)
}

// syntax words the YAML reader's error for people who do not know its grammar.
func (d *Document) syntax(err error) *Fault {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return &Fault{File: d.File, Message: "this is not YAML"}
	}
	switch {
	case strings.Contains(e.Message, "expected single document"):
		return &Fault{File: d.File, Message: "the file holds several documents", Hint: "one file is one document: remove the lines of three dashes, or split the file"}
	case strings.Contains(e.Message, "no documents"):
		return &Fault{File: d.File, Message: "the file is empty"}
	case e.Mark.Line == 0:
		return &Fault{File: d.File, Message: "this is not YAML: " + e.Message}
	}
	message, hint := explain(e, d.line(e.Mark.Line))
	return d.fault(e.Mark.Line, e.Mark.Column, 1, hint, message)
}

// explain gives yaml/v4's texts (v4.0.0) a meaning.
func explain(e *yaml.LoadError, line string) (message, hint string) {
	switch {
	case strings.Contains(e.Message, "cannot start any token") && strings.HasPrefix(line, "\t"):
		return "this line is indented with a tab", "indent with spaces"
	case strings.Contains(e.Message, "cannot start any token"):
		return "this character cannot begin a value", "put the value in quotes"
	case strings.Contains(e.Message, "mapping values are not allowed"):
		return "a second colon, or a line that is indented too far", "put a value with a colon in quotes; give the keys of one map the same indent"
	case strings.Contains(e.Message, "unexpected end of stream"):
		return "a quoted text is not closed", ""
	case strings.Contains(e.Message, "unknown anchor"):
		return strings.Replace(e.Message, "referenced", "is used but nowhere set", 1), ""
	case e.ContextMark.Line > 0 && e.ContextMark.Line != e.Mark.Line:
		return "this is not YAML: " + e.Message, e.ContextMsg + " that begins at line " + strconv.Itoa(e.ContextMark.Line)
	default:
		return "this is not YAML: " + e.Message, e.ContextMsg
	}
}
