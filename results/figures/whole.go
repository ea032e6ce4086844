package figures

import (
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// whole returns the costs per round over whole rounds: from the first to the last round of the run,
// including the warm-up and the end. These costs are exact. The window's counts are not, since some
// rounds are in progress at its edges.
func whole() []Figure {
	counts := func(what string, of func(results.Totals) int64) Figure {
		return Figure{"whole." + what + "_per_round", PerRound, Less, false, strings.ReplaceAll(what, "_", " ") + " that a round cost, over whole rounds",
			func(r results.Run) (float64, bool) {
				return float64(of(r.Cost.Whole)) / float64(max(r.Cost.WholeRounds, 1)), r.Cost.WholeRounds > 0
			}}
	}
	return []Figure{
		counts("notifications", func(t results.Totals) int64 { return t.Notifications }),
		counts("reads", func(t results.Totals) int64 { return t.Reads }),
		counts("writes", func(t results.Totals) int64 { return t.Writes }),
		counts("failed_writes", func(t results.Totals) int64 { return t.FailedWrites }),
		counts("rpcs", func(t results.Totals) int64 { return t.RPCs }),
	}
}

// server returns the costs per round as the server itself counted them.
func server() []Figure {
	counts := func(what string, of func(results.Server) int64) Figure {
		return Figure{"server." + what + "_per_round", PerRound, Less, false, what + " that a round cost, as the server counts, others' doings included",
			func(r results.Run) (float64, bool) {
				if r.Server == nil || r.Rounds == 0 {
					return 0, false
				}
				return float64(of(*r.Server)) / float64(r.Rounds), true
			}}
	}
	return []Figure{
		counts("notifications", func(s results.Server) int64 { return s.Notifications }),
		counts("reads", func(s results.Server) int64 { return s.Reads }),
		counts("writes", func(s results.Server) int64 { return s.Writes }),
	}
}
