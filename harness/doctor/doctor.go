// Package doctor looks at a machine and says what would keep jobs from running on it.
package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/limpet-dev/limpet/drivers"
)

// A Level says how bad a finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // jobs run, worse than they could
	Bad  Level = "bad"  // jobs do not run
)

// A Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Found string `json:"found"`
	Fix   string `json:"fix,omitempty"` // what to do; empty when there is nothing
}

// Options says what to look at.
type Options struct {
	// Driver is launched once. Required.
	Driver drivers.Driver
	// Launch is how.
	Launch drivers.LaunchOptions
}

const (
	launchLimit = 60 * time.Second
	// minShm is what Docker gives a container by default, on which tabs crash on heavy pages (FC01-10).
	minShm = 65 << 20
	// minFiles is about what twenty contexts with a page of sixty subresources each hold open.
	minFiles = 4096
	// minDisk is room for a profile and some traces.
	minDisk = 512 << 20
)

// Check runs every check, in the order in which a job would meet them.
func Check(ctx context.Context, o Options) []Finding {
	return []Finding{
		browser(ctx, o), sandbox(o), shm(), files(), temp(o.Launch.TempRoot), clock(time.Now()), reaper(),
	}
}

// browser starts the browser for real and ends it: nothing less proves that it can be.
func browser(ctx context.Context, o Options) Finding {
	f := Finding{Check: "browser (" + o.Driver.Name() + ")"}
	ctx, cancel := context.WithTimeout(ctx, launchLimit)
	defer cancel()
	b, err := o.Driver.Launch(ctx, o.Launch)
	if err != nil {
		f.Level, f.Found = Bad, err.Error()
		f.Fix = "make setup installs Debian's chromium-headless-shell and the Playwright driver package"
		return f
	}
	f.Level, f.Found = OK, b.Version()+" starts"
	if err := b.Close(ctx); err != nil {
		f.Level, f.Found = Warn, f.Found+", but does not end cleanly: "+err.Error()
		f.Fix = "look for a browser that was left running, and report this with limpet doctor --json"
	}
	return f
}

func sandbox(o Options) Finding {
	f := Finding{Check: "sandbox", Level: OK}
	switch {
	case os.Getuid() == 0:
		f.Level, f.Found = Warn, "running as root, where Chromium has no sandbox"
		f.Fix = "run limpet as an ordinary user and set browser.sandbox: true"
	case !o.Launch.Sandbox:
		f.Level, f.Found = Warn, "off by configuration"
		f.Fix = "set browser.sandbox: true"
	default:
		f.Found = "on"
	}
	return f
}

func shm() Finding {
	f := Finding{Check: "shared memory", Level: OK}
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err != nil {
		f.Level, f.Found = Warn, "/dev/shm: "+err.Error()
		f.Fix = "mount a tmpfs at /dev/shm"
		return f
	}
	size := st.Blocks * uint64(st.Bsize) //nolint:gosec // a block size is positive
	f.Found = mebibytes(size)
	if size < minShm {
		f.Level, f.Fix = Warn, "give the container more, for example --shm-size=1g: tabs crash on heavy pages"
	}
	return f
}

func files() Finding {
	f := Finding{Check: "file descriptors", Level: OK}
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		f.Level, f.Found = Warn, err.Error()
		return f
	}
	f.Found = fmt.Sprintf("%d", lim.Cur)
	if lim.Cur < minFiles {
		f.Level, f.Fix = Warn, fmt.Sprintf("ulimit -n %d", minFiles)
	}
	return f
}

func temp(root string) Finding {
	if root == "" {
		root = os.TempDir()
	}
	f := Finding{Check: "temporary folder", Level: OK}
	probe, err := os.CreateTemp(root, "limpet-doctor-*")
	if err != nil {
		f.Level, f.Found = Bad, err.Error()
		f.Fix = "make it writable, or name another with TMPDIR"
		return f
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err == nil {
		free := st.Bavail * uint64(st.Bsize) //nolint:gosec // a block size is positive
		f.Found = fmt.Sprintf("%s, %s free", filepath.Clean(root), mebibytes(free))
		if free < minDisk {
			f.Level, f.Fix = Warn, "free some space: profiles and traces need it"
		}
	}
	return f
}

// clock notices a machine whose clock was never set: certificates and Retry-After dates would all be judged
// wrongly.
func clock(now time.Time) Finding {
	f := Finding{Check: "clock", Level: OK, Found: now.UTC().Format(time.RFC3339)}
	if now.Year() < 2026 {
		f.Level, f.Fix = Bad, "set the clock: certificates and Retry-After dates are judged by it"
	}
	return f
}

// reaper warns when nobody collects the children of a browser that died.
func reaper() Finding {
	f := Finding{Check: "process 1", Level: OK, Found: "another process"}
	if os.Getpid() == 1 {
		f.Level, f.Found = Warn, "limpet itself, which does not reap orphans"
		f.Fix = "run the container with an init, for example docker run --init"
	}
	return f
}

func mebibytes(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }
