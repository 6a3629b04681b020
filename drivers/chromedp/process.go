package chromedp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	lib "github.com/chromedp/chromedp"

	"github.com/limpet-dev/limpet/drivers"
)

// A stage is the folder of one launch: the browser's home, profile and temporary files, removed with it.
type stage struct{ root string }

func newStage(tempRoot string) (stage, error) {
	root, err := os.MkdirTemp(tempRoot, "limpet-")
	if err != nil {
		return stage{}, fmt.Errorf("make the browser's folder: %w", err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return stage{}, fmt.Errorf("resolve the browser's folder: %w", err)
	}
	s := stage{root}
	if err := os.Mkdir(s.temp(), 0o700); err != nil {
		return stage{}, errors.Join(fmt.Errorf("make the browser's folder: %w", err), s.remove())
	}
	return s, nil
}

func (s stage) profile() string { return filepath.Join(s.root, "profile") }

// temp has a short name: full Chromium makes a socket below it, and refuses to start when the path of that has more
// than 107 bytes. It adds 43, this folder about 20, which leaves 44 for the root that the user chooses.
func (s stage) temp() string { return filepath.Join(s.root, "t") }

func (s stage) remove() error {
	if err := os.RemoveAll(s.root); err != nil {
		return fmt.Errorf("remove the browser's folder: %w", err)
	}
	return nil
}

// options is how the library starts the browser. Its own defaults are left out: drivers.Flags has those that matter.
func (s stage) options(exe string, o drivers.LaunchOptions, tail *tail) []lib.ExecAllocatorOption {
	options := []lib.ExecAllocatorOption{
		lib.ExecPath(exe),
		lib.UserDataDir(s.profile()),
		// The program's own environment may hold secrets, which have no business in a browser.
		lib.NoInheritEnv,
		lib.Env("HOME="+s.root, "TMPDIR="+s.temp(), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"),
		lib.CombinedOutput(tail),
		lib.ModifyCmdFunc(func(cmd *exec.Cmd) {
			// The death signal is the library's default, which this function replaces. A group of its own keeps
			// the terminal's interrupt away from the browser and lets all its processes be ended at once.
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
		}),
	}
	if o.Sandbox {
		options = append(options, lib.Flag("no-sandbox", false))
	} else {
		options = append(options, lib.Flag("no-sandbox", true))
	}
	for _, flag := range append(ownFlags(), drivers.Flags(o)...) {
		name, value, valued := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if valued {
			options = append(options, lib.Flag(name, value))
		} else {
			options = append(options, lib.Flag(name, true))
		}
	}
	return options
}

// ownFlags are those that Playwright passes by itself and this driver has to.
func ownFlags() []string {
	return []string{
		"--headless", "--hide-scrollbars", "--mute-audio", "--no-first-run", "--no-default-browser-check",
		"--no-service-autorun", "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding", "--disable-back-forward-cache", "--disable-breakpad",
		"--disable-client-side-phishing-detection", "--disable-component-extensions-with-background-pages",
		"--disable-default-apps", "--disable-dev-shm-usage", "--disable-extensions", "--disable-hang-monitor",
		"--disable-ipc-flooding-protection", "--disable-popup-blocking", "--disable-prompt-on-repost",
		"--disable-search-engine-choice-screen", "--disable-sync", "--enable-automation", "--force-color-profile=srgb",
		"--metrics-recording-only", "--password-store=basic", "--use-mock-keychain",
	}
}

// endGroup kills what is left of a process group and waits until it is gone or ctx ends.
func endGroup(ctx context.Context, pgid int) error {
	if pgid <= 0 {
		return nil
	}
	// The kernel tells nobody when a group becomes empty. A killed child is gone within milliseconds.
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		if err := syscall.Kill(-pgid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("processes of group %d are left: %w", pgid, context.Cause(ctx))
		}
	}
}

// maxTail is how much of what the browser wrote is kept for an error, in bytes.
const maxTail = 2000

// A tail is a writer that keeps the end of what was written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - maxTail; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

// String is what was kept, on one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(string(t.text), "")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " | ")
}
