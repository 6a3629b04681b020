package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxNameBytes is how much of a job's id a file name holds. File systems allow 255 bytes for a whole name.
const maxNameBytes = 120

// TracePath is where the trace of an attempt (from 1) belongs: abs is the file to write, whose folder may not
// exist yet, and rel is what a Result says, "traces/JOB-ATTEMPT.zip".
func (f *Folder) TracePath(job string, attempt int) (abs, rel string) {
	rel = tracesDir + "/" + safeName(job) + "-" + strconv.Itoa(attempt) + ".zip"
	return filepath.Join(f.dir, filepath.FromSlash(rel)), rel
}

// safeName makes a job's id fit for a file name on every system. An id that had to be changed gets a piece of
// its hash, so that two jobs never share a file.
func safeName(id string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		default:
			return '_'
		}
	}, id)
	safe = strings.TrimLeft(safe, ".-") // no hidden files, nothing that looks like a flag
	if len(safe) > maxNameBytes {
		safe = safe[:maxNameBytes]
	}
	if safe == id && id != "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return safe + "~" + hex.EncodeToString(sum[:4])
}

func sortResults(results []Result) {
	slices.SortFunc(results, func(a, b Result) int { return natural(a.Job, b.Job) })
}

// natural compares as people count: digits by their value, the rest letter by letter.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		nx, restX := number(x)
		ny, restY := number(y)
		if nx != "" && ny != "" {
			if c := cmp.Or(cmp.Compare(len(nx), len(ny)), strings.Compare(nx, ny)); c != 0 {
				return c
			}
			x, y = restX, restY
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// number takes the digits off the front of s, without leading zeros but for the last one.
func number(s string) (digits, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	digits = strings.TrimLeft(s[:n], "0")
	if digits == "" && n > 0 {
		digits = "0"
	}
	return digits, s[n:]
}
