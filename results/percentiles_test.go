package results

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sideBySideOf returns a file with the recipe and the naive form, with the given numbers of rounds.
func sideBySideOf(calm, naive int64) File {
	return file(
		sample{"predecessor", "recipe", 128, calm, 1, 3, 2, 300 * time.Microsecond, 49 * time.Millisecond, 1, 0}.run(native()),
		sample{"one-node", "naive", 128, naive, 80, 80, 82, 3 * time.Millisecond, 400 * time.Millisecond, 127, 0.99}.run(native()))
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
		found := cited.FindStringSubmatch(strings.Join(f.Findings(), "\n"))
		if found == nil || found[1] != c.want {
			t.Errorf("%d and %d rounds: %q, want %s", c.calm, c.naive, f.Findings(), c.want)
			continue
		}
		var b strings.Builder
		if err := f.WriteTable(&b, TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.Contains(text, "n/a") || !strings.Contains(text, " "+c.want+" ") {
			t.Errorf("%d and %d rounds:\n%s", c.calm, c.naive, text)
		}
	}
}

// Chosen percentiles are always shown, with n/a where the counts do not support them, by the same
// rule as for all others.
func TestPercentilesAreChosen(t *testing.T) {
	f := sideBySideOf(12_000, 1_500)
	f.Percentiles = []float64{50, 95, 99, 99.9}
	g := table(f.Runs, chosenOf(f.Percentiles, f.Runs))
	for _, name := range []string{"p50", "p95", "p99", "p99.9"} {
		at := g.place(name)
		if at < 0 {
			t.Fatalf("no column %s", name)
		}
		for i, row := range g.rows {
			if known := row[at] != absent; known != (i == 0 || name != "p99.9") {
				t.Errorf("%s of row %d is %s", name, i, row[at])
			}
		}
	}
	if line := f.Findings()[1]; !strings.HasPrefix(line, "Hand-off p99 is ") {
		t.Errorf("%q cites no percentile that was chosen and both support", line)
	}
}

// A load makes tens of thousands of operations, so its table shows p99.
func TestLoadsShowTheirNinetyNinth(t *testing.T) {
	for rounds, want := range map[int64]string{5000: "p50 p99", 500: "p50 p90", 50: "p50 p75", 25: "p50"} {
		r := sample{rounds: rounds, acquire: time.Millisecond, handoff: time.Millisecond}.run(native())
		r.Family = "load"
		runs := []Run{r}
		var names []string
		for _, p := range chosenOf(nil, runs).of(runs, func(r Run) *Distribution { return r.latency("acquire") }) {
			names = append(names, percentileName(p))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d operations: %s, want %s", rounds, got, want)
		}
	}
}

// The same rule applies to percentiles that the file stores and to those computed from the histogram.
func TestPercentilesAgreeWithTheHistogram(t *testing.T) {
	for _, n := range []int64{19, 20, 99, 100, 999, 1000, 9999, 10_000} {
		d := distribution(spread(n, time.Millisecond))
		whole := *d
		whole.P50, whole.P90, whole.P99, whole.P999 = nil, nil, nil, nil
		for p, written := range map[float64]*int64{50: d.P50, 90: d.P90, 99: d.P99, 99.9: d.P999} {
			near, known := whole.At(p - 1e-9)
			if known != (written != nil) || known && near != *written {
				t.Errorf("p%v of %d: %s written, %d and %v of the histogram", p, n, fmt.Sprint(written), near, known)
			}
		}
	}
}
