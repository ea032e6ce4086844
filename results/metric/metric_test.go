package metric_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
)

// distribution returns a distribution whose statistics are 1 to 7 units, in order of size.
func distribution(unit int64) *results.Distribution {
	at := func(n int64) *int64 { n *= unit; return &n }
	return &results.Distribution{Min: unit, Mean: 2 * float64(unit), P50: at(3), P90: at(4), P99: at(5), P999: at(6), Max: 7 * unit}
}

func signed(unit int64) *results.Signed {
	at := func(n int64) *int64 { n *= unit; return &n }
	return &results.Signed{Min: -unit, P50: at(2), P99: at(3), Max: 4 * unit}
}

// full returns a run that has a value for every metric.
func full() results.Run {
	ms := int64(time.Millisecond)
	phase := results.Latency{Response: distribution(2 * ms), Service: distribution(ms)}
	ratio := 9.0
	return results.Run{
		Rounds: 1900, DurationNS: 2 * time.Second, ThroughputPerS: 950, OfferedPerS: 1000,
		Latency: map[string]results.Latency{"acquire": phase},
		Herd:    results.Herd{Fanout: distribution(10), Drain: distribution(ms), Useful: 1, Wasted: 3},
		Cost: results.Cost{ReadWriteRatio: &ratio,
			PerRound: &results.PerRound{Notifications: 1.5, Reads: 2.5, Writes: 3.5, FailedWrites: 4.5, RPCs: 5.5, BytesIn: 2048, BytesOut: 512},
			Whole:    results.Totals{Notifications: 2000, Reads: 4000, Writes: 6000, FailedWrites: 500, RPCs: 8000}, WholeRounds: 2000,
			Expected: &results.Expected{Identities: []results.Identity{{Holds: true}, {}}}},
		Fanout: &results.Fanout{Notifications: 75, Missed: 25,
			FromAck: results.FromAck{First: signed(ms), Median: signed(2 * ms), Last: signed(3 * ms), Each: signed(4 * ms)}},
		Mix: &results.Mix{Retries: 8}, ReadRatio: &results.ReadRatio{Asked: 0.9, Achieved: 0.91},
		Background: &results.Background{ThroughputPerS: 500, ReadRatio: results.ReadRatio{Achieved: 0.5}, Late: 1, Skipped: 2, Unfinished: 3,
			Errors: map[string]int64{"a": 4, "b": 5}, Latency: map[string]results.Latency{"read": phase, "write": phase}},
		Fairness: &results.Fairness{Jain: 0.998, Inversions: 6, LongestWaitNS: 70 * time.Millisecond},
		Safety:   results.Safety{Checked: 1900, Violations: 1, BeliefOverlaps: 2},
		Generator: results.Generator{CPUCores: 1.25, StolenCores: 0.1, Machine: &results.Machine{Cores: 2, BusyCores: 1.8, StartedCores: 0.25, OtherCores: 0.2, WaitingThreads: 0.5,
			StartedResidentBytes: 64 << 20, StartedWrittenBytes: 1900 * 4096}, GCPauseNS: time.Millisecond, Lag: distribution(ms),
			Offered: 2000, Late: 10, Failed: 5, Skipped: 20, Unfinished: 30},
		Server: &results.Server{Notifications: 1900, Reads: 3800, Writes: 5700, Fsyncs: &results.Fsyncs{Count: 950, TookNS: 1900 * time.Millisecond}},
		Errors: map[string]int64{"session lost": 7},
	}
}

// The golden file has the value of every metric for a run that has them all; read it before you accept
// a new version.
func TestAll(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, f := range metric.All([]string{"acquire"}) {
		v, known := f.Of(full())
		if !known || seen[f.Name] || f.About == "" {
			t.Errorf("%s: known %v, seen before %v, about %q", f.Name, known, seen[f.Name], f.About)
		}
		seen[f.Name] = true
		timed := "exact"
		if f.Timed {
			timed = "timed"
		}
		fmt.Fprintf(&b, "%s = %s · %s · %s · %s\n", f.Name, f.Format(v), timed, []string{"less", "more", "neither"}[f.Better], f.About)
	}
	if os.Getenv("UPDATE") != "" {
		os.WriteFile("testdata/all.txt", []byte(b.String()), 0o644)
	}
	want, err := os.ReadFile("testdata/all.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a run does not have is not known, rather than 0, except for the values that every run has.
func TestNothingIsKnownOfAnEmptyRun(t *testing.T) {
	var known []string
	for _, f := range metric.All([]string{"acquire"}) {
		if _, ok := f.Of(results.Run{}); ok {
			known = append(known, f.Name)
		}
	}
	want := []string{"rounds", "safety.violations", "safety.checked", "safety.belief_overlaps", "errors", "generator.cpu_cores",
		"generator.stolen_cores", "generator.gc_pause", "generator.late", "generator.skipped", "generator.failed", "generator.unfinished"}
	if diff := cmp.Diff(want, known); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A percentile with too few observations is not known.
func TestTooFewObservations(t *testing.T) {
	r := full()
	r.Latency["acquire"].Response.P99 = nil
	r.Fanout.FromAck.Last.P99 = nil
	for _, name := range []string{"acquire.p99", "from_ack.last.p99"} {
		f, err := metric.Parse(name, []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		if v, known := f.Of(r); known {
			t.Errorf("%s is %v", name, v)
		}
	}
}

func TestParse(t *testing.T) {
	phases := []string{"acquire", "handoff"}
	for name, want := range map[string]string{
		"acquire.p99": "acquire.response.p99", "handoff.service.max": "handoff.service.max", "background.read.p50": "background.read.response.p50",
		"notifications_per_round": "notifications_per_round", "fanout.max": "fanout.max",
	} {
		if f, err := metric.Parse(name, phases); err != nil || f.Name != want {
			t.Errorf("%s is read as %q, %v", name, f.Name, err)
		}
	}
	for name, want := range map[string]string{
		"aquire.response.p99":    `unknown metric "aquire.response.p99": did you mean "acquire.response.p99"?`,
		"acquire.p95":            `unknown metric "acquire.p95": did you mean "acquire.p90"?`,
		"notification_per_round": `unknown metric "notification_per_round": did you mean "notifications_per_round"?`,
		"release.p99":            `unknown metric "release.p99": stampede help thresholds shows which there are`,
	} {
		if _, err := metric.Parse(name, phases); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
	}
}

// The server's counters are read a little before and after the window, so more rounds end between the
// readings than in the window. A file without that number uses the rounds of the window.
func TestServerCountsAreOfTheirOwnRounds(t *testing.T) {
	r := full()
	for rounds, want := range map[int64]float64{3800: 0.25, 0: 0.5} {
		r.Server.Rounds = rounds
		m, err := metric.Parse("server.fsyncs_per_round", []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		if v, known := m.Of(r); !known || v != want {
			t.Errorf("%d rounds: %v fsyncs per round, known %v; want %v", rounds, v, known, want)
		}
	}
}
