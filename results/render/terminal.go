package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/olekukonko/ll"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/stampede-bench/stampede/internal/printable"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/units"
)

// WriteText writes a result for people at a terminal.
func WriteText(w io.Writer, r results.Result, o Options) error {
	return rendered(writeTerminal)(w, r, o)
}

// writeTerminal writes the heading, the decision, the findings, the tables with their warnings, and below
// them the notes and the command that repeats the result.
func writeTerminal(w io.Writer, d document.Document, o Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", d.Heading)
	if d.Interrupted != "" {
		fmt.Fprintf(&b, "  %s\n\n", o.bold(d.Interrupted))
	}
	if decision := d.Decision(); decision != "" {
		fmt.Fprintf(&b, "  %s\n\n", o.paint(decision, d.Verdict))
	}
	if d.Thresholds.Shown() {
		if err := WriteTable(&b, d.Thresholds, o); err != nil {
			return err
		}
		fmt.Fprintln(&b)
	}
	for _, line := range d.Findings {
		fmt.Fprintf(&b, "  %s\n", o.bold(line))
	}
	for _, t := range d.Tables {
		fmt.Fprintln(&b)
		if err := WriteTable(&b, t, o); err != nil {
			return err
		}
	}
	writeFoot(&b, d, o)
	_, err := w.Write(b.Bytes())
	return err
}

// longestSummary is the most bytes of a summary.
const longestSummary = 2000

// writeSummary writes one line: the decision, the findings, and how many warnings there are.
func writeSummary(w io.Writer, d document.Document, _ Options) error {
	words := []string{d.Decision(), d.Interrupted}
	verdict := strings.ToUpper(string(d.Verdict)) + ":"
	said := len(d.Findings) > 0 && strings.HasPrefix(d.Findings[0], verdict)
	if words[0] == "" && d.Verdict != "" && !said {
		words[0] = verdict
	}
	for _, finding := range d.Findings {
		if !strings.HasPrefix(finding, "  ") { // else it explains the one before
			words = append(words, finding)
		}
	}
	warnings := ""
	if n := len(d.AllWarnings()); n > 0 {
		warnings = " (" + units.Plural(n, "warning") + ")"
	}
	line := strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
	if most := longestSummary - len(warnings); len(line) > most {
		line = strings.ToValidUTF8(line[:most-len("…")], "") + "…"
	}
	_, err := fmt.Fprintln(w, strings.TrimSpace(line+warnings))
	return err
}

// escape escapes every text of a document.
func escape(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(printable.Text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			escape(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				escape(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len()) // the result may share it
		reflect.Copy(own, v)
		v.Set(own)
		for i := range v.Len() {
			escape(v.Index(i))
		}
	}
}

// writeFoot writes what stands below the tables, after an empty line.
func writeFoot(w io.Writer, d document.Document, o Options) {
	lines := []string{""}
	for _, warning := range d.Warnings {
		lines = append(lines, "  warning: "+warning.Text)
	}
	for _, n := range d.Notes {
		for _, line := range n.Lines() {
			lines = append(lines, "  "+o.paint(line, n.Verdict))
		}
	}
	if d.Saved != "" {
		lines = append(lines, "  saved: "+d.Saved)
	}
	if d.Command != "" {
		lines = append(lines, "  "+purpose(d)+": "+d.Command)
	}
	if len(lines) > 1 {
		fmt.Fprintln(w, strings.Join(lines, "\n"))
	}
}

// purpose says what the command of a document is for.
func purpose(d document.Document) string {
	if d.Resumes {
		return "resume with"
	}
	return "repeat with"
}

// bold returns a line in bold, if the options allow it.
func (o Options) bold(line string) string {
	if !o.Color {
		return line
	}
	return printable.Bold + line + printable.Plain
}

// paint returns the words of a verdict in bold and in the colour of the verdict. The words say the
// same without it.
func (o Options) paint(words string, v results.Verdict) string {
	if !o.Color || v == "" || words == "" {
		return words
	}
	colour := printable.Red
	switch v {
	case results.Pass, results.Improvement:
		colour = printable.Green
	case results.Invalid, results.Inconclusive:
		colour = printable.Yellow
	}
	return colour + words + printable.Plain
}

// widest is the width of lines in files and pipes.
const widest = 120

// indent is before each line of a table.
const indent = "  "

// WriteTable writes the title, the headings and rows, the notes and the warnings to a terminal. Columns for
// which there is no room follow in a table below, which repeats the columns that name the rows.
func WriteTable(w io.Writer, t document.Table, o Options) error {
	title := titled(&t)
	if title != "" {
		fmt.Fprintln(w, indent+title)
	}
	for i, part := range split(t, cmp.Or(o.Width, widest)) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := writePart(w, part, o); err != nil {
			return err
		}
	}
	for _, line := range t.Notes {
		fmt.Fprintln(w, indent+line)
	}
	for _, warning := range t.Warnings {
		fmt.Fprintln(w, indent+"warning: "+warning.Text)
	}
	return nil
}

// titled returns the title of the table, "" if the headings say it: it is over the first columns, and
// there is room for it, or the first heading says the same.
func titled(t *document.Table) string {
	if len(t.Columns) == 0 || len(t.Rows) == 0 {
		return ""
	}
	same := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), "s") }
	if same(t.Columns[0].Head) == same(t.Title) {
		return ""
	}
	if t.Columns[0].Over != t.Title {
		return t.Title
	}
	above := slices.Clone(t.Columns)
	above[0].Over = ""
	sizes := tw.NewMapper[int, int]()
	for i, width := range widths(*t) {
		sizes.Set(i, width)
	}
	rest := overs(above, sizes)
	if room := twwidth.Width(rest) - twwidth.Width(strings.TrimLeft(rest, " ")); rest == "" || room >= twwidth.Width(t.Title)+between {
		return ""
	}
	t.Columns = above
	return t.Title
}

// gap returns the number of spaces before the column with the index.
func gap(c document.Column, i int) int {
	if i == 0 {
		return 0
	}
	return cmp.Or(c.Gap, 2)
}

func widths(t document.Table) []int {
	w := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		w[i] = twwidth.Width(c.Head)
		for _, row := range t.Rows {
			w[i] = max(w[i], twwidth.Width(row[i]))
		}
	}
	return w
}

// split divides the table between two groups of columns, or where there is no such place between two
// columns, into tables that fit.
func split(t document.Table, room int) []document.Table {
	var keys []int
	end, at := len(t.Columns), len(indent)
	for i, width := range widths(t) {
		if at += gap(t.Columns[i], i) + width; at > room && len(keys) < i && !t.Columns[i].Prose {
			end = i
			break
		}
		if t.Columns[i].Key {
			keys = append(keys, i)
		}
	}
	if end == len(t.Columns) {
		return []document.Table{t}
	}
	for i := end; i > len(keys); i-- {
		if t.Columns[i].Over != "" {
			end = i
			break
		}
	}
	var first, rest []int
	for i := range t.Columns {
		if i < end {
			first = append(first, i)
		}
		if i >= end || t.Columns[i].Key {
			rest = append(rest, i)
		}
	}
	return append([]document.Table{chosen(t, first)}, split(chosen(t, rest), room)...)
}

// chosen returns the table with some of its columns.
func chosen(t document.Table, columns []int) document.Table {
	part := document.Table{Rows: make([][]string, len(t.Rows))}
	for _, at := range columns {
		part.Columns = append(part.Columns, t.Columns[at])
		for i, row := range t.Rows {
			part.Rows[i] = append(part.Rows[i], row[at])
		}
	}
	return part
}

func writePart(w io.Writer, t document.Table, o Options) error {
	rows := make([][]string, len(t.Rows))
	for r := range rows {
		rows[r] = slices.Clone(t.Rows[r])
		for i, c := range t.Columns {
			if c.Verdicts != nil {
				rows[r][i] = o.paint(rows[r][i], c.Verdicts[r])
			}
		}
	}
	return tabulate(w, &borderless{indent: indent, columns: t.Columns}, tw.PaddingNone, t.Columns, rows)
}

// WriteColumns writes rows of text in columns that are two spaces apart.
func WriteColumns(w io.Writer, indent string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	columns := make([]document.Column, len(rows[0]))
	for i := range columns {
		columns[i].Left = true
	}
	return tabulate(w, &borderless{indent: indent, columns: columns}, tw.PaddingNone, columns, rows)
}

// tabulate gives the cells, as they are, to a renderer of the library.
func tabulate(w io.Writer, r tw.Renderer, padding tw.Padding, columns []document.Column, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	var cells tw.CellConfig
	cells.Formatting.AutoWrap, cells.Formatting.AutoFormat = tw.WrapNone, tw.Off
	cells.Padding.Global = padding
	headed := false
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i], headed = c.Head, headed || c.Head != ""
		align := tw.AlignRight
		if c.Left {
			align = tw.AlignLeft
		}
		cells.Alignment.PerColumn = append(cells.Alignment.PerColumn, align)
	}
	t := tablewriter.NewTable(w, tablewriter.WithRenderer(r), tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells}),
		tablewriter.WithTrimSpace(tw.Off), tablewriter.WithTrimLine(tw.Off))
	if headed {
		t.Header(heads)
	}
	if err := t.Bulk(rows); err != nil {
		return err
	}
	return t.Render()
}

// A borderless renders a table without lines: spaces separate the columns, and a heading may be over several
// of them. The library measures the cells, also coloured ones and those of wide characters.
type borderless struct {
	w       io.Writer
	err     error
	indent  string
	columns []document.Column
}

func (b *borderless) Start(w io.Writer) error {
	b.w = w
	return nil
}

func (b *borderless) Header(heads [][]string, f tw.Formatting) {
	b.line(overs(b.columns, f.Row.Widths))
	b.Row(heads[0], f)
}

func (b *borderless) Row(cells []string, f tw.Formatting) {
	var line strings.Builder
	for i, cell := range cells {
		fill := strings.Repeat(" ", max(0, f.Row.Widths.Get(i)-twwidth.Width(cell)))
		line.WriteString(strings.Repeat(" ", gap(b.columns[i], i)))
		if b.columns[i].Left {
			line.WriteString(cell + fill)
		} else {
			line.WriteString(fill + cell)
		}
	}
	b.line(line.String())
}

func (b *borderless) line(text string) {
	if text = strings.TrimRight(text, " "); text != "" && b.err == nil {
		_, b.err = fmt.Fprintln(b.w, b.indent+text)
	}
}

func (b *borderless) Close() error                     { return b.err }
func (b *borderless) Config() tw.Rendition             { return tw.Rendition{} }
func (b *borderless) Footer([][]string, tw.Formatting) {}
func (b *borderless) Line(tw.Formatting)               {}
func (b *borderless) Logger(*ll.Logger)                {}

// between is the minimum space between two headings over several columns.
const between = 2

// overs returns the line of headings over several columns. A heading over numbers ends where the
// heading of its first column ends, if there is room on its left; otherwise it starts where its
// column starts.
func overs(columns []document.Column, widths tw.Mapper[int, int]) string {
	var b strings.Builder
	at, used := 0, 0
	for i, c := range columns {
		begin := at + gap(c, i)
		at = begin + widths.Get(i)
		if c.Over == "" {
			continue
		}
		n := twwidth.Width(c.Over)
		if !c.Left && at-n > used {
			begin = at - n
		}
		if used > 0 {
			begin = max(begin, used+between)
		}
		b.WriteString(strings.Repeat(" ", begin-used) + c.Over)
		used = begin + n
	}
	return b.String()
}
