package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
)

// Table returns every figure: of runs with the given phases, of counts, and of observations with the
// given operations.
func Table(phases, operations []string) []Figure {
	window, whole, counted := costs()
	all := slices.Concat(throughput(), window, general(), generator(), sessions(), spreads(), whole, counted, server(), loads(), background())
	for _, p := range phases {
		all = append(all, latencies(p, false, func(r results.Run) results.Latency { return r.Latency[p] })...)
	}
	return slices.Concat(all, counts(), observed(), ofOperations(operations))
}

// All returns the figures that a run with the given phases can have. The caller must not change them.
func All(phases []string) []Figure {
	key := strings.Join(phases, "\n")
	if all, made := ofRuns.Load(key); made {
		return all.([]Figure)
	}
	all := slices.Clip(slices.DeleteFunc(Table(phases, nil), func(f Figure) bool { return f.run == nil }))
	ofRuns.Store(key, all)
	return all
}

// ofRuns keeps what All has returned, by the phases: a history asks for it with every run.
var ofRuns sync.Map

// Counts returns the figures of a settled run.
func Counts() []Figure { return counts() }

// Paths returns the figures of an observed path pattern.
func Paths() []Figure {
	return slices.DeleteFunc(Table(nil, nil), func(f Figure) bool { return f.path == nil })
}

// Observations returns the figures of whole observations of requests with the given names.
func Observations(operations []string) []Figure {
	return slices.DeleteFunc(Table(nil, operations), func(f Figure) bool { return f.observation == nil })
}

// OfObservations returns the figures of observations: of paths, and of all that was observed.
func OfObservations() []Figure {
	return slices.DeleteFunc(Table(nil, nil), func(f Figure) bool { return f.path == nil && f.observation == nil })
}

// Parse finds a figure by its name among those of a run with the given phases. "acquire.p99" is short
// for "acquire.response.p99". For an unknown name, the error is one line with the closest name, if there
// is one.
func Parse(name string, phases []string) (Figure, error) {
	all := All(phases)
	if f, err := Find(long(name, phases), all); err == nil {
		return f, nil
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Name, strings.Replace(f.Name, ".response.", ".", 1))
	}
	if suggest.Name(name, names) == "" { // there are too many names to list
		return Figure{}, fmt.Errorf("unknown metric %q: stampede help thresholds shows which there are", name)
	}
	return Figure{}, suggest.Unknown("metric", name, names)
}

// Find finds a figure by its full name. The error is one line that names the closest one or lists all.
func Find(name string, among []Figure) (Figure, error) {
	var names []string
	for _, f := range among {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Figure{}, suggest.Unknown("metric", name, names)
}

// Known returns the figures with the given names of runs with the given phases. The names are constants
// of the program.
func Known(phases []string, names ...string) (all []Figure) {
	for _, name := range names {
		f, err := Parse(name, phases)
		if err != nil {
			panic(err)
		}
		all = append(all, f)
	}
	return all
}

// each returns the rows with what they have in common. A row's own population, exactness, rule and sides
// come first.
func each(common Figure, rows ...Figure) []Figure {
	for i := range rows {
		r := &rows[i]
		r.Population, r.Exactness = cmp.Or(r.Population, common.Population), cmp.Or(r.Exactness, common.Exactness)
		r.Merge, r.Export, r.ends = cmp.Or(r.Merge, common.Merge), cmp.Or(r.Export, common.Export), r.ends || common.ends
		r.needs = cmp.Or(r.needs, common.needs)
		r.delay, r.unseen, r.absent = cmp.Or(r.delay, common.delay), cmp.Or(r.unseen, common.unseen), cmp.Or(r.absent, common.absent)
	}
	return rows
}

// The following make the function that takes a figure from a run.

// always is for what every run has.
func always[N int64 | float64](value func(results.Run) N) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) { return float64(value(r)), true }
}

// pointed is for what runs have if the pointer is not nil.
func pointed[T any](part func(results.Run) *T, value func(T) float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		p := part(r)
		if p == nil {
			return 0, false
		}
		return value(*p), true
	}
}

// ratio is for the quotient of two numbers. It is not known if the divisor is 0.
func ratio[N int64 | float64](parts func(results.Run) (N, N)) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		of, by := parts(r)
		if by == 0 {
			return 0, false
		}
		return float64(of) / float64(by), true
	}
}

// perSecond is for counts on the wire in a second of the window.
func perSecond(count func(results.Cost) int64) func(results.Run) (float64, bool) {
	return ratio(func(r results.Run) (float64, float64) { return float64(count(r.Cost)), r.DurationNS.Seconds() })
}

// second is for the rounds of one whole second of the window.
func second(choose func([]int64) int64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		all := r.Seconds()
		if all == nil {
			return 0, false
		}
		return float64(choose(all)), true
	}
}

func total(errors map[string]int64) (n int64) {
	for _, times := range errors {
		n += times
	}
	return n
}

// brokenIdentities is the figure that counts the broken identities.
const brokenIdentities = "identities.broken"

// Violations is the figure that counts safety violations, the one number of an unsafe run that is not void.
const Violations = "safety.violations"

// throughput returns the figures of the work that a run did.
func throughput() []Figure {
	seconds := each(Figure{Population: Window, Exactness: Timed, Merge: Derived, needs: twoSeconds},
		Figure{Name: "rounds_per_s.min", delay: slowsSome, Unit: PerSecond, Better: More, About: "rounds completed in the slowest whole second of the window",
			run: second(slices.Min[[]int64])},
		Figure{Name: "rounds_per_s.max", Unit: PerSecond, Better: More, About: "rounds completed in the fastest whole second of the window",
			run: second(slices.Max[[]int64])})
	return append(each(Figure{Population: Window, Exactness: Timed, Export: "stampede.rounds", delay: slows},
		Figure{Name: "rounds_per_s", Unit: PerSecond, Better: More, About: "rounds completed in a second",
			Merge: Derived, run: func(r results.Run) (float64, bool) { return r.ThroughputPerS, r.Rounds > 0 || r.DurationNS > 0 }},
		Figure{Name: "rounds", Better: Neither, About: "rounds completed in the window",
			Merge: Sum, run: always(func(r results.Run) int64 { return r.Rounds })},
		Figure{Name: "notifications_per_s", Unit: PerSecond, Better: Neither, About: "notifications in a second",
			Merge: Derived, Export: "stampede.notifications",
			run: perSecond(func(c results.Cost) int64 { return c.Notifications })},
		Figure{Name: "operations_per_s", Unit: PerSecond, Better: Neither, About: "reads and writes in a second",
			Merge: Derived, Export: "stampede.operations",
			run: perSecond(func(c results.Cost) int64 { return c.Reads + c.Writes })}),
		append(seconds, heartbeats())...)
}

// heartbeats returns the figure of what sessions cost that do nothing. They are counted: a busy machine sends no more of them.
func heartbeats() Figure {
	return Figure{Name: "heartbeats_per_s", Unit: PerSecond, Population: Window, Exactness: Schedule, Merge: Derived,
		About: "heartbeats of sessions and renewals of leases in a second", run: perSecond(func(c results.Cost) int64 { return c.Heartbeats })}
}

// general returns the figures of a run's safety and fairness, and the ratios of its counts.
//
// A doubt about the processor time of the generator or of its machine touches times and rates, and how much was done, of
// what was asked or in the window, which is a rate in another unit. What was counted, and what share of it was of a kind,
// is what it is: see [Figure.Timed].
func general() []Figure {
	fairness := func(value func(results.Fairness) float64) func(results.Run) (float64, bool) {
		return pointed(func(r results.Run) *results.Fairness { return r.Fairness }, value)
	}
	return each(Figure{Population: Window, Exactness: Schedule, Merge: Sum},
		Figure{Name: "read_write_ratio", Better: Neither, About: "reads to each write", Merge: Derived,
			run: pointed(func(r results.Run) *float64 { return r.Cost.ReadWriteRatio }, func(v float64) float64 { return v })},
		Figure{Name: "wasted", needs: wakeUps, Unit: Share, older: Either, absent: "it is not clear what the sessions wait for",
			About: "share of notifications after which a client waited again",
			Merge: Derived, Export: "stampede.wakeups", path: wastedShare,
			run: ratio(func(r results.Run) (int64, int64) { return r.Herd.Wasted, r.Herd.Useful + r.Herd.Wasted })},
		Figure{Name: "watches.left", ends: true, About: "watches that were armed when the run ended, without persistent ones",
			run: always(func(r results.Run) int64 { return r.Herd.Leftover })},
		Figure{Name: "return.reads", ends: true, needs: faults, About: "reads while clients returned after faults, in at least one second after each",
			run: pointed(func(r results.Run) *results.Breakage { return r.Faults }, func(b results.Breakage) (reads float64) {
				for _, fault := range b.Recovery {
					reads += float64(fault.Reads)
				}
				return reads
			})},
		Figure{Name: Violations, ends: true, About: "safety violations", Exactness: Formula, Export: "stampede.safety.violations",
			// Without a check, no violation proves nothing.
			run: func(r results.Run) (float64, bool) {
				return float64(r.Safety.Violations), r.Safety.Checked > 0 || r.Safety.Violations > 0
			}},
		Figure{Name: "safety.checked", ends: true, Better: Neither, About: "safety checks",
			run: always(func(r results.Run) int64 { return r.Safety.Checked })},
		Figure{Name: "safety.belief_overlaps", ends: true, About: "times that two clients believed to hold after a disturbance",
			run: always(func(r results.Run) int64 { return r.Safety.BeliefOverlaps })},
		Figure{Name: brokenIdentities, About: "relations of the counts that do not hold",
			Population: WholeRounds, Exactness: Formula, Merge: Coordinator, run: broken},
		Figure{Name: "fairness.jain", needs: grants, Better: More, About: "Jain's index of the rounds of each client", Merge: Derived,
			run: fairness(func(f results.Fairness) float64 { return f.Jain })},
		Figure{Name: "fairness.inversions", needs: grants, About: "grants out of the order in which clients came",
			run: fairness(func(f results.Fairness) float64 { return float64(f.Inversions) })},
		Figure{Name: "fairness.longest_wait", needs: grants, Unit: Nanoseconds, About: "the longest that a client waited",
			Exactness: Timed, Merge: Max, delay: lengthens,
			run: fairness(func(f results.Fairness) float64 { return float64(f.LongestWaitNS) })},
		Figure{Name: "errors", About: "operations that failed", Export: "stampede.errors",
			run: always(func(r results.Run) int64 { return total(r.Errors) })})
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

// A cost is a count on the wire of which figures tell the cost of a round.
type cost struct {
	name, export string
	window       func(results.PerRound) float64
	whole        func(results.Totals) int64 // nil if it is not a figure over whole rounds
	exactness    Exactness                  // over whole rounds
	server       func(results.Server) int64 // nil if servers do not count it
}

// costs returns what a round costs on the wire: in the window, in whole rounds, and as the server counts.
//
// Only the costs of whole rounds can be exact: some rounds are in progress at the window's edges.
func costs() (window, whole, server []Figure) {
	for _, c := range []cost{
		{"notifications", "stampede.notifications", func(p results.PerRound) float64 { return p.Notifications },
			func(t results.Totals) int64 { return t.Notifications }, Formula, func(s results.Server) int64 { return s.Notifications }},
		{"reads", "stampede.operations", func(p results.PerRound) float64 { return p.Reads },
			func(t results.Totals) int64 { return t.Reads }, Formula, func(s results.Server) int64 { return s.Reads }},
		{"writes", "stampede.operations", func(p results.PerRound) float64 { return p.Writes },
			func(t results.Totals) int64 { return t.Writes }, Formula, func(s results.Server) int64 { return s.Writes }},
		{"failed_writes", "stampede.operations", func(p results.PerRound) float64 { return p.FailedWrites },
			func(t results.Totals) int64 { return t.FailedWrites }, Formula, nil},
		{"rpcs", "", func(p results.PerRound) float64 { return p.RPCs },
			func(t results.Totals) int64 { return t.RPCs }, Schedule, nil},
		{"bytes_in", "stampede.network.io", func(p results.PerRound) float64 { return p.BytesIn }, nil, "", nil},
		{"bytes_out", "stampede.network.io", func(p results.PerRound) float64 { return p.BytesOut }, nil, "", nil},
	} {
		name, words := c.name+"_per_round", strings.ReplaceAll(c.name, "_", " ")
		unit := PerRound
		if strings.HasPrefix(c.name, "bytes_") {
			unit = Bytes
		}
		window = append(window, Figure{Name: name, Unit: unit, About: words + " that a round cost",
			Population: Window, Exactness: Schedule, Merge: Derived, Export: c.export,
			run: pointed(func(r results.Run) *results.PerRound { return r.Cost.PerRound }, c.window)})
		if c.whole != nil {
			whole = append(whole, Figure{Name: "whole." + name, Unit: unit, About: words + " that a round cost, over all rounds of the run",
				Population: WholeRounds, Exactness: c.exactness, Merge: Derived,
				run: ratio(func(r results.Run) (int64, int64) { return c.whole(r.Cost.Whole), r.Cost.WholeRounds })})
		}
		if c.server != nil {
			server = append(server, Figure{Name: "server." + name, Unit: unit,
				About:      words + " that a round cost, as the server counts, including those of other clients",
				Population: ServerInterval, Exactness: Schedule, Merge: Coordinator,
				run: ratio(func(r results.Run) (int64, int64) {
					if r.Server == nil {
						return 0, 0
					}
					return c.server(*r.Server), serverRounds(r)
				})})
		}
	}
	return window, whole, server
}

// spreads returns the figures of the distributions that every run has.
func spreads() []Figure {
	// What woke a session is decided seconds later, so a run in progress lags behind.
	common := Figure{Population: Window, Exactness: Schedule, Merge: Coordinator, ends: true, needs: notifications}
	fanout := distribution(common, "fanout", Number, "sessions that one write notifies", "stampede.write.fanout",
		func(r results.Run) *results.Distribution { return r.Herd.Fanout })
	for i := range fanout {
		addFanout(&fanout[i])
	}
	common.Exactness, common.delay = Timed, shifts
	drain := distribution(common, "drain", Nanoseconds, "from the first to the last notification of one write",
		"stampede.write.drain.duration", func(r results.Run) *results.Distribution { return r.Herd.Drain })
	common.Merge, common.delay, common.ends, common.needs = Histogram, anyhow, false, nil
	return slices.Concat(fanout, drain, distribution(common, "generator.lag", Nanoseconds, "how late the clients' timers ran",
		"stampede.generator.lag.duration", func(r results.Run) *results.Distribution { return r.Generator.Lag }))
}

// generator returns the figures of the load generator and of its machine.
func generator() []Figure {
	arriving := func(count func(results.Generator) int64) func(results.Run) (float64, bool) {
		return func(r results.Run) (float64, bool) { return float64(count(r.Generator)), r.Generator.Offered > 0 }
	}
	machine := func(value func(results.Machine) float64) func(results.Run) (float64, bool) {
		return pointed(func(r results.Run) *results.Machine { return r.Generator.Machine }, value)
	}
	return each(Figure{Population: Window, Exactness: Timed, Merge: Sum},
		Figure{Name: "generator.cpu_cores", Better: Neither, About: "processors that the clients kept busy", Export: "stampede.generator.cpu.time",
			run: always(func(r results.Run) float64 { return r.Generator.CPUCores })},
		Figure{Name: "generator.cpu_per_round", Unit: Nanoseconds, Merge: Derived,
			About: "processor time that a round cost the clients, and the native server if it is in their process",
			run: ratio(func(r results.Run) (float64, float64) {
				return r.Generator.CPUCores * float64(r.DurationNS), float64(r.Rounds)
			})},
		Figure{Name: "generator.stolen_cores", About: "processors that the hypervisor gave to others", Merge: Coordinator,
			Export: "stampede.generator.cpu.steal.time", run: always(func(r results.Run) float64 { return r.Generator.StolenCores })},
		Figure{Name: "generator.waiting_threads", About: "threads of the clients that waited for a processor, on average",
			Merge: Coordinator, run: machine(func(m results.Machine) float64 { return m.WaitingThreads })},
		Figure{Name: "machine.busy", Unit: Share, Better: Neither, About: "share in use of the processors that the run may use",
			Merge: Coordinator, run: machine(func(m results.Machine) float64 { return m.BusyCores / m.Cores })},
		Figure{Name: "machine.server_cores", needs: startedServers, About: "processors that the servers which the run started used",
			Merge: Coordinator, run: func(r results.Run) (float64, bool) {
				m := r.Generator.Machine
				if m == nil || m.StartedResidentBytes == 0 {
					return 0, false
				}
				return m.StartedCores, true
			}},
		Figure{Name: "machine.other_cores", About: "processors that programs which are not of the run used",
			Merge: Coordinator, run: machine(func(m results.Machine) float64 { return m.OtherCores })},
		Figure{Name: "generator.gc_pause", Unit: Nanoseconds, About: "how long the clients' collector stopped them", Merge: Max,
			Export: "stampede.generator.gc.pause.time", run: always(func(r results.Run) int64 { return int64(r.Generator.GCPauseNS) })},
		Figure{Name: "rate.offered", needs: aRate, Unit: PerSecond, Better: Neither, About: "arrivals in a second, in an open loop", Merge: Derived,
			Export: "stampede.arrivals",
			run:    func(r results.Run) (float64, bool) { return r.OfferedPerS, r.Generator.Offered > 0 }},
		Figure{Name: "rate.achieved", needs: aRate, Unit: Share, Better: More, About: "arrivals of the window that were completed, of those that were due", Merge: Derived, delay: slows,
			run: ratio(func(r results.Run) (int64, int64) {
				return r.Generator.Offered - r.Generator.Lost(), r.Generator.Offered
			})},
		Figure{Name: "generator.late", needs: aRate, About: "arrivals for which no client was free when they were due", Export: "stampede.arrivals",
			run: arriving(func(g results.Generator) int64 { return g.Late })},
		Figure{Name: "generator.skipped", needs: aRate, About: "arrivals that no client ever started", Export: "stampede.arrivals",
			run: arriving(func(g results.Generator) int64 { return g.Skipped })},
		Figure{Name: "generator.failed", needs: aRate, About: "arrivals that were lost, with their session for instance",
			run: arriving(func(g results.Generator) int64 { return g.Failed })},
		Figure{Name: "generator.unfinished", endsWithout: aRate, About: "arrivals, or turns of a closed loop, that had not ended",
			run: always(func(r results.Run) int64 { return r.Generator.Unfinished })})
}

// sessions returns the figures of what happened to the clients' sessions.
func sessions() []Figure {
	// A client that is short of CPU can only lose more sessions.
	return each(Figure{Population: Window, Exactness: Timed, Merge: Sum, delay: adds, ends: true},
		Figure{Name: "sessions.lost", About: "sessions that the service ended",
			run: always(func(r results.Run) int64 { return r.Sessions.Lost })},
		Figure{Name: "sessions.given_up", About: "sessions that clients ended, disconnected for their time-out",
			run: always(func(r results.Run) int64 { return r.Sessions.GivenUp })},
		Figure{Name: "sessions.disconnected", About: "clients that had no connection at some time",
			run: always(func(r results.Run) int64 { return r.Sessions.Disconnected })},
		Figure{Name: "sessions.disconnections", About: "how often clients were disconnected, in all",
			run: always(func(r results.Run) int64 { return r.Sessions.Disconnections })})
}

// server returns the figures of the servers, besides the costs that they count themselves.
func server() []Figure {
	// started is known if the run started servers in processes of their own, and rounds ended.
	started := func(value func(results.Run, results.Machine) float64) func(results.Run) (float64, bool) {
		return func(r results.Run) (float64, bool) {
			m := r.Generator.Machine
			if m == nil || m.StartedResidentBytes == 0 || r.Rounds == 0 {
				return 0, false
			}
			return value(r, *m), true
		}
	}
	fsyncs := func(r results.Run) results.Fsyncs {
		if r.Server == nil || r.Server.Fsyncs == nil {
			return results.Fsyncs{}
		}
		return *r.Server.Fsyncs
	}
	return each(Figure{Population: Window, Exactness: Timed, Merge: Coordinator},
		Figure{Name: "server.cpu_per_round", needs: startedServers, Unit: Nanoseconds, About: "processor time that a round cost the servers which the run started",
			run: started(func(r results.Run, m results.Machine) float64 {
				return m.StartedCores * float64(r.DurationNS) / float64(r.Rounds)
			})},
		Figure{Name: "server.written_per_round", needs: startedServers, Unit: Bytes, About: "bytes that the servers which the run started had the disk write for a round",
			run: started(func(r results.Run, m results.Machine) float64 {
				return float64(m.StartedWrittenBytes) / float64(r.Rounds)
			})},
		Figure{Name: "server.memory", needs: startedServers, Unit: Bytes, About: "memory of the servers which the run started, at the end",
			run: started(func(_ results.Run, m results.Machine) float64 { return float64(m.StartedResidentBytes) })},
		Figure{Name: "server.fsyncs_per_round", needs: aLog, Unit: PerRound, About: "times that the server had the disk confirm its log for a round",
			Population: ServerInterval,
			run: func(r results.Run) (float64, bool) {
				if r.Server == nil || r.Server.Fsyncs == nil || serverRounds(r) == 0 {
					return 0, false
				}
				return float64(r.Server.Fsyncs.Count) / float64(serverRounds(r)), true
			}},
		Figure{Name: "server.fsync_mean", needs: aLog, Unit: Nanoseconds, About: "how long the disk took to confirm the server's log, on average",
			Population: ServerInterval,
			run: func(r results.Run) (float64, bool) {
				f := fsyncs(r)
				return float64(f.TookNS) / float64(max(f.Count, 1)), f.TookNS > 0 && serverRounds(r) > 0
			}})
}

// serverRounds returns the rounds that ended while the server counted.
func serverRounds(r results.Run) int64 { return cmp.Or(r.Server.Rounds, r.Rounds) }
