package playwright

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed shim.js
var shim []byte

// A stage is the folder of one launch: the layout that the library expects around node and cli.js, and the
// temporary folder of node and the browser.
//
// The library takes the paths of node and cli.js from the environment, which belongs to the program's user, or
// from one folder that holds both. The stage is that folder: a link to node, and a few lines of script that
// load the installed package, which stays as npm left it. The library's Install would rewrite the package's
// bundle to guard page errors without a location; with Chromium there is always one (stackTraceToLocation), and
// only the other browsers' code needs the guard.
type stage struct {
	root   string // removed at the end, with all that is in it
	driver string // for RunOptions.DriverDirectory
	temp   string // TMPDIR of node and the browser
	stderr string // a named pipe
}

// newStage makes the folder under tempRoot.
func newStage(tempRoot, node, core string) (*stage, error) {
	root, err := os.MkdirTemp(tempRoot, "limpet-playwright-")
	if err != nil {
		return nil, fmt.Errorf("make the folder of a launch: %w", err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, fmt.Errorf("resolve the folder of a launch: %w", err)
	}
	s := &stage{
		root:   root,
		driver: filepath.Join(root, "driver"),
		temp:   filepath.Join(root, "tmp"),
		stderr: filepath.Join(root, "stderr"),
	}
	if err := s.fill(node, core); err != nil {
		_ = s.remove()
		return nil, fmt.Errorf("prepare the folder of a launch: %w", err)
	}
	return s, nil
}

// fill writes what the library and the script look for.
func (s *stage) fill(node, core string) error {
	pkg := filepath.Join(s.driver, "package")
	for _, dir := range []string{s.temp, pkg} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Symlink(node, filepath.Join(s.driver, "node")); err != nil {
		return err
	}
	settings, err := json.Marshal(map[string]string{"core": core, "temp": s.temp, "stderr": s.stderr})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(pkg, "stage.json"), settings, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(pkg, "cli.js"), shim, 0o600)
}

// remove deletes the folder.
func (s *stage) remove() error {
	if err := os.RemoveAll(s.root); err != nil {
		return fmt.Errorf("remove the folder of a launch: %w", err)
	}
	return nil
}
