package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove takes away what an earlier run left in dir, so that another may begin there. A folder that does not say
// that it is a run's is left alone, and so is every file in it that no run makes. The error is an *InUseError
// while a process writes to the folder. A folder that is not there is no error.
func Remove(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, runFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return explain(dir, err)
	}
	lock, err := acquire(dir)
	if err != nil {
		return explain(dir, err)
	}
	defer lock.Close()
	// run.json goes last: while it is there, a Remove that was cut short can be done again.
	for _, name := range []string{tracesDir, recordsFile, resultsFile, eventsFile, summaryFile, pageFile, runFile} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("output folder %s: %w", dir, err)
		}
	}
	return nil
}
