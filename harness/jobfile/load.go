package jobfile

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/limpet-dev/limpet/harness/strict"
)

// Options say what to load. Only Files is required.
type Options struct {
	// Files are job files, read in this order.
	Files []string
	// Env looks up {{env.NAME}}. Nil means that nothing is set.
	Env func(name string) (value string, ok bool)
	// Now is when authorizations are judged. Zero means the present.
	Now time.Time
}

// maxJobs bounds what foreach makes of one call: all jobs are in memory at once, at about 3 KB each.
const maxJobs = 100_000

// Load reads job files and what they name (rows of foreach, schemas of records) into jobs, in the order of the files.
// The error is strict.Errors and holds every fault of every file; there are no jobs then.
func Load(o Options) ([]Job, error) {
	l := loader{env: o.Env, now: o.Now, ids: map[string]Position{}, selectors: map[string]error{}, schemas: map[string]schemaFile{}}
	if l.env == nil {
		l.env = func(string) (string, bool) { return "", false }
	}
	if l.now.IsZero() {
		l.now = time.Now()
	}
	if len(o.Files) == 0 {
		return nil, fmt.Errorf("no job file to read")
	}
	for _, file := range o.Files {
		l.file(file)
	}
	if err := l.faults.Err(); err != nil {
		return nil, err
	}
	return l.jobs, nil
}

// A loader reads one set of files.
type loader struct {
	env    func(string) (string, bool)
	now    time.Time
	faults strict.Faults
	jobs   []Job

	ids       map[string]Position   // where each id was first used
	selectors map[string]error      // compiled before: rows of a foreach repeat them
	schemas   map[string]schemaFile // by path
	gotos     []placedURL           // of the present file
	full      bool                  // maxJobs was reported
}

// file reads one job file.
func (l *loader) file(name string) {
	root, err := strict.Load(name)
	if err != nil {
		l.faults.Add(name, err)
		return
	}
	compiledSchema().Check(root, &l.faults)
	if root.Kind != strict.Map {
		return
	}
	first := len(l.jobs)
	defaults := root.Get("defaults")
	for _, n := range root.Get("jobs").Items() {
		l.expand(strict.Merge(defaults, n))
	}
	l.scope(root, l.jobs[first:])
}

// expand makes one job of a job's node for each row of its foreach.
func (l *loader) expand(n *strict.Node) {
	rows, ok := l.rows(n.Get("foreach"))
	if !ok {
		return
	}
	template := n.Without("foreach")
	for _, row := range rows {
		if len(l.jobs) >= maxJobs {
			if !l.full {
				l.faults.Addf(n, "split the file, or make several runs of it", "the jobs are more than %d with this one", maxJobs)
			}
			l.full = true
			return
		}
		v := variables{row: row, env: l.env, faults: &l.faults}
		l.job(template.Rewrite(v.fill), v)
	}
}

// beside is a path that a file names, relative to that file.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}
