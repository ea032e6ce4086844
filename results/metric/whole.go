package metric

import (
	"cmp"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// whole returns the costs per round over whole rounds: from the first to the last round of the run,
// including the warm-up and the end. These costs are exact. The window's counts are not, since some
// rounds are in progress at its edges.
func whole() []Metric {
	counts := func(what string, of func(results.Totals) int64) Metric {
		return Metric{"whole." + what + "_per_round", PerRound, Less, false, strings.ReplaceAll(what, "_", " ") + " that a round cost, over whole rounds",
			func(r results.Run) (float64, bool) {
				return float64(of(r.Cost.Whole)) / float64(max(r.Cost.WholeRounds, 1)), r.Cost.WholeRounds > 0
			}}
	}
	return []Metric{
		counts("notifications", func(t results.Totals) int64 { return t.Notifications }),
		counts("reads", func(t results.Totals) int64 { return t.Reads }),
		counts("writes", func(t results.Totals) int64 { return t.Writes }),
		counts("failed_writes", func(t results.Totals) int64 { return t.FailedWrites }),
		counts("rpcs", func(t results.Totals) int64 { return t.RPCs }),
	}
}

// server returns the costs per round as the server itself counted them.
func server() []Metric {
	counts := func(what string, of func(results.Server) int64) Metric {
		return Metric{"server." + what + "_per_round", PerRound, Less, false, what + " that a round cost, as the server counts, including those of other clients",
			func(r results.Run) (float64, bool) {
				if r.Server == nil || serverRounds(r) == 0 {
					return 0, false
				}
				return float64(of(*r.Server)) / float64(serverRounds(r)), true
			}}
	}
	return []Metric{
		counts("notifications", func(s results.Server) int64 { return s.Notifications }),
		counts("reads", func(s results.Server) int64 { return s.Reads }),
		counts("writes", func(s results.Server) int64 { return s.Writes }),
		{"server.cpu_per_round", Nanoseconds, Less, true, "processor time that a round cost the servers which the run started", started(func(r results.Run, m results.Machine) float64 {
			return m.StartedCores * float64(r.DurationNS) / float64(r.Rounds)
		})},
		{"server.written_per_round", Bytes, Less, true, "bytes that the servers which the run started had the disk write for a round", started(func(r results.Run, m results.Machine) float64 {
			return float64(m.StartedWrittenBytes) / float64(r.Rounds)
		})},
		{"server.memory", Bytes, Less, true, "memory of the servers which the run started, at the end", started(func(_ results.Run, m results.Machine) float64 {
			return float64(m.StartedResidentBytes)
		})},
		{"server.fsyncs_per_round", PerRound, Less, true, "times that the server had the disk confirm its log for a round", fsyncs(func(r results.Run, f results.Fsyncs) (float64, bool) {
			return float64(f.Count) / float64(serverRounds(r)), true
		})},
		{"server.fsync_mean", Nanoseconds, Less, true, "how long the disk took to confirm the server's log, on average", fsyncs(func(_ results.Run, f results.Fsyncs) (float64, bool) {
			return float64(f.TookNS) / float64(max(f.Count, 1)), f.TookNS > 0
		})},
	}
}

// started is known if the run started servers in processes of their own, and rounds ended.
func started(of func(results.Run, results.Machine) float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		m := r.Generator.Machine
		if m == nil || m.StartedResidentBytes == 0 || r.Rounds == 0 {
			return 0, false
		}
		return of(r, *m), true
	}
}

// fsyncs is known if the server tells, and rounds ended.
func fsyncs(of func(results.Run, results.Fsyncs) (float64, bool)) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		if r.Server == nil || r.Server.Fsyncs == nil || serverRounds(r) == 0 {
			return 0, false
		}
		return of(r, *r.Server.Fsyncs)
	}
}

// serverRounds returns the rounds that ended while the server counted.
func serverRounds(r results.Run) int64 { return cmp.Or(r.Server.Rounds, r.Rounds) }
