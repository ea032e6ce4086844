package document

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// Tables have the cells and the text of the terminal's output.
func TestTablesAreTheTerminals(t *testing.T) {
	f := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
	f.Runs[0].Warnings = []results.Warning{{Text: "mind this"}}
	var b bytes.Buffer
	if err := (file{f}).WriteTable(&b, Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	tables := (file{f}).Tables()
	if len(tables) != 1 || len(tables[0].Rows) != len(f.Runs) {
		t.Fatalf("%d tables, want one with a row for each of %d runs", len(tables), len(f.Runs))
	}
	wanted := append([]string{(file{f}).Heading()}, append((file{f}).Findings(), tables[0].Warnings...)...)
	for _, row := range tables[0].Rows {
		wanted = append(wanted, strings.Join(row, " "))
	}
	for _, want := range wanted {
		if want = strings.Join(strings.Fields(want), " "); !strings.Contains(text, want) {
			t.Errorf("the terminal does not show %q", want)
		}
	}
	if len(tables[0].Warnings) != 1 {
		t.Errorf("warnings %q, want one", tables[0].Warnings)
	}
	for _, row := range tables[0].Rows {
		if len(row) != len(tables[0].Columns) {
			t.Errorf("%d cells under %d heads", len(row), len(tables[0].Columns))
		}
	}
}
