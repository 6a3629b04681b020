package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A lineFile is a file of JSON lines that grows by whole lines. It takes no lock: the Folder does.
type lineFile struct {
	path string
	f    *os.File
	size int64 // of the whole lines
}

// openLines opens the file at path, making it if need be, and cuts a torn last line off: a crash or a full disk
// can leave one.
func openLines(path string) (*lineFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // results are for everybody to read
	if err != nil {
		return nil, err
	}
	size, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lineFile{path: path, f: f, size: size}, nil
}

// wholeLines is the length of the part of f that is whole lines of JSON.
func wholeLines(f io.Reader) (int64, error) {
	var size int64
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if err != nil || !json.Valid(line) {
			return size, nil //nolint:nilerr // the end of the file ends the whole lines
		}
		size += int64(len(line))
	}
}

// append adds lines with one Write call. When that fails the file is cut back to what it was.
func (l *lineFile) append(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if _, err := l.f.WriteAt(lines, l.size); err != nil {
		return errors.Join(err, l.f.Truncate(l.size))
	}
	l.size += int64(len(lines))
	return nil
}

// back undoes what was appended since the file had size bytes.
func (l *lineFile) back(size int64) error {
	l.size = size
	return l.f.Truncate(size)
}

func (l *lineFile) close() error {
	return errors.Join(l.f.Sync(), l.f.Close())
}

// encodeLines writes each value as a line of JSON in which every string has passed redact.
func encodeLines[T any](values []T, redact func(string) string) ([]byte, error) {
	var b bytes.Buffer
	for _, v := range values {
		line, err := encodeRedacted(v, redact)
		if err != nil {
			return nil, err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// readLines calls each with every line of the file at path, in order. A missing file has no lines.
func readLines[T any](path string, each func(T) error) error {
	f, err := os.Open(path) //nolint:gosec // our own folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for n := 1; ; n++ {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if err := each(v); err != nil {
			return err
		}
	}
}
