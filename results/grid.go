package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A grid is a table of text without lines: columns are told apart by space, and
// a head may stand over several of them.
//
// Note: no table library is used. All that is needed is two alignments and
// headings over several columns, without borders. Every character that is used
// here, µ and − and the thin space included, counts as one cell wide.
type grid struct {
	columns []column
	rows    [][]string
}

type column struct {
	head  string // its own heading
	over  string // begins a heading over this and the following columns
	left  bool   // text; numbers are set right
	space int    // before it
	alone bool   // what is over the column before it is not over this one
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

// write writes the heads and rows, each line indented by two.
func (g *grid) write(w io.Writer) {
	widths := g.widths()
	g.line(w, g.overs(widths))
	heads := make([]string, len(g.columns))
	for i, c := range g.columns {
		heads[i] = c.head
	}
	for _, row := range append([][]string{heads}, g.rows...) {
		var b strings.Builder
		for i, cell := range row {
			c := g.columns[i]
			fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
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

// gap is the least between two headings over several columns.
const gap = 2

// overs is the line of headings over several columns. One over numbers ends
// where the head of its first column does, if there is room on its left; else
// it begins where its column does.
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

// insert puts a column after the first of the heads that there is, and nowhere if
// there is none.
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

// drop takes the column with the head away, if it is there.
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
