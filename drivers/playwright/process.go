package playwright

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// pollGone is how often a dying process is looked at: it takes 0.2 to 0.7 s to go.
const pollGone = 10 * time.Millisecond

// waitGone waits until the process is gone or a zombie that only its new parent can reap. When ctx ends first it
// kills what is left.
func waitGone(ctx context.Context, pid int) error {
	if pid <= 0 {
		return nil
	}
	tick := time.NewTicker(pollGone)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			killGroup(pid)
			return fmt.Errorf("browser process %d outlived its end: %w", pid, context.Cause(ctx))
		}
	}
	return nil
}

// killGroup kills the browser with its process group, which it leads: the library starts it so.
func killGroup(pid int) {
	if pid <= 0 || !alive(pid) {
		return
	}
	if group, err := syscall.Getpgid(pid); err == nil && group == pid {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		return
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// alive reports whether the process runs. A zombie does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	// "pid (name) state …", and the name may hold anything.
	rest := bytes.TrimLeft(stat[bytes.LastIndexByte(stat, ')')+1:], " ")
	return len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
}
