package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/report"
)

func TestRemoveTakesARunAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	f, err := report.Open(dir, report.Run{Hash: "a"}, nil)
	require.NoError(t, err)
	require.ErrorAs(t, report.Remove(dir), new(*report.InUseError), "a live run is never removed")
	require.NoError(t, f.Close())
	mine := filepath.Join(dir, "notes.txt")
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))

	require.NoError(t, report.Remove(dir))
	require.FileExists(t, mine)
	f, err = report.Open(dir, report.Run{Hash: "b"}, nil)
	require.NoError(t, err, "another run may begin")
	require.NoError(t, f.Close())
}

func TestRemoveLeavesAStrangeFolderAlone(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "results.jsonl")
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))
	require.NoError(t, report.Remove(dir))
	require.FileExists(t, mine)
	require.NoError(t, report.Remove(filepath.Join(dir, "none")))
}
