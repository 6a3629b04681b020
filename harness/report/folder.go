package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A Folder is the output folder of a run, held by this process until Close. Records and results are appended
// job by job and by whole lines, so that whatever ends the process leaves a folder that can be resumed. Its
// methods are safe for concurrent use.
type Folder struct {
	dir     string
	run     Run
	resumed bool
	redact  func(string) string
	lock    *os.File

	mu      sync.Mutex
	records *lineFile
	results *lineFile
	events  *lineFile
	done    map[string]Result
	closed  bool
}

// Open makes the folder, or resumes it if it holds the same run: records of jobs that never ended are dropped,
// and so are the results of cancelled jobs, which run again. Every string that is written passes redact; nil leaves
// them as they are. The error is an *OtherRunError or an *InUseError where the folder is not for this run.
func Open(dir string, run Run, redact func(string) string) (_ *Folder, err error) {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // results are for everybody to read
		return nil, explain(dir, err)
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, explain(dir, err)
	}
	f := &Folder{dir: dir, redact: redact, lock: lock}
	if err := f.load(run); err != nil {
		return nil, errors.Join(explain(dir, err), f.Close())
	}
	return f, nil
}

func (f *Folder) load(run Run) (err error) {
	if f.run, f.resumed, err = claim(f.dir, run); err != nil {
		return err
	}
	for _, part := range []struct {
		to   **lineFile
		name string
	}{{&f.records, recordsFile}, {&f.results, resultsFile}, {&f.events, eventsFile}} {
		if *part.to, err = openLines(f.Path(part.name)); err != nil {
			return err
		}
	}
	f.done, err = f.repair()
	return err
}

// Dir is the folder's path as it was given.
func (f *Folder) Dir() string { return f.dir }

// Run is what the folder holds; its start is that of the first try.
func (f *Folder) Run() Run { return f.run }

// Resumed reports whether the folder held this run before.
func (f *Folder) Resumed() bool { return f.resumed }

// Path is the path of a file of the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Done gives the results of the jobs that are done for good, by job. The caller owns the map.
func (f *Folder) Done() map[string]Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := make(map[string]Result, len(f.done))
	for job, r := range f.done {
		if r.State.Final() {
			done[job] = r
		}
	}
	return done
}

// Event appends an event. It is kept whether or not its job ends.
func (f *Folder) Event(e Event) error {
	line, err := encodeLines([]Event{e}, f.redact)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Event, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.closedError()
	}
	return explain(f.dir, f.events.append(line))
}

// Commit appends a job's records and then its result: a result says that everything of its job is there. When
// it fails, no part of them is left. A job is committed once.
func (f *Folder) Commit(result Result, records ...Record) error {
	result = f.tidy(result)
	recordLines, err1 := encodeLines(records, f.redact)
	resultLine, err2 := encodeLines([]Result{result}, f.redact)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("job %s: %w", result.Job, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.closedError()
	}
	if _, twice := f.done[result.Job]; twice {
		return fmt.Errorf("job %s has ended before: a job has one result", result.Job)
	}
	before := f.records.size
	if err := f.records.append(recordLines); err != nil {
		return explain(f.dir, err)
	}
	if err := f.results.append(resultLine); err != nil {
		return explain(f.dir, errors.Join(err, f.records.back(before)))
	}
	f.done[result.Job] = result
	return nil
}

// tidy makes the result what its line is to be: no null list, and a trace path relative to the folder.
func (f *Folder) tidy(r Result) Result {
	if r.Exits == nil {
		r.Exits = []string{}
	}
	if rel, err := filepath.Rel(f.dir, string(r.Trace)); err == nil && r.Trace != "" && filepath.IsLocal(rel) {
		r.Trace = Nullable(filepath.ToSlash(rel))
	}
	return r
}

// Results gives every result so far, sorted by job as people count: job-2 before job-10.
func (f *Folder) Results() []Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Result, 0, len(f.done))
	for _, r := range f.done {
		all = append(all, r)
	}
	sortResults(all)
	return all
}

// Events reads every event so far.
func (f *Folder) Events() ([]Event, error) {
	var all []Event
	err := readLines(f.Path(eventsFile), func(e Event) error { all = append(all, e); return nil })
	return all, err
}

// Records reads the first n records.
func (f *Folder) Records(n int) ([]Record, error) {
	var first []Record
	err := readLines(f.Path(recordsFile), func(r Record) error {
		if len(first) == n {
			return errEnough
		}
		first = append(first, r)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return first, err
}

var errEnough = errors.New("enough")

// Close writes what the system still holds to the disk and gives the folder free. It may be called twice.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	var errs []error
	for _, l := range []*lineFile{f.records, f.results, f.events} {
		if l != nil {
			errs = append(errs, l.close())
		}
	}
	return errors.Join(append(errs, f.lock.Close())...)
}

func (f *Folder) closedError() error {
	return fmt.Errorf("output folder %s: %w", f.dir, fs.ErrClosed)
}

// acquire takes the folder for this process. The system gives it free when the process ends, however it ends.
func acquire(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // holds a process id
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer lock.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		pid := make([]byte, 20)
		n, _ := lock.Read(pid) // no id is as good as an unreadable one
		return nil, &InUseError{Dir: dir, PID: strings.TrimSpace(string(pid[:n]))}
	}
	err = lock.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(lock, "%d\n", os.Getpid())
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}
