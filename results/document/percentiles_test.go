package document_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
	"github.com/stampede-bench/stampede/results/units"
)

// sideBySideOf returns a file with the recipe and the naive form, with the given numbers of rounds.
func sideBySideOf(calm, naive int64) results.File {
	return resulttest.FileOf(
		resulttest.Sample{Form: "predecessor", Family: "recipe", Clients: 128, Rounds: calm, Notif: 1, Reads: 3, Writes: 2, Handoff: 300 * time.Microsecond, Acquire: 49 * time.Millisecond, Fanout: 1, Wasted: 0}.Run(resulttest.Native()),
		resulttest.Sample{Form: "one-node", Family: "naive", Clients: 128, Rounds: naive, Notif: 80, Reads: 80, Writes: 82, Handoff: 3 * time.Millisecond, Acquire: 400 * time.Millisecond, Fanout: 127, Wasted: 0.99}.Run(resulttest.Native()))
}

// The table has a column for the percentile that the finding cites, and none of its cells is n/a,
// whatever the number of rounds.
func TestFindingCitesColumnsOfTheTable(t *testing.T) {
	cited := regexp.MustCompile(`Hand-off (p[0-9.]+) `)
	for _, c := range []struct {
		calm, naive int64
		want        string
	}{{20_000, 20_000, "p90"}, {1050, 950, "p90"}, {1050, 100, "p90"}, {1050, 99, "p75"}, {45, 1000, "p75"}, {30, 20, "p50"}} {
		f := sideBySideOf(c.calm, c.naive)
		found := cited.FindStringSubmatch(strings.Join(document.New(f).Findings, "\n"))
		if found == nil || found[1] != c.want {
			t.Errorf("%d and %d rounds: %q, want %s", c.calm, c.naive, document.New(f).Findings, c.want)
			continue
		}
		text := textOf(t, f, render.Options{})
		if strings.Contains(text, "n/a") || !strings.Contains(text, " "+c.want+" ") {
			t.Errorf("%d and %d rounds:\n%s", c.calm, c.naive, text)
		}
	}
}

// Chosen percentiles are always shown, with n/a where the counts do not support them, by the same
// rule as for all others.
func TestPercentilesAreChosen(t *testing.T) {
	f := sideBySideOf(12_000, 1_500)
	f.Percentiles = []float64{50, 95, 99, 99.9}
	g := document.New(f).Tables[0]
	for _, name := range []string{"p50", "p95", "p99", "p99.9"} {
		at := slices.IndexFunc(g.Columns, func(c document.Column) bool { return c.Head == name })
		if at < 0 {
			t.Fatalf("no column %s", name)
		}
		for i, row := range g.Rows {
			if known := row[at] != units.Absent; known != (i == 0 || name != "p99.9") {
				t.Errorf("%s of row %d is %s", name, i, row[at])
			}
		}
	}
	if line := document.New(f).Findings[1]; !strings.HasPrefix(line, "Hand-off p99 is ") {
		t.Errorf("%q cites no percentile that was chosen and both support", line)
	}
}

// A load makes tens of thousands of operations, so its table shows p99.
func TestLoadsShowTheirNinetyNinth(t *testing.T) {
	for rounds, want := range map[int64]string{5000: "p50 p99", 500: "p50 p90", 50: "p50 p75", 25: "p50"} {
		r := resulttest.Sample{Rounds: rounds, Acquire: time.Millisecond, Handoff: time.Millisecond}.Run(resulttest.Native())
		r.Family = "load"
		var names []string
		for _, c := range document.New(resulttest.FileOf(r)).Tables[0].Columns {
			if strings.HasPrefix(c.Head, "p") && c.Over != "acquire" {
				names = append(names, c.Head)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d operations: %s, want %s", rounds, got, want)
		}
	}
}
