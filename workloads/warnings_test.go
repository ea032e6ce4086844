package workloads

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// TestDoubts checks that each reason to doubt the results is recorded with its code, and that
// nothing else causes a doubt or a warning.
func TestDoubts(t *testing.T) {
	cores := metrics.Cores()
	for _, c := range []struct {
		kind string // "" for none
		make func(*runner, *metrics.Record)
	}{
		{"", func(*runner, *metrics.Record) {}},
		{metrics.Abandoned, func(r *runner, _ *metrics.Record) { r.cut = true }},
		{metrics.ClientBound, func(_ *runner, m *metrics.Record) { m.Generator.CPUCores = 0.9 * cores }},
		{"", func(_ *runner, m *metrics.Record) { m.Generator.CPUCores = 0.8 * cores }},
		{metrics.Stolen, func(_ *runner, m *metrics.Record) { m.Generator.Machine = &metrics.Machine{Cores: 4, Stolen: 0.24} }},
		{"", func(_ *runner, m *metrics.Record) {
			m.Generator.Machine, m.Duration = &metrics.Machine{Cores: 4, Stolen: 0.4}, 50*time.Millisecond // two ticks
		}},
		{"", func(_ *runner, m *metrics.Record) { m.Generator.Machine = &metrics.Machine{Cores: 4, Stolen: 0.16} }},
		{metrics.Others, func(_ *runner, m *metrics.Record) {
			m.Generator.Machine = &metrics.Machine{Cores: 4, Busy: 3.8, Others: 0.7}
		}},
		{"", func(_ *runner, m *metrics.Record) { // others are busy, but one core is idle
			m.Generator.Machine = &metrics.Machine{Cores: 4, Busy: 3.2, Others: 2}
		}},
		{metrics.Others, func(_ *runner, m *metrics.Record) { // not full, but the threads wait longer than they run
			m.Generator.CPUCores, m.Generator.Machine = 0.1, &metrics.Machine{Cores: 1, Busy: 0.75, Others: 0.6, Waiting: 0.12}
		}},
		{"", func(_ *runner, m *metrics.Record) {
			m.Generator.CPUCores, m.Generator.Machine = 0.1, &metrics.Machine{Cores: 1, Busy: 0.75, Others: 0.6, Waiting: 0.08}
		}},
		{metrics.Starved, func(_ *runner, m *metrics.Record) { m.Generator.Lag.RecordValue(int64(15 * time.Millisecond)) }},
		{"", func(_ *runner, m *metrics.Record) { m.Generator.Lag.RecordValue(int64(8 * time.Millisecond)) }}, // on an idle machine
		{"", func(_ *runner, m *metrics.Record) { // small against the measured times
			m.Generator.Lag.RecordValue(int64(15 * time.Millisecond))
			m.Phases[0].Service.Reset()
			m.Phases[0].Service.RecordValue(int64(time.Second))
		}},
		{metrics.Skipped, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Generator.Skipped = 100, 99, 1
		}},
		{metrics.Unfinished, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Generator.Unfinished = 100, 99, 1
		}},
		{metrics.Failed, func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Generator.Failed = 100, 99, 1
		}},
		{metrics.Bystanders, func(_ *runner, m *metrics.Record) {
			m.Background.Generator.Offered, m.Background.Generator.Failed = 1, 1
		}},
		{"", func(_ *runner, m *metrics.Record) {
			m.Generator.Offered, m.Generator.Completed, m.Rounds = 1000, 1000, 960
		}},
		{metrics.Bystanders, func(_ *runner, m *metrics.Record) {
			m.Background.Generator.Offered, m.Background.Generator.Skipped = 1, 1
		}},
		{metrics.Bystanders, func(_ *runner, m *metrics.Record) {
			m.Background.Generator.Offered, m.Background.Generator.Unfinished = 1, 1
		}},
	} {
		r := &runner{plan: Plan{Clients: 4}}
		m := &metrics.Record{Duration: time.Second, Background: &metrics.Record{}}
		m.Generator.Lag = hdrhistogram.New(1, int64(time.Hour), 3)
		took := hdrhistogram.New(1, int64(time.Hour), 3)
		took.RecordValue(int64(10 * time.Millisecond))
		m.Phases = []metrics.Phase{{Name: "acquire", Service: took}}
		c.make(r, m)
		r.warn(m)
		var kinds []string
		for _, d := range m.Doubts {
			kinds = append(kinds, d.Code)
		}
		var want []string
		if c.kind != "" {
			want = []string{c.kind}
		}
		if diff := cmp.Diff(want, kinds); diff != "" || len(m.Warnings) != len(want) {
			t.Errorf("%q: doubts %q, warnings %v", c.kind, kinds, m.Warnings)
		}
	}
}

// TestDoubtsSayHowFarTheyGo checks that a doubt about the machine has the time that threads of the run waited or were
// stopped and the latest timer, unless that is not known or the generator itself used the processors.
func TestDoubtsSayHowFarTheyGo(t *testing.T) {
	const ms = int64(time.Millisecond)
	kept := 0.1
	for name, c := range map[string]struct {
		machine metrics.Machine
		cores   float64
		stopped int64 // timers of a thousand that were 20 ms late
		code    string
		share   float64 // negative: not known
	}{
		"others":           {metrics.Machine{Cores: 4, Busy: 3.8, Others: 0.7, Kept: &kept}, 0.1, 0, metrics.Others, 0.1},
		"others, no sight": {metrics.Machine{Cores: 4, Busy: 3.8, Others: 0.7}, 0.1, 0, metrics.Others, -1},
		"stolen":           {metrics.Machine{Cores: 4, Stolen: 0.3, Kept: &kept}, 0.1, 0, metrics.Stolen, 0.4},
		"stopped":          {metrics.Machine{Cores: 4, Kept: &kept}, 0.1, 200, metrics.Starved, 0.3},
		"client-bound":     {metrics.Machine{Cores: 4, Kept: &kept}, 1000, 0, metrics.ClientBound, -1},
	} {
		m := &metrics.Record{Duration: time.Second}
		m.Generator.Machine, m.Generator.CPUCores, m.Generator.Lag = &c.machine, c.cores, metrics.NewDurations()
		m.Generator.Lag.RecordValues(20*ms, c.stopped)
		m.Generator.Lag.RecordValues(ms, 1000-c.stopped)
		took := metrics.NewDurations()
		took.RecordValue(30 * ms)
		m.Phases = []metrics.Phase{{Name: "acquire", Service: took}}
		(&runner{}).warn(m)
		i := slices.IndexFunc(m.Doubts, func(w metrics.Warning) bool { return w.Code == c.code })
		if i < 0 {
			t.Fatalf("%s: %+v", name, m.Doubts)
		}
		share, known := m.Doubts[i].Numbers[metrics.LostShare]
		late := m.Doubts[i].Numbers[metrics.LongestLate]
		if known != (c.share >= 0) || known && (math.Abs(share-c.share) > 1e-9 || late != float64(m.Generator.Lag.Max())) {
			t.Errorf("%s: %v, want a share of %g", name, m.Doubts[i].Numbers, c.share)
		}
	}
}

// TestStarvedCitesWhatIsKnown checks that the warning has the 99th percentile of a phase with 1000 times, and
// the longest time of a phase with fewer.
func TestStarvedCitesWhatIsKnown(t *testing.T) {
	for n, want := range map[int]string{1000: "phase_p99_ns", 999: "phase_max_ns"} {
		m := &metrics.Record{Duration: time.Second}
		m.Generator.Lag = hdrhistogram.New(1, int64(time.Hour), 3)
		m.Generator.Lag.RecordValue(int64(15 * time.Millisecond))
		took := hdrhistogram.New(1, int64(time.Hour), 3)
		took.RecordValue(int64(20 * time.Millisecond))
		took.RecordValues(int64(10*time.Millisecond), int64(n-1))
		m.Phases = []metrics.Phase{{Name: "acquire", Service: took}}
		(&runner{}).warn(m)
		near := map[string]float64{"phase_p99_ns": 10e6, "phase_max_ns": 20e6}[want]
		if got := m.Doubts[0].Numbers; len(got) != 2 || math.Abs(got[want]/near-1) > 0.01 {
			t.Errorf("%d times: %v, want %s of %v", n, got, want, near)
		}
	}
}

// TestMissedRateIsNoDoubt checks that a run warns if the service was too slow for the rate. The times are
// those of all arrivals, so that nothing about them is in doubt.
func TestMissedRateIsNoDoubt(t *testing.T) {
	m := &metrics.Record{Rounds: 900}
	m.Generator.Offered, m.Generator.Completed = 1000, 1000
	r := &runner{plan: Plan{Clients: 4}}
	r.warn(m)
	m.Warn(r.plan.MissedRate(m)...)
	if len(m.Warnings) != 1 || m.Warnings[0].Code != metrics.Behind || m.Warnings[0].Numbers["completed"] != 900 || len(m.Doubts) != 0 {
		t.Errorf("warnings %v, doubts %v; want one warning", m.Warnings, m.Doubts)
	}
	m.Doubt(metrics.Warning{Code: metrics.ServiceLost})
	if all := r.plan.MissedRate(m); len(all) > 0 {
		t.Errorf("the service was gone, not too slow: %v", all)
	}
}

func TestLostSessionsOfTheBackgroundAreNoDoubt(t *testing.T) {
	m := &metrics.Record{Background: &metrics.Record{Errors: map[string]int64{drivers.ErrSessionLost.Error(): 2}}}
	m.Generator.Lag = hdrhistogram.New(1, int64(time.Hour), 3)
	(&runner{}).warn(m)
	if len(m.Warnings) != 1 || len(m.Doubts) != 0 {
		t.Errorf("warnings %v, doubts %v", m.Warnings, m.Doubts)
	}
}

// TestSharedMachineIsWarnedOf checks that a machine that the generator and the servers keep busy
// together causes a warning and no doubt, since runs that are compared share it in the same way.
func TestSharedMachineIsWarnedOf(t *testing.T) {
	for busy, want := range map[float64][]string{1.8: {metrics.Shared}, 1.6: nil} {
		m := &metrics.Record{Duration: time.Second}
		m.Generator.CPUCores, m.Generator.Machine = 0.9, &metrics.Machine{Cores: 2, Busy: busy, Started: 0.6, Others: 0.1}
		(&runner{}).warn(m)
		var codes []string
		for _, w := range m.Warnings {
			codes = append(codes, w.Code)
		}
		if diff := cmp.Diff(want, codes); diff != "" || len(m.Doubts) != 0 {
			t.Errorf("%.1f of 2 cores busy: warnings %v, doubts %v", busy, m.Warnings, m.Doubts)
		}
	}
}
