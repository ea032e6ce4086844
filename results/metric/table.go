package metric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
)

// All returns the metrics that a run with the given phases can have.
func All(phases []string) []Metric {
	all := slices.Concat(general(), whole(), server(), loads())
	for _, p := range phases {
		all = append(all, latencies(p, func(r results.Run) results.Latency { return r.Latency[p] })...)
	}
	return all
}

// Parse finds a metric by its name among those of a run with the given phases. "acquire.p99" is short
// for "acquire.response.p99". For an unknown name, the error is one line with the closest name, if there
// is one.
func Parse(name string, phases []string) (Metric, error) {
	all := All(phases)
	if i := slices.IndexFunc(all, func(f Metric) bool { return f.Name == long(name, phases) }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Name, strings.Replace(f.Name, ".response.", ".", 1))
	}
	if suggest.Name(name, names) == "" { // there are too many names to list
		return Metric{}, fmt.Errorf("unknown metric %q: stampede help thresholds shows which there are", name)
	}
	return Metric{}, suggest.Unknown("metric", name, names)
}

// general returns the metrics of every run.
func general() []Metric {
	all := []Metric{
		{"rounds_per_s", PerSecond, More, true, "rounds completed in a second", func(r results.Run) (float64, bool) { return r.ThroughputPerS, r.Rounds > 0 }},
		{"rounds", Number, Neither, true, "rounds completed in the window", exact(func(r results.Run) int64 { return r.Rounds })},
		perRound("notifications", func(p results.PerRound) float64 { return p.Notifications }),
		perRound("reads", func(p results.PerRound) float64 { return p.Reads }),
		perRound("writes", func(p results.PerRound) float64 { return p.Writes }),
		perRound("failed_writes", func(p results.PerRound) float64 { return p.FailedWrites }),
		perRound("rpcs", func(p results.PerRound) float64 { return p.RPCs }),
		perRound("bytes_in", func(p results.PerRound) float64 { return p.BytesIn }),
		perRound("bytes_out", func(p results.PerRound) float64 { return p.BytesOut }),
		{"read_write_ratio", Number, Neither, false, "reads to each write", known(func(r results.Run) *float64 { return r.Cost.ReadWriteRatio })},
		{"wasted", Share, Less, false, "share of notifications after which a client went back to sleep", wasted},
		{"safety.violations", Number, Less, false, "safety violations", exact(func(r results.Run) int64 { return r.Safety.Violations })},
		{"safety.checked", Number, Neither, true, "safety checks", exact(func(r results.Run) int64 { return r.Safety.Checked })},
		{"safety.belief_overlaps", Number, Less, false, "times that two clients believed to hold after a disturbance", exact(func(r results.Run) int64 { return r.Safety.BeliefOverlaps })},
		{"identities.broken", Number, Less, false, "relations of the counts that do not hold", broken},
		{"fairness.jain", Number, More, false, "Jain's index of the rounds of each client", fairness(func(f results.Fairness) float64 { return f.Jain })},
		{"fairness.inversions", Number, Less, false, "grants out of the order in which clients came", fairness(func(f results.Fairness) float64 { return float64(f.Inversions) })},
		{"fairness.longest_wait", Nanoseconds, Less, true, "the longest that a client waited", fairness(func(f results.Fairness) float64 { return float64(f.LongestWaitNS) })},
		{"errors", Number, Less, false, "operations that failed", exact(failures)},
		{"generator.cpu_cores", Number, Neither, true, "processors that the clients kept busy", func(r results.Run) (float64, bool) { return r.Generator.CPUCores, true }},
		{"generator.cpu_per_round", Nanoseconds, Less, true, "processor time that a round cost the clients, and the native server if it is in their process", func(r results.Run) (float64, bool) {
			return r.Generator.CPUCores * float64(r.DurationNS) / float64(max(r.Rounds, 1)), r.Rounds > 0
		}},
		{"generator.stolen_cores", Number, Less, true, "processors that the hypervisor gave to others", func(r results.Run) (float64, bool) { return r.Generator.StolenCores, true }},
		{"generator.waiting_threads", Number, Less, true, "threads of the clients that waited for a processor, on average", machine(func(m results.Machine) float64 { return m.WaitingThreads })},
		{"machine.busy", Share, Neither, true, "share of the machine's processors in use", machine(func(m results.Machine) float64 { return m.BusyCores / float64(m.Cores) })},
		{"machine.server_cores", Number, Less, true, "processors that the servers which the run started used", machine(func(m results.Machine) float64 { return m.StartedCores })},
		{"machine.other_cores", Number, Less, true, "processors that programs which are not of the run used", machine(func(m results.Machine) float64 { return m.OtherCores })},
		{"generator.gc_pause", Nanoseconds, Less, true, "how long the clients' collector stopped them", exact(func(r results.Run) int64 { return int64(r.Generator.GCPauseNS) })},
		{"rate.offered", PerSecond, Neither, true, "arrivals in a second, in an open loop", func(r results.Run) (float64, bool) { return r.OfferedPerS, r.Generator.Offered > 0 }},
		{"rate.achieved", Share, More, true, "rounds completed of those that were offered", achieved},
		{"generator.late", Number, Less, true, "arrivals for which no client was free when they were due", exact(func(r results.Run) int64 { return r.Generator.Late })},
		{"generator.skipped", Number, Less, true, "arrivals that no client ever started", exact(func(r results.Run) int64 { return r.Generator.Skipped })},
		{"generator.failed", Number, Less, true, "arrivals that were lost, with their session for instance", exact(func(r results.Run) int64 { return r.Generator.Failed })},
		{"generator.unfinished", Number, Less, true, "arrivals, or turns of a closed loop, that had not ended", exact(func(r results.Run) int64 { return r.Generator.Unfinished })},
	}
	all = append(all, distribution("fanout", Number, false, "notifications of one write", func(r results.Run) *results.Distribution { return r.Herd.Fanout })...)
	all = append(all, distribution("drain", Nanoseconds, true, "from the first to the last notification of one write", func(r results.Run) *results.Distribution { return r.Herd.Drain })...)
	return append(all, distribution("generator.lag", Nanoseconds, true, "how late the clients' timers ran", func(r results.Run) *results.Distribution { return r.Generator.Lag })...)
}

// machine is not known for older files, nor if the kernel does not provide it.
func machine(of func(results.Machine) float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		if r.Generator.Machine == nil {
			return 0, false
		}
		return of(*r.Generator.Machine), true
	}
}

func exact(of func(results.Run) int64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) { return float64(of(r)), true }
}

// known converts a nil pointer to a value that is not known.
func known(of func(results.Run) *float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		v := of(r)
		if v == nil {
			return 0, false
		}
		return *v, true
	}
}

func perRound(what string, of func(results.PerRound) float64) Metric {
	f := Metric{Name: what + "_per_round", Unit: PerRound, Better: Less, About: strings.ReplaceAll(what, "_", " ") + " that a round cost"}
	if what == "bytes_in" || what == "bytes_out" {
		f.Unit = Bytes
	}
	f.of = func(r results.Run) (float64, bool) {
		if r.Cost.PerRound == nil {
			return 0, false
		}
		return of(*r.Cost.PerRound), true
	}
	return f
}

func achieved(r results.Run) (float64, bool) {
	if r.Generator.Offered == 0 {
		return 0, false
	}
	return float64(r.Rounds) / float64(r.Generator.Offered), true
}

func wasted(r results.Run) (float64, bool) {
	woken := r.Herd.Useful + r.Herd.Wasted
	if woken == 0 {
		return 0, false
	}
	return float64(r.Herd.Wasted) / float64(woken), true
}

func broken(r results.Run) (float64, bool) {
	if r.Cost.Expected == nil || r.Cost.Expected.Invalid != "" {
		return 0, false
	}
	n := 0
	for _, i := range r.Cost.Expected.Identities {
		if !i.Holds {
			n++
		}
	}
	return float64(n), true
}

func fairness(of func(results.Fairness) float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		if r.Fairness == nil {
			return 0, false
		}
		return of(*r.Fairness), true
	}
}

func failures(r results.Run) int64 { return sum(r.Errors) }

func sum(errors map[string]int64) (n int64) {
	for _, times := range errors {
		n += times
	}
	return n
}
