package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is USER_HZ, which Linux fixes at 100 for what it shows in /proc.
const ticks = 100

// ownCPU is the CPU time of this process, without its children.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// childrenCPU is the CPU time of all that live below this process but the shop, with what their own ended children
// used. Children that nobody waited for are missing, for every arm alike.
func childrenCPU() (time.Duration, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	parent, used := map[int]int{}, map[int]int64{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // ended meanwhile
		}
		// The name stands in parentheses and may hold anything; the numbers follow the last one.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		parent[pid], _ = strconv.Atoi(fields[1])
		for _, f := range fields[11:15] { // utime, stime, cutime, cstime
			n, _ := strconv.ParseInt(f, 10, 64)
			used[pid] += n
		}
	}
	var sum int64
	for pid := range used {
		if pid == shopPID {
			continue
		}
		for p := parent[pid]; p > 0; p = parent[p] {
			if p == os.Getpid() {
				sum += used[pid]
				break
			}
		}
	}
	return time.Duration(sum) * time.Second / ticks, nil
}
