package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

const (
	previewRows    = 8
	previewColumns = 7
	previewLetters = 80 // of one cell
)

// A preview is the first records as a table.
type preview struct {
	Columns []previewColumn
	Rows    []previewRow
	More    int // records that are not shown
	Hidden  int // fields that are not shown
}

type previewColumn struct {
	Name   string
	Number bool // every value is one
}

type previewRow struct {
	Job   string
	Cells []string
}

// previewOf shows the fields that most records have, in alphabetical order.
func previewOf(records []Record, total int) preview {
	counts := map[string]int{}
	for _, r := range records {
		for name := range r.Record {
			counts[name]++
		}
	}
	names := make([]string, 0, len(counts))
	for _, t := range ranked(counts) {
		names = append(names, t.Word)
	}
	p := preview{More: max(total-len(records), 0)}
	if len(names) > previewColumns {
		p.Hidden = len(names) - previewColumns
		names = names[:previewColumns]
	}
	slices.Sort(names)
	for _, name := range names {
		p.Columns = append(p.Columns, previewColumn{Name: name, Number: true})
	}
	for _, r := range records {
		row := previewRow{Job: r.Job}
		for i, name := range names {
			text, number := cellOf(r.Record[name])
			row.Cells = append(row.Cells, text)
			p.Columns[i].Number = p.Columns[i].Number && number
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// cellOf is a value as text. A missing one is as good as a number.
func cellOf(v any) (text string, number bool) {
	switch v := v.(type) {
	case nil:
		return "–", true
	case string:
		_, err := strconv.ParseFloat(v, 64) // decimals come as text, to keep their digits
		return fit(v, previewLetters), err == nil
	case float64, int, int64, json.Number:
		return fmt.Sprint(v), true
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return fit(fmt.Sprint(v), previewLetters), false
		}
		return fit(string(b), previewLetters), false
	}
}

// sortedKeys are the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
