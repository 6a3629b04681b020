package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every YAML block of the documentation is a job file or a configuration that validates.
func TestDocumentationValidates(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	jobs := filepath.Join(t.TempDir(), "jobs.yaml")
	require.NoError(t, os.WriteFile(jobs, firstJobs, 0o600))
	found := 0
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, b := range block.FindAllSubmatch(text, -1) {
			found++
			path := filepath.Join(t.TempDir(), "block.yaml")
			require.NoError(t, os.WriteFile(path, b[1], 0o600))
			args := []string{"validate", path}
			if !bytes.Contains(b[1], []byte("version: 1")) {
				args = []string{"validate", "--config", path, jobs}
			}
			env := func(name string) (string, bool) { return "value", name != "NO_COLOR" }
			var out, errs bytes.Buffer
			require.Zero(t, run(context.Background(), args, env, nil, &out, &errs), "%s:\n%s\n%s", file, b[1], &errs)
		}
	}
	require.GreaterOrEqual(t, found, 3)
}
