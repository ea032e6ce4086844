package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/reference"
	"github.com/stampede-bench/stampede/results/units"
)

// A trait is a property of a backend, and the reason why numbers of backends that differ in it are
// hard to compare.
type trait struct {
	name string
	of   func(results.Backend) string
	why  string
}

func traits() []trait {
	return []trait{
		{"durability", func(b results.Backend) string { return b.Durability }, "a write that waits for a disk takes longer than one that does not"},
		{"client", func(b results.Backend) string { return b.Client }, "part of the difference is the client libraries'"},
		{"reads", func(b results.Backend) string { return b.Reads }, "one reads what may be old, the other makes sure or waits"},
	}
}

// sideBySide returns the traits of several backends, and a warning for each in which the backends differ.
// The table is empty if there is only one backend.
func sideBySide(runs []results.Run) Table {
	var backends []results.Backend
	for _, r := range runs {
		if !slices.Contains(backends, r.Backend) {
			backends = append(backends, r.Backend)
		}
	}
	t := Table{Title: "side by side", Columns: columns(3, "<side by side")}
	if len(backends) < 2 {
		return t
	}
	for _, b := range backends {
		t.Rows = append(t.Rows, []string{b.URL})
	}
	for _, of := range traits() {
		t.add(Column{Head: of.name, Left: true, Gap: 3}, func(i int) string { return cmp.Or(of.of(backends[i]), units.Absent) })
		var values []string
		for _, b := range backends {
			if v := cmp.Or(of.of(b), units.Absent); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			text := fmt.Sprintf("not the same %s (%s): %s", of.name, strings.Join(values, ", "), of.why)
			t.Warnings = append(t.Warnings, Warning{"not-the-same-" + of.name, text})
		}
	}
	return t
}

// referenceTable returns the runs beside the file's reference: each figure, and its ratio to the first figure of
// its row. The ratios can be compared although the two rigs differ.
func referenceTable(f results.File) Table {
	r := f.Reference
	if r == nil {
		return Table{}
	}
	runs := f.Runs
	if f.Interrupted && len(runs) > 0 {
		runs = runs[:len(runs)-1] // the last run may be partial
	}
	rows := reference.Rows(r, runs)
	t := Table{Title: "beside " + r.Source, Columns: columns(0, "<"+r.Across), Notes: prefixed("not the same: ", r.Differs)}
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{row.Label})
	}
	add := func(over string, cell func(reference.Row, int) string) {
		for i, name := range r.Columns {
			c := Column{Head: name}
			if i == 0 {
				c.Over, c.Gap = over, 4
			}
			t.add(c, func(j int) string { return cell(rows[j], i) })
		}
	}
	add(r.Figure, reference.Row.Figure)
	add("of the first", reference.Row.Share)
	return t
}
