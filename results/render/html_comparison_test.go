package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html/atom"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// cells returns the cells of the table of changes, by row.
func cells(t *testing.T, result results.Result) (rows [][]string) {
	t.Helper()
	_, root := pageOf(t, result)
	for _, row := range find(find(root, atom.Table)[1], atom.Tr) {
		var all []string
		for cell := range row.ChildNodes() {
			if cell.DataAtom == atom.Th || cell.DataAtom == atom.Td {
				all = append(all, words(cell))
			}
		}
		rows = append(rows, all)
	}
	return rows
}

// The changes have the columns of the terminal, and each verdict its sign.
func TestChangesAreThoseOfTheTerminal(t *testing.T) {
	c := resulttest.Comparison()
	table := document.New(c).Tables[1]
	var want [][]string
	var heads []string
	for _, column := range table.Columns {
		heads = append(heads, column.Head)
	}
	want = append(want, heads)
	signs := map[string]string{"improvement": "▲ ", "pass": "✓ ", "inconclusive": "≈ ", "regression": "▼ "}
	for _, row := range table.Rows {
		row = slices.Clone(row)
		for i, cell := range row {
			row[i] = strings.Join(strings.Fields(cell), " ") // as words does
		}
		last := len(row) - 1
		row[last] = signs[row[last]] + row[last]
		want = append(want, row)
	}
	if diff := cmp.Diff(want, cells(t, c)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// An unknown median is n/a, and a median of 0 is 0. The reason for a verdict stands below the table.
func TestUnknownMediansAreNotZero(t *testing.T) {
	p := 1.0
	c := resulttest.Comparison()
	c.Changes = []results.Change{
		{Figure: "acquire.response.p99", Unit: "ns", Verdict: results.Invalid},
		{Figure: "errors", P: &p, Effect: &results.Estimate{}, Verdict: results.Pass},
		{Figure: "rounds_per_s"},
	}
	rows := cells(t, c)
	if row := rows[1]; row[1] != "n/a" || row[2] != "n/a" || row[len(row)-1] != "? (invalid)" {
		t.Errorf("too few observations: %q", row)
	}
	if row := rows[3]; row[len(row)-1] != "" {
		t.Errorf("a change without a verdict: %q", row)
	}
	if row := rows[2]; row[1] != "0" || row[2] != "0" {
		t.Errorf("medians of 0: %q", row)
	}
}
