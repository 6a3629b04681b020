package jobfile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"github.com/limpet-dev/limpet/harness/strict"
)

// rows are the values of a foreach's variables, one map for each job: every combination of the lists, the last list
// turning fastest, or the rows of a file. Without a foreach there is one empty row.
func (l *loader) rows(n *strict.Node) (rows []map[string]string, ok bool) {
	if n == nil {
		return []map[string]string{nil}, true
	}
	if file := n.Get("file"); file != nil && file.Kind != strict.List {
		return l.fileRows(n, file)
	}
	rows, ok = []map[string]string{{}}, true
	for _, list := range n.Items() {
		if !variableName.MatchString(list.Key()) || list.Key() == "env" {
			l.faults.AddKeyf(list, "letters, digits, _ and - can be; env is the environment's", "%q is no name for a variable", list.Key())
			ok = false
			continue
		}
		if len(rows)*len(list.Items()) > maxJobs {
			l.faults.Addf(n, "every combination of the lists is a job: shorten them, or list the rows in a file", "this foreach makes more than %d jobs", maxJobs)
			return nil, false
		}
		rows = product(rows, list.Key(), list.Texts())
	}
	return rows, ok && len(rows) > 0
}

func product(rows []map[string]string, name string, values []string) []map[string]string {
	all := make([]map[string]string, 0, len(rows)*len(values))
	for _, row := range rows {
		for _, v := range values {
			r := maps.Clone(row)
			if r == nil {
				r = map[string]string{}
			}
			r[name] = v
			all = append(all, r)
		}
	}
	return all
}

// fileRows reads the rows of a foreach from a .csv or .jsonl file.
func (l *loader) fileRows(n, file *strict.Node) ([]map[string]string, bool) {
	for _, other := range n.Items() {
		if other != file {
			l.faults.AddKeyf(other, "", "a foreach over a file has no other variables than the file's")
			return nil, false
		}
	}
	path := beside(file.File(), file.Text())
	var read func(string, []byte) ([]map[string]string, error)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		read = csvRows
	case ".jsonl", ".ndjson":
		read = jsonlRows
	default:
		l.faults.Addf(file, "a .csv file has a header line, a .jsonl file one object a line", "%s: rows are read from .csv and .jsonl files", file.Text())
		return nil, false
	}
	data, err := strict.ReadFile(path)
	if err != nil {
		l.faults.Addf(file, "the path is relative to the job file", "%s: %s", path, strict.Reason(err))
		return nil, false
	}
	rows, err := read(path, bytes.TrimPrefix(data, []byte("\uFEFF")))
	if err != nil {
		l.faults.Add(path, err)
		return nil, false
	}
	if len(rows) == 0 {
		l.faults.Addf(file, "", "%s has no rows", path)
	}
	return rows, len(rows) > 0
}

func csvRows(file string, data []byte) ([]map[string]string, error) {
	r := csv.NewReader(bytes.NewReader(data))
	header, err := r.Read()
	if err != nil {
		return nil, csvFault(file, err)
	}
	seen := map[string]bool{}
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
		line, column := r.FieldPos(i)
		switch {
		case !variableName.MatchString(header[i]) || header[i] == "env":
			return nil, &strict.Fault{File: file, Line: line, Column: column, Message: fmt.Sprintf("%q is no name for a variable", name), Hint: "the first line names the columns"}
		case seen[header[i]]:
			return nil, &strict.Fault{File: file, Line: line, Column: column, Message: fmt.Sprintf("the column %q is there twice", name)}
		}
		seen[header[i]] = true
	}
	var rows []map[string]string
	for {
		values, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, csvFault(file, err)
		}
		row := make(map[string]string, len(header))
		for i, v := range values {
			row[header[i]] = v
		}
		rows = append(rows, row)
	}
}

func csvFault(file string, err error) error {
	e, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, io.EOF):
		return &strict.Fault{File: file, Message: "the file is empty", Hint: "the first line names the columns"}
	case !ok:
		return &strict.Fault{File: file, Message: err.Error()}
	case errors.Is(err, csv.ErrFieldCount):
		return &strict.Fault{File: file, Line: e.Line, Column: e.Column, Message: "this row has another number of fields than the first line"}
	default:
		return &strict.Fault{File: file, Line: e.Line, Column: e.Column, Message: "this is not CSV: " + e.Err.Error()}
	}
}

func jsonlRows(file string, data []byte) ([]map[string]string, error) {
	var rows []map[string]string
	var faults strict.Faults
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		row, problem := jsonRow(line)
		if problem != "" {
			faults.Add(file, &strict.Fault{File: file, Line: number, Column: 1, Message: problem, Hint: `a line is an object such as {"sku": "a-1"}`})
		}
		rows = append(rows, row)
	}
	return rows, faults.Err()
}

func jsonRow(line []byte) (row map[string]string, problem string) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var values map[string]any
	if err := dec.Decode(&values); err != nil || dec.More() || values == nil {
		return nil, "this line is not one JSON object"
	}
	row = make(map[string]string, len(values))
	for k, v := range values {
		switch v := v.(type) {
		case string:
			row[k] = v
		case json.Number, bool:
			row[k] = fmt.Sprint(v)
		default:
			return nil, fmt.Sprintf("the value of %q is not text, a number or a truth value", k)
		}
		if !variableName.MatchString(k) || k == "env" {
			return nil, fmt.Sprintf("%q is no name for a variable", k)
		}
	}
	return row, ""
}
