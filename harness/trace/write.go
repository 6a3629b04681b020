package trace

import (
	"archive/zip"
	"bufio"
	"crypto/sha1" //nolint:gosec // the viewer names files by SHA-1; nothing rests on it
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// write makes the archive under a temporary name and puts it in place when it is whole.
func write(path string, m Meta, r recording, red *Redactor) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // results are for everybody to read
		return fmt.Errorf("trace: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("trace %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	err = archive(w, m, r, red)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp makes files that nobody else may read
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// archive writes the zip file. Whatever goes in has passed red, which has learned the cookies of the recording
// before the first byte.
func archive(w io.Writer, m Meta, r recording, red *Redactor) error {
	red = red.With()
	for _, e := range r.entries {
		red.Learn(e.event.Header)
	}
	if m.Started.IsZero() {
		m.Started = r.began
	}
	if m.Title == "" {
		m.Title = fmt.Sprintf("%s, attempt %d", m.Job, m.Attempt)
	}
	z := &zipped{w: zip.NewWriter(w), at: m.Started.UTC()}
	at := clockOf(m.Started, r)
	pages := redactPages(r.files, red)

	attached, err := z.evidence(m, r, red, pages)
	if err != nil {
		return err
	}
	s := script{meta: m, rec: r, red: red, at: at, pages: pages}
	if err := putLines(z, "trace.trace", s.write(attached)); err != nil {
		return err
	}
	entries := exchanges(r.entries, red, at)
	network := make([]line, len(entries))
	for i, e := range entries {
		network[i] = line{"type": "resource-snapshot", "snapshot": e}
	}
	if err := putLines(z, "trace.network", network); err != nil {
		return err
	}
	if err := z.putJSON("limpet/network.har", harOf(entries, m)); err != nil {
		return err
	}
	return z.w.Close()
}

// clockOf counts milliseconds from one second before the first thing that is known, so that no time is negative.
func clockOf(started time.Time, r recording) func(time.Time) float64 {
	first := started
	for _, e := range r.entries {
		if e.event.At.Before(first) {
			first = e.event.At
		}
	}
	return func(t time.Time) float64 { return millis(t.Sub(first)) + 1000 }
}

func redactPages(files []file, red *Redactor) map[int][]byte {
	red.mu.Lock()
	forms := red.forms
	red.mu.Unlock()
	pages := map[int][]byte{}
	for i, f := range files {
		if !f.image { // a page may have been cut by the driver in the middle of a secret
			pages[i] = redactHTML([]byte(cutPartial(string(f.data), forms)), red)
		}
	}
	return pages
}

func harOf(entries []harEntry, m Meta) harLog {
	var h harLog
	h.Log.Version = "1.2"
	h.Log.Creator = harCreator{"limpet", m.Driver}
	h.Log.Browser = harCreator{"chromium", m.BrowserVersion}
	h.Log.Entries = entries
	return h
}

// zipped adds files to an archive.
type zipped struct {
	w  *zip.Writer
	at time.Time
}

// evidence adds what is kept for people and scripts under limpet/, and what the viewer shows of it under
// resources/.
func (z *zipped) evidence(m Meta, r recording, red *Redactor, pages map[int][]byte) ([]attachment, error) {
	about := map[string]any{
		"job": m.Job, "attempt": m.Attempt, "identity": m.Identity, "origin": m.Origin, "driver": m.Driver,
		"browser": m.BrowserVersion, "started": m.Started.UTC(), "outcome": m.Outcome, "dropped": r.dropped,
	}
	var attached []attachment
	for _, part := range []struct {
		name  string
		value any
	}{{"meta.json", about}, {"verdict.json", m.Verdict}, {"gateway.json", m.Gateway}} {
		if part.value == nil {
			continue
		}
		clean, err := redactJSON(part.value, red)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		name := hash(clean) + ".json"
		if err := errors.Join(z.put("limpet/"+part.name, clean), z.put("resources/"+name, clean)); err != nil {
			return nil, err
		}
		attached = append(attached, attachment{part.name, "application/json", name})
	}
	shot, page := -1, -1
	for i, f := range r.files {
		if !f.image {
			page = i
			continue
		}
		shot = i
		if err := z.store("resources/"+imageName(i, f), f.data); err != nil {
			return nil, err
		}
		attached = append(attached, attachment{red.Text("screenshot " + f.name), f.contentType, imageName(i, f)})
	}
	if page >= 0 {
		if err := z.put("limpet/dom.html", pages[page]); err != nil {
			return nil, err
		}
	}
	if shot >= 0 {
		return attached, z.store("limpet/screenshot"+extension(r.files[shot]), r.files[shot].data)
	}
	return attached, nil
}

func (z *zipped) put(name string, b []byte) error { return z.create(name, zip.Deflate, b) }

// store adds a file that is compressed already.
func (z *zipped) store(name string, b []byte) error { return z.create(name, zip.Store, b) }

func (z *zipped) create(name string, method uint16, b []byte) error {
	f, err := z.w.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: z.at})
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return err
}

func (z *zipped) putJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return z.put(name, append(b, '\n'))
}

// putLines adds a file of JSON lines.
func putLines(z *zipped, name string, lines []line) error {
	f, err := z.w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.at})
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// redactJSON is the indented JSON of v with every string redacted, and whole where its name says that it is a secret.
func redactJSON(v any, red *Redactor) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	return json.MarshalIndent(redactTree(tree, red), "", "  ")
}

func redactTree(v any, red *Redactor) any {
	switch v := v.(type) {
	case string:
		return red.Text(v)
	case []any:
		for i := range v {
			v[i] = redactTree(v[i], red)
		}
		return v
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, value := range v {
			if s, ok := value.(string); ok && s != "" && secretName.MatchString(name) {
				value = Redacted
			}
			clean[red.Text(name)] = redactTree(value, red)
		}
		return clean
	default:
		return v
	}
}

func hash(b []byte) string {
	sum := sha1.Sum(b) //nolint:gosec // a name
	return hex.EncodeToString(sum[:])
}

// imageName is the name of an image below resources/.
func imageName(i int, f file) string { return fmt.Sprintf("page@1-%d%s", i, extension(f)) }

func extension(f file) string {
	if f.contentType == "image/jpeg" {
		return ".jpeg"
	}
	return ".png"
}
