package classify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Options are what a Classifier can be given beyond its built-in signatures. The zero value is usable.
type Options struct {
	// Signatures are further rule files, read after the built-in ones; New reports what is wrong with them.
	Signatures []Source
}

// A Source is a signature file that somebody else has read.
type Source struct {
	Name string // for errors
	Data []byte // YAML in the shape of the built-in files
}

// maxCompiled is how many expectations a Classifier keeps compiled: a run has as many as it has jobs that
// differ, and one that is forgotten costs well under a millisecond.
const maxCompiled = 256

// A Classifier judges evidence. It is safe for concurrent use; what it remembers are compiled rules and
// expectations, never anything about evidence.
type Classifier struct {
	keys  *keySet
	walls []rule // definitive, supporting, ambient: in the order of the files, which is their precedence
	soft  []rule

	mu       sync.Mutex
	compiled map[string]*Compiled // by the expectation's JSON
}

// New compiles the signatures. Its error names every file and rule at fault.
func New(o Options) (*Classifier, error) {
	c := &Classifier{keys: newKeySet(), compiled: map[string]*Compiled{}}
	rules, err := loadRules(builtin, "signatures/*.yaml", c.keys)
	faults := []error{err}
	for _, s := range o.Signatures {
		rs, err := parseRules(s.Name, s.Data, c.keys)
		rules, faults = append(rules, rs...), append(faults, err)
	}
	faults = append(faults, uniqueIDs(rules))
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("signatures: %w", err)
	}
	for _, r := range rules {
		if r.table == soft {
			c.soft = append(c.soft, r)
		} else {
			c.walls = append(c.walls, r)
		}
	}
	return c, nil
}

// Classify judges ev. It does no I/O, reads no clock and never panics; the same evidence always gets the same
// judgement. It takes time and memory proportional to the page, of which at most 8 MiB are looked at.
func (c *Classifier) Classify(ev Evidence) Judgement {
	j := judge{c: c, ev: &ev}
	return j.run()
}

// compile gives ev's expectation compiled; nil without one.
func (c *Classifier) compile(e *Expectation) (*Compiled, error) {
	if e == nil {
		return nil, nil //nolint:nilnil // no expectation is a valid one
	}
	key, err := json.Marshal(e)
	if err != nil {
		return e.Compile() // a schema that is no JSON: Compile says so
	}
	c.mu.Lock()
	done := c.compiled[string(key)]
	c.mu.Unlock()
	if done != nil {
		return done, nil
	}
	own := *e // what the caller does to e later must not reach what is kept
	own.Schema = bytes.Clone(e.Schema)
	done, err = own.Compile()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.compiled) >= maxCompiled {
		clear(c.compiled)
	}
	c.compiled[string(key)] = done
	return done, nil
}
