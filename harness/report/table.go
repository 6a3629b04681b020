package report

import (
	"fmt"
	"io"
	"strings"
)

// TableOptions say how the table at the end of a run looks. The zero value is plain text of 100 columns.
type TableOptions struct {
	Color bool
	Width int // columns; zero means 100
}

// minWidth is the least width that the table is made for: below it, lines wrap.
const minWidth = 72

// A column is one column of the table.
type column struct {
	head  string
	right bool // aligned to the right, for numbers
	cut   int  // least width that it may be cut to; 0 means never cut
	cells []string
}

// Table writes one line for each job: how it ended, after how much, through which exits.
func Table(w io.Writer, results []Result, o TableOptions) error {
	width := max(o.Width, minWidth)
	if o.Width == 0 {
		width = 100
	}
	columns := tableColumns(results)
	widths := layOut(columns, width)
	var b strings.Builder
	writeRow(&b, columns, widths, func(c column) string { return c.head }, paintIf(o.Color, dim))
	for i, r := range results {
		paint := func(c column, s string) string {
			if o.Color && c.head == "STATE" {
				return colorOf(r.State) + s + reset
			}
			return s
		}
		writeRow(&b, columns, widths, func(c column) string { return c.cells[i] }, paint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tableColumns(results []Result) []column {
	columns := []column{
		{head: "JOB", cut: 12},
		{head: "IDENTITY", cut: 8},
		{head: "STATE"},
		{head: "VERDICT", cut: 12},
		{head: "TRIES", right: true},
		{head: "EXITS", cut: 10},
		{head: "RECORDS", right: true},
		{head: "TIME", right: true},
	}
	for _, r := range results {
		row := []string{
			r.Job, r.Identity, string(r.State), verdictText(r), grouped(r.Attempts), exitsText(r.Exits),
			grouped(r.Records), span(r.ElapsedMS),
		}
		for i := range columns {
			columns[i].cells = append(columns[i].cells, visible(row[i]))
		}
	}
	return columns
}

// exitsText names the last exit and says how many others there were: the last is where the verdict comes from.
func exitsText(exits []string) string {
	switch n := len(exits); n {
	case 0:
		return "–"
	case 1:
		return exits[0]
	default:
		return fmt.Sprintf("%s +%d", exits[n-1], n-1)
	}
}

const columnGap = 2

// layOut gives each column its width. While the whole is too wide, the widest column that may be cut gives way.
func layOut(cs []column, limit int) []int {
	widths := make([]int, len(cs))
	total := columnGap * (len(cs) - 1)
	for i, c := range cs {
		widths[i] = columns(c.head)
		for _, cell := range c.cells {
			widths[i] = max(widths[i], columns(cell))
		}
		total += widths[i]
	}
	for ; total > limit; total-- {
		widest := -1
		for i, c := range cs {
			if c.cut > 0 && widths[i] > c.cut && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

func writeRow(b *strings.Builder, cs []column, widths []int, text func(column) string, paint func(column, string) string) {
	for i, c := range cs {
		cell := fit(text(c), widths[i])
		pad := strings.Repeat(" ", max(widths[i]-columns(cell), 0))
		if c.right {
			b.WriteString(pad)
		}
		b.WriteString(paint(c, cell))
		if i == len(cs)-1 {
			break // no spaces at the end of a line
		}
		if !c.right {
			b.WriteString(pad)
		}
		b.WriteString(strings.Repeat(" ", columnGap))
	}
	b.WriteByte('\n')
}

// Colours of the sixteen that every terminal has and its owner has chosen. A state is always a word as well.
const (
	reset  = "\x1b[0m"
	dim    = "\x1b[2m"
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	purple = "\x1b[35m"
)

func colorOf(s State) string {
	switch s {
	case Useful:
		return green
	case Review:
		return yellow
	case Failed:
		return red
	case Denied:
		return purple
	default:
		return dim
	}
}

func paintIf(color bool, code string) func(column, string) string {
	return func(_ column, s string) string {
		if !color {
			return s
		}
		return code + s + reset
	}
}
