package report

import (
	"bytes"
	"encoding/json"
	"errors"
)

// repair makes the records agree with the results after a crash, and forgets jobs that were cancelled. It
// answers the results that are left.
func (f *Folder) repair() (map[string]Result, error) {
	done := map[string]Result{}
	keep := func(r Result) bool {
		_, twice := done[r.Job]
		if !r.State.Final() || twice {
			return false
		}
		done[r.Job] = r
		return true
	}
	if err := filterLines(&f.results, keep); err != nil {
		return nil, err
	}
	return done, filterLines(&f.records, func(r Record) bool {
		_, ended := done[r.Job]
		return ended
	})
}

// filterLines rewrites a file without the lines that keep refuses. A file without such lines is left alone.
func filterLines[T any](l **lineFile, keep func(T) bool) error {
	var kept bytes.Buffer
	dropped := false
	err := readLines((*l).path, func(raw json.RawMessage) error {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil || !keep(v) {
			dropped = true
			return nil //nolint:nilerr // a line that is no T was not written by us
		}
		kept.Write(raw)
		kept.WriteByte('\n')
		return nil
	})
	if err != nil || !dropped {
		return err
	}
	path := (*l).path
	if err := errors.Join((*l).close(), writeWhole(path, kept.Bytes())); err != nil {
		return err
	}
	*l, err = openLines(path)
	return err
}
