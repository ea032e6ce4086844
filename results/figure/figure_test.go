package figure_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
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

// full returns a run that has a value for every figure.
func full() results.Run {
	ms := int64(time.Millisecond)
	phase := results.Latency{Response: distribution(2 * ms), Service: distribution(ms)}
	ratio := 9.0
	return results.Run{
		Rounds: 1900, DurationNS: 2 * time.Second, ThroughputPerS: 950, OfferedPerS: 1000,
		Latency: map[string]results.Latency{"acquire": phase},
		Herd:    results.Herd{Fanout: distribution(10), Drain: distribution(ms), Useful: 1, Wasted: 3},
		Cost: results.Cost{ReadWriteRatio: &ratio, Totals: results.Totals{Notifications: 2850, Reads: 4750, Writes: 6650},
			PerRound: &results.PerRound{Notifications: 1.5, Reads: 2.5, Writes: 3.5, FailedWrites: 4.5, RPCs: 5.5, BytesIn: 2048, BytesOut: 512},
			Whole:    results.Totals{Notifications: 2000, Reads: 4000, Writes: 6000, FailedWrites: 500, RPCs: 8000}, WholeRounds: 2000,
			Expected: &results.Expected{Identities: []results.Identity{{Holds: true}, {}}}},
		Fanout: &results.Fanout{Notifications: 75, Missed: 25,
			FromAck: results.FromAck{First: signed(ms), Median: signed(2 * ms), Last: signed(3 * ms), Each: signed(4 * ms)}},
		Reconnects: &results.Reconnects{Outages: 3, AttemptsPerClient: 2.5, BusiestTenth: 64, BusiestSecond: 153, AttemptsPerS: 98.5},
		Mix:        &results.Mix{Retries: 8, Txns: 0.5, Transactions: 90, Refused: 5}, ReadRatio: &results.ReadRatio{Asked: 0.9, Achieved: 0.91},
		Background: &results.Background{ThroughputPerS: 500, ReadRatio: results.ReadRatio{Achieved: 0.5}, RatePerS: 500, Late: 1, Skipped: 2, Unfinished: 3,
			Errors: map[string]int64{"a": 4, "b": 5}, Latency: map[string]results.Latency{"read": phase, "write": phase}},
		Fairness: &results.Fairness{Jain: 0.998, Inversions: 6, LongestWaitNS: 70 * time.Millisecond},
		Safety:   results.Safety{Checked: 1900, Violations: 1, BeliefOverlaps: 2},
		Generator: results.Generator{CPUCores: 1.25, StolenCores: 0.1, Machine: &results.Machine{Cores: 2, BusyCores: 1.8, StartedCores: 0.25, OtherCores: 0.2, WaitingThreads: 0.5,
			StartedResidentBytes: 64 << 20, StartedWrittenBytes: 1900 * 4096}, GCPauseNS: time.Millisecond, Lag: distribution(ms),
			Offered: 2000, Late: 10, Failed: 5, Skipped: 20, Unfinished: 30},
		Server:    &results.Server{Notifications: 1900, Reads: 3800, Writes: 5700, Fsyncs: &results.Fsyncs{Count: 950, TookNS: 1900 * time.Millisecond}},
		Errors:    map[string]int64{"session lost": 7},
		Intervals: []results.Interval{{Rounds: 900}, {T: time.Second, Rounds: 1000}},
		Faults:    &results.Breakage{Recovery: []results.Recovery{{Totals: results.Totals{Reads: 96}}, {Totals: results.Totals{Reads: 4}}}},
	}
}

// populations returns what a figure is computed over in each kind of result that has it.
func populations(f figure.Figure) (all []figure.Population) {
	place, observation := observed()
	_, ofRun := f.RunValue(full())
	_, ofCount := f.CountValue(results.Settled{})
	_, ofPath := f.PathValue(place)
	_, ofObservation := f.ObservationValue(observation)
	for _, p := range []struct {
		has bool
		is  figure.Population
	}{{ofRun, f.Population}, {ofCount, "settled run"}, {ofPath, "observed path"}, {ofObservation, "observation"}} {
		if p.has {
			all = append(all, p.is)
		}
	}
	return all
}

// Every figure of a run has a value in a run that has everything, and every name is there once.
func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range figure.Table([]string{"acquire"}, []string{"get"}) {
		_, known := f.RunValue(full())
		if of := populations(f); len(of) == 0 || known != (of[0] == f.Population && f.Population != "") || seen[f.Name] || f.About == "" {
			t.Errorf("%s: known %v of %q, seen before %v, about %q", f.Name, known, of, seen[f.Name], f.About)
		}
		seen[f.Name] = true
	}
}

// The golden file is the table of figures, with the value of a run that has them all; read it before you
// accept a new version.
func TestTable(t *testing.T) {
	var b strings.Builder
	row := func(columns ...any) { fmt.Fprintf(&b, "%-34v%-12v%-9v%-36v%-10v%-13v%-40v%v\n", columns...) }
	row("FIGURE", "VALUE", "BETTER", "COMPUTED OVER", "EXACTNESS", "AGENTS MERGE", "EXPORTED AS", "ABOUT")
	for _, f := range figure.Table([]string{"acquire"}, []string{"get"}) {
		value, over := string(f.Unit), []string{}
		if v, known := f.RunValue(full()); known {
			value = f.Format(v)
		}
		for _, p := range populations(f) {
			over = append(over, string(p))
		}
		row(f.Name, cmp.Or(value, "-"), []string{"less", "more", "neither"}[f.Better], strings.Join(over, ", "), f.Exactness, f.Merge,
			cmp.Or(f.Export, "-"), f.About)
	}
	golden.Compare(t, "testdata/table.txt", []byte(b.String()))
}

// Every figure that is exported names a metric that exists.
func TestExports(t *testing.T) {
	for _, f := range figure.Table([]string{"acquire"}, []string{"get"}) {
		if f.Export != "" && figure.Export(f.Export).About == "" {
			t.Errorf("%s is exported as %s, which is not described", f.Name, f.Export)
		}
	}
}

// observed returns a path and an observation that have all figures.
func observed() (observation.Place, results.Observation) {
	few, many := int64(1), int64(3)
	place := observation.Place{Path: "/a", Changes: 4, Notifications: 10, Requests: 20, FanoutMax: 5, FanoutP50: 2, Useful: &few, Wasted: &many,
		Sessions: 6, Watches: 1, Most: 7, Live: 4, PollsSame: 8, SettledP90: &many, LatencyP90: &few, FailedWrites: 9, Armed: 11, Missed: &few, Unasked: &many}
	o := results.Observation{Observed: observation.Report{Duration: 2 * time.Second, Operations: []observation.Operation{{Name: "get", P50: &few, P99: &many}},
		Places: []observation.Place{{Form: &observation.Form{Herd: true}, FanoutMax: 2}, {Form: &observation.Form{Herd: true}, FanoutMax: 1}, {FanoutMax: 2}},
		Churn:  client.Churn{Opened: 12}, Rearming: client.Rearming{MostWatches: 13},
		Events: causality.Events{NotificationsMax: 22, RequestsMax: 23, AtRestPerS: 24,
			Largest: []causality.Event{}},
		Traffic: observation.Traffic{Changes: 2, Notifications: 5, Requests: 7, FanoutMax: 3, FanoutP50: 1, FailedWrites: 4, Armed: 14, MostStanding: 15, MostLive: 10,
			MostOfSession: 16, Connections: 17, Lost: 18, Bytes: 19, Audited: 1, Missed: 20, Unasked: 21}}}
	back := func(all recovery.Things, p99 time.Duration) recovery.Outcome {
		return recovery.Outcome{Verdict: recovery.RecoversPartly, Observed: 9 * time.Second, Partly: 1, Not: 2, Nodes: all, Watches: recovery.Things{Had: 9, Back: 9},
			GaveUp: 3, Changes: 5, Missed: 4, Repeated: 5, Registered: recovery.Times{P50: 1, P99: p99, Max: p99}, Watching: recovery.Times{P50: 2},
			Reconnects: recovery.Peak{Second: int64(p99)}, Rearmed: recovery.Peak{Second: 6}, Retries: recovery.Peak{Second: 7}, InStep: &recovery.Step{Clients: 8}}
	}
	o.Recovery = &recovery.Report{Outcomes: []recovery.Outcome{back(recovery.Things{Had: 4, Back: 4, Duplicated: 2}, 31), back(recovery.Things{Had: 4, Back: 4}, 32), {Verdict: recovery.NotApplicable, GaveUp: 99}}}
	return place, o
}

// What observations have is taken from each path, and from all traffic.
func TestObserved(t *testing.T) {
	place, o := observed()
	paths := map[string]float64{"fanout.max": 5, "fanout.p50": 2, "wasted": 0.75, "notifications_per_change": 2.5, "requests_per_change": 5,
		"notifications": 10, "changes": 4, "sessions": 6, "watches": 7, "watches.live": 4, "watches.armed": 11, "watches.missed": 1, "notifications.unasked": 3, "requests": 20, "failed_writes": 9, "polls.unchanged": 8, "settled.p90": 3, "latency.p90": 1}
	for _, f := range figure.Paths() {
		v, known := f.PathValue(place)
		if want, listed := paths[f.Name]; !known || !listed || v != want {
			t.Errorf("%s of a path is %v, known %v, want %v", f.Name, v, known, want)
		}
		delete(paths, f.Name)
	}
	whole := map[string]float64{"fanout.max": 3, "fanout.p50": 1, "notifications_per_change": 2.5, "requests_per_change": 3.5, "get.p50": 1, "get.p99": 3,
		"requests": 7, "failed_writes": 4, "notifications": 5, "changes": 2, "watches": 15, "watches.live": 10, "watches.armed": 14, "watches.missed": 20, "notifications.unasked": 21, "herds": 1, "connections": 17, "sessions.opened": 12,
		"sessions.expired": 18, "watches.per_session": 16, "watches.rearmed": 13,
		"event.notifications": 22, "event.requests": 23, "rest.requests_per_s": 24,
		"requests_per_s": 3.5, "bytes_per_s": 9.5,
		"recovery.not_recovered": 6, "recovery.missing_nodes": 0, "recovery.missing_watches": 0, "recovery.duplicates": 2, "recovery.gave_up": 6,
		"recovery.missed_changes": 8, "recovery.writes_done_twice": 10, "recovery.p50": 2, "recovery.p99": 32, "recovery.max": 32,
		"reconnects.busiest_second": 32, "rearmed.busiest_second": 6, "retries.busiest_second": 7, "retries.in_step": 8}
	for _, f := range figure.Observations([]string{"get"}) {
		v, known := f.ObservationValue(o)
		if want, listed := whole[f.Name]; !known || !listed || v != want {
			t.Errorf("%s of an observation is %v, known %v, want %v", f.Name, v, known, want)
		}
		delete(whole, f.Name)
	}
	if len(paths)+len(whole) > 0 {
		t.Errorf("these are no figures: %v, %v", paths, whole)
	}
}

// A count is exact only where a formula fixes it, and never because two values were equal.
func TestExact(t *testing.T) {
	fixes := results.Run{Cost: results.Cost{Expected: &results.Expected{Identities: []results.Identity{
		{Formula: "notifications = 0", Fixes: "whole.notifications_per_round", Holds: true}, {Formula: "reads = lists", Holds: true}}}}}
	disturbed := results.Run{Sessions: results.Sessions{Disconnected: 1, Disconnections: 1}}
	for _, c := range []struct {
		name  string
		run   results.Run
		exact bool
	}{
		{"whole.notifications_per_round", fixes, true}, {"whole.notifications_per_round", disturbed, false},
		{"whole.reads_per_round", fixes, false}, {"whole.rpcs_per_round", fixes, false},
		{"notifications_per_round", fixes, false}, {"fanout.max", fixes, false}, {"rounds_per_s", fixes, false},
		{"identities.broken", disturbed, true}, {"safety.violations", disturbed, true}, {"errors", fixes, false},
	} {
		if f := figure.Known(nil, c.name)[0]; f.Exact(c.run) != c.exact {
			t.Errorf("%s of %+v: exact %v, want %v", c.name, c.run.Cost.Expected, f.Exact(c.run), c.exact)
		}
	}
	five, six := int64(5), int64(6)
	settled := results.Settled{Notifications: results.Exact{Counted: 5, Expected: &five}, Reads: results.Exact{Counted: 5},
		Writes: results.Exact{Counted: 5, Expected: &five, Most: &six}}
	for _, f := range figure.Counts()[:3] {
		if exact := f.ExactCount(settled); exact != (f.Name == "count.notifications") {
			t.Errorf("%s: exact %v", f.Name, exact)
		}
	}
	for _, f := range figure.Paths() {
		if f.Exactness == figure.Formula {
			t.Errorf("%s of an observed path is exact by a formula", f.Name)
		}
	}
}

// What a run does not have is not known, rather than 0, except for the values that every run has.
func TestNothingIsKnownOfAnEmptyRun(t *testing.T) {
	var known []string
	for _, f := range figure.All([]string{"acquire"}) {
		if _, ok := f.RunValue(results.Run{}); ok {
			known = append(known, f.Name)
		}
	}
	want := []string{"rounds", "watches.left", "safety.checked", "safety.belief_overlaps", "errors", "generator.cpu_cores",
		"generator.stolen_cores", "generator.gc_pause", "generator.unfinished",
		"sessions.lost", "sessions.given_up", "sessions.disconnected", "sessions.disconnections"}
	if diff := gocmp.Diff(want, known); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A percentile with too few observations is not known.
func TestTooFewObservations(t *testing.T) {
	r := full()
	r.Latency["acquire"].Response.P99 = nil
	r.Fanout.FromAck.Last.P99 = nil
	for _, name := range []string{"acquire.p99", "from_ack.last.p99"} {
		f, err := figure.Parse(name, []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		if v, known := f.RunValue(r); known {
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
		if f, err := figure.Parse(name, phases); err != nil || f.Name != want {
			t.Errorf("%s is read as %q, %v", name, f.Name, err)
		}
	}
	for name, want := range map[string]string{
		"aquire.response.p99":    `unknown metric "aquire.response.p99": did you mean "acquire.response.p99"?`,
		"acquire.p95":            `unknown metric "acquire.p95": did you mean "acquire.p90"?`,
		"notification_per_round": `unknown metric "notification_per_round": did you mean "notifications_per_round"?`,
		"release.p99":            `unknown metric "release.p99": stampede help thresholds shows which there are`,
	} {
		if _, err := figure.Parse(name, phases); err == nil || err.Error() != want {
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
		m, err := figure.Parse("server.fsyncs_per_round", []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		if v, known := m.RunValue(r); !known || v != want {
			t.Errorf("%d rounds: %v fsyncs per round, known %v; want %v", rounds, v, known, want)
		}
	}
}

// A form without checks is not safe because of that.
func TestViolationsAreUnknownWithoutChecks(t *testing.T) {
	f, err := figure.Parse("safety.violations", nil)
	if err != nil {
		t.Fatal(err)
	}
	for safety, want := range map[[2]int64]bool{{0, 0}: false, {1, 0}: true, {0, 1}: true} {
		r := results.Run{Safety: results.Safety{Checked: safety[0], Violations: safety[1]}}
		if v, known := f.RunValue(r); known != want || known && v != float64(safety[1]) {
			t.Errorf("with %d checks and %d violations: %v, known: %v", safety[0], safety[1], v, known)
		}
	}
}

// What did not happen or was not watched could have shown more.
func TestFaultsThatCouldHaveShownMore(t *testing.T) {
	for name, c := range map[string]struct {
		is         recovery.Report
		of, others bool // whether the missed changes are in doubt, and the other figures
	}{
		"all happened":                {recovery.Report{Outcomes: []recovery.Outcome{{Probe: &recovery.Probed{Noticed: 1}}}}, false, false},
		"one did not":                 {recovery.Report{Undone: 1}, true, true},
		"one change was not made":     {recovery.Report{Unprobed: 1}, true, false},
		"nobody had watched":          {recovery.Report{Outcomes: []recovery.Outcome{{Probe: &recovery.Probed{Path: "/a"}}}}, true, false},
		"one of two had been watched": {recovery.Report{Outcomes: []recovery.Outcome{{Probe: &recovery.Probed{}}, {Probe: &recovery.Probed{Missed: 1}}}}, false, false},
	} {
		o := results.Observation{Recovery: &c.is}
		for _, f := range figure.Observations(nil) {
			want := f.OfFaults() && c.others || f.Name == "recovery.missed_changes" && c.of
			if why, bias := f.Undecided(o); (bias == figure.Higher) != want || (why != "") != want {
				t.Errorf("%s: %s: %q, bias %v", name, f.Name, why, bias)
			}
		}
	}
}

// A session that nothing changed for has missed nothing, and proves nothing.
func TestNoChangesWereMissed(t *testing.T) {
	_, o := observed()
	for i := range o.Recovery.Outcomes {
		o.Recovery.Outcomes[i].Changes, o.Recovery.Outcomes[i].Missed = 0, 0
	}
	for _, f := range figure.Observations(nil) {
		if v, known := f.ObservationValue(o); f.Name == "recovery.missed_changes" && (known || !strings.Contains(f.Absent(o), "seen to change")) {
			t.Errorf("%v missed changes, known %v: %s", v, known, f.Absent(o))
		}
	}
}

// What had not come back when the observation ended took at least as long as that.
func TestUnfinishedRecovery(t *testing.T) {
	_, o := observed()
	o.Recovery.Outcomes[0].Nodes.Back = 3
	o.Recovery.Outcomes[0].Registered = recovery.Times{Sessions: 2, NotBack: 1, P50: time.Second, P99: 9 * time.Second, Max: 9 * time.Second}
	for _, f := range figure.Observations(nil) {
		switch v, known := f.ObservationValue(o); f.Name {
		case "recovery.missing_nodes":
			if v != 1 || !known {
				t.Errorf("%s is %v, known %v, want 1", f.Name, v, known)
			}
		case "recovery.p50": // most are back
			if why, bias := f.Undecided(o); v != 1e9 || bias != 0 {
				t.Errorf("%s is %v, in doubt as %s; want 1 s", f.Name, v, why)
			}
		case "recovery.p99":
			why, bias := f.Undecided(o)
			if v != 9e9 || !known || bias != figure.Higher || why == "" {
				t.Errorf("%s is %v, known %v, with a bias of %v; want 9 s or more", f.Name, v, known, bias)
			}
		}
	}
	o.Recovery.Outcomes[1].Verdict, o.Recovery.Outcomes[1].Reason = recovery.NotApplicable, recovery.Incomplete
	for _, f := range figure.Observations(nil) {
		if v, known := f.ObservationValue(o); strings.HasPrefix(f.Name, "recovery.") && known {
			t.Errorf("%s is %v although not all traffic was decoded", f.Name, v)
		}
	}
}
