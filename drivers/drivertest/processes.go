package drivertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// processesOf lists the processes, by id and name, that have the folder in their command line or environment.
// Zombies have neither.
func processesOf(root string) (found []string) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join("/proc", entry.Name(), file)) //nolint:gosec // of the process table
			if err == nil && bytes.Contains(text, []byte(root)) {
				name, _, _ := bytes.Cut(text, []byte{0})
				found = append(found, entry.Name()+" "+string(name))
				break
			}
		}
	}
	return found
}
