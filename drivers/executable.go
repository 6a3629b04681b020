package drivers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The kinds of browser that FindExecutable knows by name.
const (
	// HeadlessShell is Chromium without a user interface. It needs about a fifth of Chromium's CPU time and
	// memory for each context and makes no requests of its own, so it is the default.
	HeadlessShell = "chromium-headless-shell"
	// Chromium is the whole browser, run headless.
	Chromium = "chromium"
)

// candidates lists where a kind is looked for, best first. The library folder comes before the PATH because
// Debian's /usr/bin/chromium-headless-shell is a shell script that stays as the browser's parent: a signal to it
// would not reach the browser.
func candidates(kind string) []string {
	switch kind {
	case HeadlessShell:
		return []string{"/usr/lib/chromium/chromium-headless-shell", HeadlessShell, "chrome-headless-shell", "headless_shell"}
	case Chromium:
		return []string{Chromium, "chromium-browser"}
	default:
		return nil
	}
}

// FindExecutable gives the absolute path of the browser that kind asks for: HeadlessShell, Chromium, a path, or
// empty for the first of the two that is installed. The error is of kind LaunchFailed and says what to install or
// to change; it wraps ErrNoBrowser when a name was looked for.
func FindExecutable(kind string) (string, error) {
	if strings.ContainsRune(kind, filepath.Separator) {
		return named(kind)
	}
	names := append(candidates(HeadlessShell), candidates(Chromium)...)
	if kind != "" {
		if names = candidates(kind); names == nil {
			return "", findError(kind, fmt.Errorf("unknown browser: use %s, %s or a path in browser.executable", HeadlessShell, Chromium))
		}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", findError(kind, ErrNoBrowser)
}

// named checks a path that the user gave.
func named(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", findError(path, fmt.Errorf("%w: correct browser.executable, or leave it out to use the installed browser", err))
	case info.IsDir(), info.Mode().Perm()&0o111 == 0:
		return "", findError(path, fmt.Errorf("not an executable file: correct browser.executable, or leave it out to use the installed browser"))
	}
	if path == "/usr/bin/"+HeadlessShell {
		// Debian's script and nothing else: what it runs is taken, for the reason given at candidates.
		return FindExecutable(HeadlessShell)
	}
	return filepath.Abs(path)
}

func findError(what string, err error) error {
	return &Error{Kind: LaunchFailed, Op: "find browser", What: what, Err: err}
}
