package levels

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/results"
)

// What a run requests besides its clients stands under the table, for the most clients, and forms that differ are named.
func TestUpkeepStandsBesideTheCosts(t *testing.T) {
	run := func(form string, clients int, rounds, writes, reads int64) results.Run {
		r := results.Run{Form: form, Clients: clients, Rounds: rounds}
		if writes+reads > 0 {
			r.Cost.Upkeep = &results.Upkeep{Reads: reads, Writes: writes}
		}
		return r
	}
	for _, c := range []struct {
		name string
		runs []results.Run
		want []string
	}{
		{"none", []results.Run{run("predecessor", 5, 10, 0, 0)}, nil},
		{"no rounds", []results.Run{run("ready", 5, 0, 3, 2)}, nil},
		{"one form", []results.Run{run("ready", 2, 10, 10, 20), run("ready", 5, 10, 30, 20)},
			[]string{"not in the table: to make and remove the nodes of a round, the run itself needs 3.00 writes and 2.00 reads with 5 clients"}},
		{"others", []results.Run{run("a", 5, 10, 20, 10), run("c", 5, 10, 30, 20), run("b", 5, 10, 30, 20)},
			[]string{"not in the table: to make and remove the nodes of a round, the run itself needs 3.00 writes and 2.00 reads with 5 clients; a: 2.00 writes and 1.00 reads"}},
	} {
		if got := Upkeep(c.runs); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
