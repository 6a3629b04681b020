package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Run identifies a run: what its folder may be resumed with.
type Run struct {
	// Hash stands for everything that makes the run what it is: job files, configuration, driver. A folder
	// is resumed by a run of the same hash only.
	Hash    string    `json:"hash"`
	Files   []string  `json:"files"` // job files, for people
	Driver  string    `json:"driver"`
	Browser string    `json:"browser,omitempty"` // name and version
	Version string    `json:"version,omitempty"` // of Limpet
	Started time.Time `json:"started"`           // zero: now. A resumed run keeps its first start
}

const (
	runFile     = "run.json"
	recordsFile = "records.jsonl"
	resultsFile = "results.jsonl"
	eventsFile  = "events.jsonl"
	summaryFile = "summary.json"
	pageFile    = "report.html"
	tracesDir   = "traces"
	lockFile    = ".lock"
)

// An OtherRunError reports that a folder holds another run. Nothing in it was touched.
type OtherRunError struct {
	Dir   string
	Other Run // zero if the folder does not say
}

// Error says what the folder holds and what to do.
func (e *OtherRunError) Error() string {
	what := "results of an unknown run"
	if e.Other.Hash != "" {
		what = fmt.Sprintf("another run (%s with %s, begun %s)", strings.Join(e.Other.Files, ", "), e.Other.Driver,
			e.Other.Started.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return fmt.Sprintf("output folder %s holds %s: name another folder with --out, or remove this one to start over", e.Dir, what)
}

// An InUseError reports that a live process writes to the folder.
type InUseError struct {
	Dir string
	PID string // empty if it did not say
}

// Error says who uses the folder and what to do.
func (e *InUseError) Error() string {
	who := "another limpet"
	if e.PID != "" {
		who += " (process " + e.PID + ")"
	}
	return fmt.Sprintf("output folder %s is in use by %s: wait until it ends, or name another folder with --out", e.Dir, who)
}

// claim makes the folder that of run, or finds that it is. resumed reports which.
func claim(dir string, run Run) (_ Run, resumed bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, runFile)) //nolint:gosec // the folder that the operator named
	if err == nil {
		var found Run
		if json.Unmarshal(b, &found) != nil || found.Hash != run.Hash {
			return Run{}, false, &OtherRunError{Dir: dir, Other: found}
		}
		found.Browser, found.Version = run.Browser, run.Version
		return found, true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Run{}, false, err
	}
	for _, name := range []string{recordsFile, resultsFile, eventsFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return Run{}, false, &OtherRunError{Dir: dir}
		}
	}
	if run.Started.IsZero() {
		run.Started = time.Now().UTC()
	}
	b, err = json.MarshalIndent(run, "", "  ")
	if err != nil {
		return Run{}, false, err
	}
	return run, false, writeWhole(filepath.Join(dir, runFile), append(b, '\n'))
}

// writeWhole puts a file in place, or leaves what was there.
func writeWhole(path string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp makes files that nobody else may read; these are for everybody
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
