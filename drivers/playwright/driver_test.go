package playwright_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/drivertest"
	"github.com/limpet-dev/limpet/drivers/playwright"
)

func TestDriver(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser")
	}
	drivertest.Run(t, playwright.New(playwright.Config{DriverDir: "node"}))
}

func TestLockfilePinsTheVersionThatTheLibraryDemands(t *testing.T) {
	want, err := playwright.Version()
	require.NoError(t, err)
	data, err := os.ReadFile("node/package.json")
	require.NoError(t, err)
	require.Contains(t, string(data), `"playwright-core": "`+want+`"`)
	lock, err := os.ReadFile("node/package-lock.json")
	require.NoError(t, err)
	require.Contains(t, string(lock), `"version": "`+want+`"`)
	require.NotContains(t, string(lock), "resolved", "the lockfile names a registry")
}

func TestMissingPartsFailTheLaunchAndSayWhatToDo(t *testing.T) {
	browser := filepath.Join(t.TempDir(), "browser")
	require.NoError(t, os.WriteFile(browser, []byte("#!/bin/sh\n"), 0o700))
	old := t.TempDir()
	core := filepath.Join(old, "node_modules", "playwright-core")
	require.NoError(t, os.MkdirAll(core, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(core, "package.json"), []byte(`{"version":"1.2.3"}`), 0o600))
	version, err := playwright.Version()
	require.NoError(t, err)
	good := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(good, "node_modules", "playwright-core"), os.DirFS(core)))
	require.NoError(t, os.WriteFile(filepath.Join(good, "node_modules", "playwright-core", "package.json"), []byte(`{"version":"`+version+`"}`), 0o600))
	oldNode := filepath.Join(t.TempDir(), "node")
	require.NoError(t, os.WriteFile(oldNode, []byte("#!/bin/sh\necho v16.1.0\n"), 0o700))
	empty := t.TempDir()

	for name, c := range map[string]struct {
		config playwright.Config
		says   []string
	}{
		"no package":      {playwright.Config{DriverDir: empty}, []string{empty, "missing", "npm ci --prefix drivers/playwright/node"}},
		"another version": {playwright.Config{DriverDir: old}, []string{old, "1.2.3", version, "npm ci"}},
		"no node":         {playwright.Config{DriverDir: good, NodePath: "/does/not/exist/node"}, []string{"/does/not/exist/node", "nodejs"}},
		"an old node":     {playwright.Config{DriverDir: good, NodePath: oldNode}, []string{oldNode, "v16.1.0", "20 or newer"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			_, err := playwright.New(c.config).Launch(t.Context(), drivers.LaunchOptions{Executable: browser, TempRoot: root})
			require.Equal(t, drivers.LaunchFailed, drivers.KindOf(err))
			for _, part := range c.says {
				require.ErrorContains(t, err, part)
			}
			left, err := os.ReadDir(root)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestNodeThatDiesIsALostDriver(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser")
	}
	root := t.TempDir()
	b, err := playwright.New(playwright.Config{DriverDir: "node"}).Launch(t.Context(), drivers.LaunchOptions{TempRoot: root})
	require.NoError(t, err)
	// Node is the parent of the browser.
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(b.PID()) + "/stat")
	require.NoError(t, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	node, err := strconv.Atoi(fields[1])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(node, syscall.SIGKILL))
	<-b.Done()
	require.Equal(t, drivers.DriverLost, drivers.KindOf(b.Err()))
	_, err = b.NewContext(t.Context(), drivers.ContextOptions{})
	require.Equal(t, drivers.DriverLost, drivers.KindOf(err))
	require.NoError(t, b.Close(t.Context()))
	left, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, left)
}
