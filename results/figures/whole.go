package figures

import (
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// whole are the costs of a round over all rounds from the first to the last, the
// warm-up and the end included. At the edges of the window some rounds are under
// way, so that its counts are off by as many; these are exact.
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

// server are the costs of a round as the server itself counted them.
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
