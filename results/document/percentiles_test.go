package document_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/figure"
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

// A table whose percentiles nobody chose shows the 99th beside a finite one if it is infinite, and so does the finding.
func TestNoTableHidesLostArrivals(t *testing.T) {
	for _, c := range []struct {
		family       string
		served, lost int64
		heads, cells string
		finding      bool
	}{
		{"recipe", 2000, 0, "p50 p90", "2.00 ms 6.00 ms", false},
		{"recipe", 2000, 10, "p50 p90", "2.00 ms 6.00 ms", false},
		{"recipe", 2000, 100, "p50 p90 p99", "2.00 ms 6.00 ms infinite", true},
		{"recipe", 50, 11, "p50 p75 p99", "2.00 ms 6.00 ms infinite", true},
		{"recipe", 2000, 3000, "p50", "infinite", false},
		{"load", 2000, 100, "p50 p90 p99", "2.00 ms 6.00 ms infinite", true},
		{"load", 2000, 10, "p50 p99", "2.00 ms 6.00 ms", false},
	} {
		r := resulttest.Overloaded(c.served, c.lost)
		r.Family = c.family
		page := document.New(resulttest.FileOf(r))
		var heads, cells []string
		for i, of := range page.Tables[0].Columns {
			if of.Over == "acquire from when due" || len(heads) > 0 && of.Over == "" && strings.HasPrefix(of.Head, "p") {
				heads, cells = append(heads, of.Head), append(cells, page.Tables[0].Rows[0][i])
			} else if len(heads) > 0 {
				break
			}
		}
		if strings.Join(heads, " ") != c.heads || strings.Join(cells, " ") != c.cells {
			t.Errorf("%+v: %q, %q", c, heads, cells)
		}
		if said := strings.Join(page.Findings, " "); c.family == "recipe" && strings.Contains(said, "p99 is infinite, since arrivals were not served") != c.finding {
			t.Errorf("%+v: %q", c, said)
		}
	}
}

// A percentile of response times reads as its figure does: infinite where it is the time of an arrival that was not
// served, also across repetitions, and n/a only where it is not known. What a call took is known only of those that were made.
func TestInfinitePercentiles(t *testing.T) {
	names := []string{"p50", "p90", "p99"}
	for _, c := range []struct {
		runs []results.Run
		want [2][]string // from when due, and from the call
	}{
		{[]results.Run{resulttest.Overloaded(2000, 0)}, [2][]string{{"2.00 ms", "6.00 ms", "6.00 ms"}, {"2.00 ms", "6.00 ms", "6.00 ms"}}},
		{[]results.Run{resulttest.Overloaded(2000, 100)}, [2][]string{{"2.00 ms", "6.00 ms", "infinite"}, {"2.00 ms", "6.00 ms", "6.00 ms"}}},
		{[]results.Run{resulttest.Overloaded(2000, 3000)}, [2][]string{{"infinite", "infinite", "infinite"}, {"2.00 ms", "6.00 ms", "6.00 ms"}}},
		{[]results.Run{resulttest.Overloaded(0, 2000)}, [2][]string{{"infinite", "infinite", "infinite"}, {"n/a", "n/a", "n/a"}}},
		{[]results.Run{resulttest.Overloaded(0, 150)}, [2][]string{{"infinite", "infinite", "infinite"}, {"n/a", "n/a", "n/a"}}},
		{[]results.Run{resulttest.Overloaded(2000, 100), resulttest.Overloaded(2000, 3000), resulttest.Overloaded(2000, 3000)},
			[2][]string{{"infinite", "infinite", "infinite"}, {"2.00 ms", "6.00 ms", "6.00 ms"}}},
	} {
		for i := range c.runs {
			c.runs[i].Repetition = i + 1
		}
		f := resulttest.FileOf(c.runs...)
		f.Percentiles = []float64{50, 90, 99}
		s := resulttest.SweepOf(c.runs...)
		s.Percentiles = f.Percentiles
		for _, v := range []results.Result{f, s} {
			table := document.New(v).Tables[0]
			first := slices.IndexFunc(table.Columns, func(c document.Column) bool { return c.Head == "p50" })
			for i, want := range slices.Concat(c.want[0], c.want[1]) {
				if got := table.Rows[0][first+i]; got != want {
					t.Errorf("%d served, %d lost: %T has %s %s, want %s", c.runs[0].Generator.Completed, c.runs[0].Generator.Skipped, v, names[i%3], got, want)
				}
			}
			if len(c.runs) > 1 {
				continue
			}
			for i, name := range names {
				is := figure.Known([]string{"acquire"}, "acquire.response."+name)[0].Read(c.runs[0])
				if got := table.Rows[0][first+i]; (got == units.Infinite) != is.Infinite() || (got == units.Absent) == is.Known() {
					t.Errorf("%s reads %s and is %+v", name, got, is)
				}
			}
		}
	}
	for lost, want := range map[int64]string{100: "acquire p90 is 6.00 ms from when it was due, 6.00 ms from the call; p99 is infinite, since arrivals were not served.", 3000: "acquire p50 is infinite: arrivals were not served."} {
		if said := document.New(resulttest.FileOf(resulttest.Overloaded(2000, lost))).Findings[0]; !strings.HasSuffix(said, ": "+want) {
			t.Errorf("%d lost: %q", lost, said)
		}
	}
}
