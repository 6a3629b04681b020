package classify

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"
)

//go:embed signatures/*.yaml
var builtin embed.FS

// A table says how much a rule's signal is worth.
type table string

const (
	definitive table = "definitive" // decides alone, whatever the status and size of the page
	supporting table = "supporting" // needs a second one from another source, and no business marker
	ambient    table = "ambient"    // only names the vendor of what others decided
	soft       table = "soft"       // explains why an answer that is no wall is not useful
)

// weight of one signal of each table.
func (t table) weight() float64 {
	switch t {
	case definitive:
		return 1
	case supporting, soft:
		return 0.5
	default:
		return weightNoted
	}
}

// weightNoted is the weight of a signal that is kept for the reader and decides nothing.
const weightNoted = 0.1

// A rule is one line of a signature table.
type rule struct {
	id      string // "vendor.name"
	vendor  string // empty for mechanisms that say nothing about whose they are
	table   table
	class   Class
	dormant bool // the element may lie on ordinary pages too: counts in full only on pages without content
	match   matcher
}

type signatureFile struct {
	Version int          `yaml:"version"`
	Vendors []vendorSpec `yaml:"vendors"`
}

type vendorSpec struct {
	Vendor     string     `yaml:"vendor"`
	Definitive []ruleSpec `yaml:"definitive"`
	Supporting []ruleSpec `yaml:"supporting"`
	Ambient    []ruleSpec `yaml:"ambient"`
	Soft       []ruleSpec `yaml:"soft"`
}

type ruleSpec struct {
	ID      string    `yaml:"id"`
	Class   Class     `yaml:"class"`
	Dormant bool      `yaml:"dormant"`
	When    matchSpec `yaml:"when"`
}

// anonymous is the vendor name under which files keep mechanisms without one.
const anonymous = "generic"

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_]*$`)

// loadRules reads the signature files that name matches in fsys. Every fault of every file is reported, joined.
func loadRules(fsys fs.FS, glob string, keys *keySet) ([]rule, error) {
	names, err := fs.Glob(fsys, glob)
	if err != nil {
		return nil, fmt.Errorf("signatures %q: %w", glob, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("signatures %q: no such file", glob)
	}
	slices.Sort(names)
	var rules []rule
	var faults []error
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("signatures: %w", err)
		}
		rs, err := parseRules(name, src, keys)
		rules, faults = append(rules, rs...), append(faults, err)
	}
	return rules, errors.Join(append(faults, uniqueIDs(rules))...)
}

func parseRules(name string, src []byte, keys *keySet) ([]rule, error) {
	var file signatureFile
	if err := yaml.Load(src, &file, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if file.Version != 1 {
		return nil, fmt.Errorf("%s: version %d: this program reads version 1", name, file.Version)
	}
	var rules []rule
	var faults []error
	for _, v := range file.Vendors {
		for _, t := range []struct {
			table table
			specs []ruleSpec
		}{{definitive, v.Definitive}, {supporting, v.Supporting}, {ambient, v.Ambient}, {soft, v.Soft}} {
			for _, spec := range t.specs {
				r, err := spec.compile(v.Vendor, t.table, keys)
				if err != nil {
					faults = append(faults, fmt.Errorf("%s: rule %s.%s: %w", name, v.Vendor, spec.ID, err))
					continue
				}
				rules = append(rules, r)
			}
		}
	}
	return rules, errors.Join(faults...)
}

func (s *ruleSpec) compile(vendor string, t table, keys *keySet) (rule, error) {
	r := rule{id: vendor + "." + s.ID, vendor: vendor, table: t, class: s.Class, dormant: s.Dormant}
	if vendor == anonymous {
		r.vendor = ""
	}
	switch {
	case !idPattern.MatchString(vendor) || !idPattern.MatchString(s.ID):
		return rule{}, fmt.Errorf("vendor and id are words of a-z, 0-9 and _")
	case t == ambient && s.Class != "":
		return rule{}, fmt.Errorf("class %q: an ambient signal has no class, it decides nothing", s.Class)
	case t != ambient && !Known(s.Class):
		return rule{}, fmt.Errorf("class %q: no such class", s.Class)
	case t == soft && StageOf(s.Class) != StageOutput:
		return rule{}, fmt.Errorf("class %q: a soft failure belongs to the output stage", s.Class)
	case t != soft && t != ambient && (StageOf(s.Class) == StageOutput || StageOf(s.Class) == StageOK):
		return rule{}, fmt.Errorf("class %q: only the soft table may name it", s.Class)
	}
	var err error
	r.match, err = s.When.compile(keys)
	return r, err
}

func uniqueIDs(rules []rule) error {
	seen := map[string]bool{}
	var faults []error
	for _, r := range rules {
		if seen[r.id] {
			faults = append(faults, fmt.Errorf("rule %s: defined twice", r.id))
		}
		seen[r.id] = true
	}
	return errors.Join(faults...)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
