package playwright

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// minNode is the oldest major version of node that playwright-core 1.64 names in its engines field.
const minNode = 20

// installHint is what puts the package where the lookup finds it.
const installHint = "run: npm ci --prefix drivers/playwright/node"

// Version is the version of the npm package playwright-core that the library demands, and no other.
func Version() (string, error) {
	// With a folder named, the library neither looks for one nor makes one.
	d, err := pw.NewDriver(&pw.RunOptions{DriverDirectory: "."})
	if err != nil {
		return "", fmt.Errorf("ask the library for its version: %w", err)
	}
	return d.Version, nil
}

// findPackage gives the absolute path of playwright-core in the first of dirs that holds the wanted version.
func findPackage(dirs []string, want string) (string, error) {
	found := make([]string, 0, len(dirs))
	for _, dir := range dirs {
		core, err := filepath.Abs(filepath.Join(dir, "node_modules", "playwright-core"))
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", dir, err)
		}
		got, err := packageVersion(core)
		switch {
		case err == nil && got == want:
			return core, nil
		case err == nil:
			found = append(found, fmt.Sprintf("%s (version %s)", core, got))
		case errors.Is(err, fs.ErrNotExist):
			found = append(found, core+" (missing)")
		default:
			found = append(found, fmt.Sprintf("%s (%v)", core, err))
		}
	}
	return "", launchFailed(fmt.Errorf("no npm package playwright-core %s; looked at %s; %s",
		want, strings.Join(found, ", "), installHint))
}

// packageVersion reads the version of the npm package in dir.
func packageVersion(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "package.json")) //nolint:gosec // the operator names the folder
	if err != nil {
		return "", err
	}
	var p struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return "", fmt.Errorf("package.json: %w", err)
	}
	return p.Version, nil
}

// defaultDirs is where the package is looked for when nobody names a folder, best first.
func defaultDirs() []string {
	dirs := []string{
		filepath.Join("drivers", "playwright", "node"), // a checkout of Limpet
		filepath.Join(".limpet", "playwright"),         // an operator's working folder
	}
	if exe, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Join(filepath.Dir(exe), "playwright"))
	}
	return dirs
}

// findNode gives the absolute path of a node that is new enough. Empty means the one on the PATH.
func findNode(ctx context.Context, path string) (string, error) {
	if path == "" {
		path = "node"
	}
	node, err := exec.LookPath(path)
	if err != nil {
		return "", launchFailed(fmt.Errorf("no Node.js %d or newer: %w; install Debian's package nodejs, or name a node", minNode, err))
	}
	if node, err = filepath.Abs(node); err != nil {
		return "", launchFailed(fmt.Errorf("resolve %s: %w", path, err))
	}
	out, err := exec.CommandContext(ctx, node, "--version").Output() //nolint:gosec // the operator names the program
	if err != nil {
		return "", launchFailed(fmt.Errorf("%s --version: %w", node, err))
	}
	version := strings.TrimSpace(string(out))
	if nodeMajor(version) < minNode {
		return "", launchFailed(fmt.Errorf("%s is Node.js %s, and playwright-core needs %d or newer", node, version, minNode))
	}
	return node, nil
}

// nodeMajor reads the major version of "v20.20.2"; 0 if there is none.
func nodeMajor(version string) int {
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}

// launchFailed makes err an error of kind LaunchFailed.
func launchFailed(err error) error {
	return &drivers.Error{Kind: drivers.LaunchFailed, Op: "launch", What: Name, Err: err}
}
