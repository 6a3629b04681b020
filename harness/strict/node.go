package strict

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of value that a node holds.
type Kind int

// The kinds of value.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
	Map
)

// String names the kind as a person would.
func (k Kind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "text", "a list", "a map"}[k]
}

// A Node is one value of a document, with its place. Readers (Get, Text, Int, …) work on a nil Node as on an absent
// value, so that a path of keys needs no checks. Nodes are not safe for concurrent use while faults are collected.
type Node struct {
	Kind         Kind
	Line, Column int // from 1, in characters

	text  string // of a scalar, as written, without quotes
	key   *Node  // the key under which it stands in a map; nil for others
	items []*Node
	// width is how many characters the caret underlines.
	width int
	doc   *Document
	// noted means that a fault was reported here; refused, that the value is as if absent.
	noted, refused bool
}

// Get is the value under a key of a map; nil if there is none, or if it was refused.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Map {
		return nil
	}
	for _, v := range n.items {
		if v.key.text == key && !v.refused {
			return v
		}
	}
	return nil
}

// Items are the items of a list, or the values of a map in the order of the file, without those that were refused.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	kept := make([]*Node, 0, len(n.items))
	for _, v := range n.items {
		if !v.refused {
			kept = append(kept, v)
		}
	}
	return kept
}

// Key is the key under which the node stands in its map; empty if it stands in none.
func (n *Node) Key() string {
	if n == nil || n.key == nil {
		return ""
	}
	return n.key.text
}

// File is the name of the document.
func (n *Node) File() string { return n.doc.File }

// Text is a scalar as it is written, without quotes: 007 stays 007. It is empty for everything else.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.text
}

// Bool is the value of a Bool; false for everything else.
func (n *Node) Bool() bool { return n != nil && n.Kind == Bool && strings.EqualFold(n.text, "true") }

// Int is the value of an Int; 0 for everything else.
func (n *Node) Int() int {
	if n == nil || n.Kind != Int {
		return 0
	}
	v, _ := strconv.ParseInt(n.text, 0, 0) // checked when the node was made
	return int(v)
}

// Float is the value of an Int or a Float; 0 for everything else.
func (n *Node) Float() float64 {
	switch {
	case n == nil:
		return 0
	case n.Kind == Int:
		return float64(n.Int())
	case n.Kind == Float:
		v, _ := strconv.ParseFloat(n.text, 64) // checked when the node was made
		return v
	default:
		return 0
	}
}

// Texts are the texts of a list's items, or the one text of a scalar.
func (n *Node) Texts() []string {
	if n == nil {
		return nil
	}
	if n.Kind != List {
		return []string{n.text}
	}
	var texts []string
	for _, v := range n.Items() {
		texts = append(texts, v.text)
	}
	return texts
}

// Value is the node as encoding/json would decode it, without values that were refused.
func (n *Node) Value() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return n.Bool()
	case Int:
		return n.Int()
	case Float:
		return n.Float()
	case List:
		list := make([]any, 0, len(n.items))
		for _, v := range n.Items() {
			list = append(list, v.Value())
		}
		return list
	case Map:
		m := make(map[string]any, len(n.items))
		for _, v := range n.Items() {
			m[v.key.text] = v.Value()
		}
		return m
	default:
		return n.text
	}
}

// Merge lays over on top of base: maps are merged key by key, everything else is replaced. Either may be nil. The
// arguments are not changed; the result keeps the places of what it was made from.
func Merge(base, over *Node) *Node {
	switch {
	case over == nil:
		return base
	case base == nil || base.Kind != Map || over.Kind != Map:
		return over
	}
	merged := *over
	merged.items = nil
	for _, v := range over.items {
		merged.items = append(merged.items, Merge(base.Get(v.key.text), v))
	}
	for _, v := range base.Items() {
		if over.entry(v.key.text) == nil {
			merged.items = append(merged.items, v)
		}
	}
	return &merged
}

// Rewrite copies the node with every Text in it replaced by what f answers for it. Keys stay.
func (n *Node) Rewrite(f func(*Node) string) *Node {
	if n == nil {
		return nil
	}
	c := *n
	if n.Kind == Text && !n.refused {
		c.text = f(n)
		c.noted = n.noted // f may have reported a fault
	}
	c.items = make([]*Node, len(n.items))
	for i, v := range n.items {
		c.items[i] = v.Rewrite(f)
	}
	return &c
}

// Without copies a map without one of its keys.
func (n *Node) Without(key string) *Node {
	c := *n
	c.items = nil
	for _, v := range n.items {
		if v.key.text != key {
			c.items = append(c.items, v)
		}
	}
	return &c
}

// entry is Get for entries that may be refused.
func (n *Node) entry(key string) *Node {
	for _, v := range n.items {
		if v.key != nil && v.key.text == key {
			return v
		}
	}
	return nil
}

// Faulty reports whether the node or anything in it has a fault.
func (n *Node) Faulty() bool {
	if n.noted {
		return true
	}
	for _, v := range n.items {
		if v.Faulty() {
			return true
		}
	}
	return false
}

// find is where a part of the node's text stands in its first source line; the whole node if it is not there.
func (n *Node) find(part string) (column, width int) {
	line := []rune(n.doc.line(n.Line))
	if part != "" && n.Column-1 <= len(line) {
		rest := string(line[max(n.Column-1, 0):])
		if before, _, found := strings.Cut(rest, part); found {
			return n.Column + utf8.RuneCountInString(before), utf8.RuneCountInString(part)
		}
	}
	return n.Column, n.width
}

func (n *Node) fault(line, column, width int, hint, message string) *Fault {
	return n.doc.fault(line, column, width, hint, message)
}
