package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

const (
	previewRows    = 12
	previewColumns = 7
	previewLetters = 160 // of one cell
)

// A preview is the first records as a table.
type preview struct {
	Columns []string
	Rows    []previewRow
	More    int // records that are not shown
	Hidden  int // fields that are not shown
}

type previewRow struct {
	Job   string
	Cells []cell
}

type cell struct {
	Text   string
	Number bool
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
	p.Columns = names
	for _, r := range records {
		row := previewRow{Job: r.Job}
		for _, name := range names {
			row.Cells = append(row.Cells, cellOf(r.Record[name]))
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

func cellOf(v any) cell {
	switch v := v.(type) {
	case nil:
		return cell{Text: "–"}
	case string:
		return cell{Text: fit(v, previewLetters)}
	case float64, int, int64, json.Number:
		return cell{Text: fmt.Sprint(v), Number: true}
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return cell{Text: fit(fmt.Sprint(v), previewLetters)}
		}
		return cell{Text: fit(string(b), previewLetters)}
	}
}

// sortedKeys are the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
