package results

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tables have the cells and the text of the terminal's output.
func TestTablesAreTheTerminals(t *testing.T) {
	f := file(herding(native())...)
	f.Runs[0].Warnings = []Warning{{Text: "mind this"}}
	var b bytes.Buffer
	if err := f.WriteTable(&b, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	tables := f.Tables()
	if len(tables) != 1 || len(tables[0].Rows) != len(f.Runs) {
		t.Fatalf("%d tables, want one with a row for each of %d runs", len(tables), len(f.Runs))
	}
	wanted := append([]string{f.Heading()}, append(f.Findings(), tables[0].Notes...)...)
	for _, row := range tables[0].Rows {
		wanted = append(wanted, strings.Join(row, " "))
	}
	for _, want := range wanted {
		if want = strings.Join(strings.Fields(want), " "); !strings.Contains(text, want) {
			t.Errorf("the terminal does not show %q", want)
		}
	}
	if len(tables[0].Notes) != 1 {
		t.Errorf("notes %q, want the warning", tables[0].Notes)
	}
	for _, row := range tables[0].Rows {
		if len(row) != len(tables[0].Columns) {
			t.Errorf("%d cells under %d heads", len(row), len(tables[0].Columns))
		}
	}
}

func TestSeriesOfASweep(t *testing.T) {
	var got []string
	for _, s := range sweepOf(herded()...).Series() {
		if len(s.Levels) != 7 || s.Curve == nil || s.Curve.Form != s.Levels[0].Form {
			t.Errorf("%s: %d levels, curve %v; want 7 and that of the form", s.Name, len(s.Levels), s.Curve)
		}
		got = append(got, s.Name)
	}
	if diff := cmp.Diff([]string{"predecessor", "one-node"}, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestHolding(t *testing.T) {
	of := func(holds ...bool) Run {
		e := &Expected{}
		for _, h := range holds {
			e.Identities = append(e.Identities, Identity{Holds: h})
		}
		return Run{Cost: Cost{Expected: e}}
	}
	hold, all := Holding([]Run{of(true, true), of(true, false), of(), {}})
	if hold != 1 || all != 2 {
		t.Errorf("hold in %d of %d, want 1 of 2", hold, all)
	}
}
