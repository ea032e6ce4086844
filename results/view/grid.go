package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/results"
)

// A grid is a table of text without lines: space separates the columns, and a heading may span
// several of them.
//
// Note: no table library is used, since two alignments and headings over several columns, without
// borders, are all that is needed. Every character in use here, including µ, − and the thin space,
// counts as one cell wide.
type grid struct {
	columns []column
	rows    [][]string
	names   int     // how many of the first columns name a row; 0 stands for those that keys finds
	options Options // of the colours of verdicts
}

type column struct {
	head  string // its own heading
	over  string // starts a heading over this and the following columns
	left  bool   // text, aligned left; numbers are aligned right
	space int    // the number of spaces before the column
	alone bool   // the heading over the column before it does not extend over this one
	// verdicts are those that the cells show, by row; "" has no colour. They are nil in a column of
	// anything else.
	verdicts []results.Verdict
}

// coloured returns the grid, whose verdicts have colours if the options allow it.
func (g *grid) coloured(o Options) *grid {
	g.options = o
	return g
}

func (g *grid) widths() []int {
	w := make([]int, len(g.columns))
	for i, c := range g.columns {
		w[i] = utf8.RuneCountInString(c.head)
		for _, row := range g.rows {
			w[i] = max(w[i], utf8.RuneCountInString(row[i]))
		}
	}
	return w
}

// widest is the width of a table, with its indentation, that terminals and logs show without
// breaking its lines.
const widest = 120

// write writes the headings and rows, each line indented by two spaces. Columns for which there is
// no room follow in a table below, which repeats the columns that name the rows.
func (g *grid) write(w io.Writer) {
	for i, part := range g.parts() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		part.writePart(w)
	}
}

// parts divides the grid between two groups of columns, or where there is no such place between two
// columns, into grids that fit.
func (g *grid) parts() []*grid {
	widths := g.widths()
	keys := g.keys()
	end, at := len(g.columns), 2
	for i, c := range g.columns {
		at += c.space + widths[i]
		if at > widest && i > keys {
			end = i
			break
		}
	}
	if end == len(g.columns) {
		return []*grid{g}
	}
	for i := end; i > keys; i-- {
		if c := g.columns[i]; c.over != "" {
			end = i
			break
		}
	}
	first, rest := *g, *g
	first.columns, rest.columns = g.columns[:end], slices.Concat(g.columns[:keys], g.columns[end:])
	first.rows, rest.rows = make([][]string, len(g.rows)), make([][]string, len(g.rows))
	for i, row := range g.rows {
		first.rows[i], rest.rows[i] = row[:end], slices.Concat(row[:keys], row[end:])
	}
	return append([]*grid{&first}, rest.parts()...)
}

// keys returns how many of the first columns name a row: those up to the last one with text, before
// a heading over several columns.
func (g *grid) keys() int {
	if g.names > 0 {
		return g.names
	}
	n := 1
	for i, c := range g.columns {
		if i > 0 && c.over != "" {
			break
		}
		if c.left && c.verdicts == nil {
			n = i + 1
		}
	}
	return n
}

func (g *grid) writePart(w io.Writer) {
	widths := g.widths()
	g.line(w, g.overs(widths))
	heads := make([]string, len(g.columns))
	for i, c := range g.columns {
		heads[i] = c.head
	}
	for r, row := range append([][]string{heads}, g.rows...) {
		var b strings.Builder
		for i, cell := range row {
			c := g.columns[i]
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if r > 0 && c.verdicts != nil {
				cell = g.options.paint(cell, c.verdicts[r-1])
			}
			b.WriteString(strings.Repeat(" ", c.space))
			if c.left {
				b.WriteString(cell + fill)
			} else {
				b.WriteString(fill + cell)
			}
		}
		g.line(w, b.String())
	}
}

// gap is the minimum space between two headings over several columns.
const gap = 2

// overs returns the line of headings over several columns. A heading over numbers ends where the
// heading of its first column ends, if there is room on its left; otherwise it starts where its
// column starts.
func (g *grid) overs(widths []int) string {
	var b strings.Builder
	at, used := 0, 0
	for i, c := range g.columns {
		begin := at + c.space
		at = begin + widths[i]
		if c.over == "" {
			continue
		}
		n := utf8.RuneCountInString(c.over)
		if !c.left && at-n > used {
			begin = at - n
		}
		if used > 0 {
			begin = max(begin, used+gap)
		}
		b.WriteString(strings.Repeat(" ", begin-used) + c.over)
		used = begin + n
	}
	return b.String()
}

func (g *grid) line(w io.Writer, text string) {
	if text = strings.TrimRight(text, " "); text != "" {
		fmt.Fprintf(w, "  %s\n", text)
	}
}

// insert adds a column after the first of the given headings that the grid has, and does nothing if
// it has none of them.
func (g *grid) insert(c column, cell func(row int) string, after ...string) {
	i := slices.IndexFunc(after, func(head string) bool { return g.place(head) >= 0 })
	if i < 0 {
		return
	}
	at := g.place(after[i]) + 1
	g.columns = slices.Insert(g.columns, at, c)
	for i := range g.rows {
		g.rows[i] = slices.Insert(g.rows[i], at, cell(i))
	}
}

// drop removes the column with the heading, if there is one.
func (g *grid) drop(head string) {
	at := g.place(head)
	if at < 0 {
		return
	}
	g.columns = slices.Delete(g.columns, at, at+1)
	for i := range g.rows {
		g.rows[i] = slices.Delete(g.rows[i], at, at+1)
	}
}

func (g *grid) place(head string) int {
	return slices.IndexFunc(g.columns, func(c column) bool { return c.head == head })
}
