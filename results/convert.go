package results

import (
	"maps"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Setting has the options of a run; a metrics.Record has its measurements.
type Setting struct {
	Scenario             string // "" outside a scenario file
	Recipe, Form, Family string
	Backend              drivers.Info
	Clients, Groups      int
	Seed                 uint64
	Open                 *Open   // nil in a closed loop
	Mix                  *Mix    // of raw operations; nil for a recipe
	Reads                float64 // the share of reads in a mix
	Preload              *Preload
	Background           *Background // nil if there is none
	Hold, Think, Warmup  time.Duration
	Ramp                 time.Duration // as requested; 0: as long as the number of clients requires
	Expected             *Expected
	Faults               []string // the planned faults, a line each
	Without              []string // see Run
	Ceiling              float64  // requests per second that the generator reaches against a server that does nothing; 0: not known
	// Settings are the flags of stampede run that can change a figure.
	Settings map[string]string
}

// FromRecord converts a setting and its measurements to a Run.
func FromRecord(s Setting, r *metrics.Record) Run {
	run := fromRecord(s, r, DistributionOf)
	if d := run.Herd.Fanout; d != nil {
		d.HDR = encoded(r.Herd.Fanout.Histogram())
	}
	return run
}

// Glance is like FromRecord for measurements in progress, for callers that need several per second.
// Its distributions have only percentiles, since the rest takes ten times as long.
func Glance(s Setting, r *metrics.Record) Run { return fromRecord(s, r, quantiles) }

// SoFar is like Glance for what decides whether a run in progress is ended: its distributions have all but the
// histogram.
func SoFar(s Setting, r *metrics.Record) Run { return fromRecord(s, r, Summary) }

// AtLeast returns the run with other percentiles of its phases, of its background and of the clients' timers: with few observations, those that ten of them exceed. The
// true ones are at least as long, so they suffice to see that a time is too long long before it is known.
func (run Run) AtLeast(r *metrics.Record) Run {
	run.Latency = atLeast(run.Latency, r.Phases)
	run.Generator.Lag = AtLeast(r.Generator.Lag, 0)
	if run.Background != nil {
		b := *run.Background
		b.Latency = atLeast(b.Latency, r.Background.Phases)
		run.Background = &b
	}
	return run
}

func atLeast(known map[string]Latency, phases []metrics.Phase) map[string]Latency {
	all := maps.Clone(known)
	for _, p := range phases {
		l := all[p.Name]
		lost := int64(0)
		if l.Response != nil {
			lost = l.Response.Lost
		}
		l.Service, l.Response = AtLeast(p.Service, 0), AtLeast(p.Response, lost)
		all[p.Name] = l
	}
	return all
}

// AtLeast returns the percentiles that ten observations exceed, some of which are infinitely long, or nil if there
// are so few.
func AtLeast(h *hdrhistogram.Histogram, endless int64) *Distribution {
	if h == nil || h.TotalCount() == 0 || h.TotalCount()+endless <= metrics.Beyond {
		return nil
	}
	n := h.TotalCount() + endless
	at := func(percentile float64) *int64 {
		rank := min(percentile/100*float64(n), float64(n-metrics.Beyond))
		v := int64(math.MaxInt64)
		if rank <= float64(h.TotalCount()) {
			v = h.ValueAtQuantile(100 * rank / float64(h.TotalCount()))
		}
		return &v
	}
	return &Distribution{Min: h.Min(), Mean: h.Mean(), Max: h.Max(), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9)}
}

// Summary returns a distribution without its histogram.
func Summary(h *hdrhistogram.Histogram) *Distribution {
	d := quantiles(h)
	if d != nil {
		d.Min, d.Mean, d.Max = h.Min(), h.Mean(), h.Max()
	}
	return d
}

// A writing converts a histogram to a Distribution.
type writing func(*hdrhistogram.Histogram) *Distribution

func fromRecord(s Setting, r *metrics.Record, write writing) Run {
	run := Run{
		Scenario: s.Scenario, Recipe: s.Recipe, Form: s.Form, Family: s.Family, Backend: Backend(s.Backend),
		Clients: s.Clients, Groups: s.Groups, Seed: s.Seed, Loop: loop(s.Open), Open: s.Open, HoldNS: s.Hold, ThinkNS: s.Think, RampNS: s.Ramp, RampTookNS: r.Ramp, WarmupNS: s.Warmup,
		DurationNS: r.Duration, Rounds: r.Rounds, ThroughputPerS: perSecond(r.Rounds, r.Duration),
		OfferedPerS: perSecond(r.Generator.Offered, r.Duration),
		Settings:    s.Settings, Without: s.Without, Little: little(r.Little),
		Preload: s.Preload, Herd: herd(r, write), Cost: costs(r, s.Expected), Fanout: fanout(r.Fanout),
		Safety: SafetyOf(r.Safety), Generator: generator(r.Generator, write), Sessions: Sessions(r.Sessions),
		Errors: r.Errors, Warnings: warningsOf(r.Warnings), Doubts: warningsOf(r.Doubts), Intervals: intervals(r.Intervals),
	}
	run.Generator.RequestsPerS, run.Generator.CeilingPerS = perSecond(r.Counts.RPCs, r.Duration), s.Ceiling
	run.Faults = breakage(s.Faults, r)
	if w := r.Warmup; w.Took > 0 {
		run.Warmup = &Warmup{TookNS: w.Took, Steady: w.Steady, RoundsPerS: w.Rates}
	}
	run.Phases, run.Latency = phases(r, write)
	run.addMix(s, r.Mix)
	run.addBackground(s, r.Background, write)
	if f := r.Fairness; f != nil {
		run.Fairness = &Fairness{Jain: metrics.Jain(f.Served), Inversions: f.Inversions, LongestWaitNS: f.LongestWait}
	}
	if s := r.Storm; s != nil {
		run.Storm = &Storm{Made: s.Made, Omitted: s.Omitted}
	}
	run.addReconnects(r)
	if n := r.Server; n != nil {
		run.Server = &Server{Rounds: r.ServerRounds, Notifications: n.Notifications, Reads: n.Reads, Writes: n.Writes}
		if f := n.Fsyncs; f != nil {
			run.Server.Fsyncs = &Fsyncs{Count: f.Count, TookNS: f.Took}
		}
	}
	return run
}

// addReconnects adds the attempts to come back after outages, if there were any.
func (run *Run) addReconnects(r *metrics.Record) {
	c := r.Reconnects
	if c == nil || c.Outages == 0 || c.Returns == 0 {
		return
	}
	mean := func(sum, of int64) float64 { return float64(sum) / float64(of) }
	run.Reconnects = &Reconnects{OutageNS: c.Outage, Outages: c.Outages, AttemptsPerClient: mean(c.Attempts, c.Returns),
		BusiestTenth: mean(c.Tenth, c.Outages), BusiestSecond: mean(c.Second, c.Outages), AttemptsPerS: perSecond(c.Attempts, r.Duration)}
}

// little returns nil for nil.
func little(l *metrics.Little) *Little {
	if l == nil {
		return nil
	}
	return &Little{InProgress: l.InProgress, Ended: l.Ended, Error: l.Error, Holds: l.Holds()}
}

func loop(o *Open) string {
	if o == nil {
		return "closed"
	}
	return "open"
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

func phases(r *metrics.Record, write writing) (names []string, of map[string]Latency) {
	of = make(map[string]Latency, len(r.Phases))
	for _, p := range r.Phases {
		names = append(names, p.Name)
		of[p.Name] = latency(p, generator(r.Generator, write).Lost(), write)
	}
	return names, of
}

// latency converts a phase. Any of the lost arrivals may have lacked it, so all of them count.
func latency(p metrics.Phase, lost int64, write writing) Latency {
	l := Latency{Service: write(p.Service), Response: write(p.Response), ErrorNS: p.Error}
	l.Response.lose(p.Response, lost)
	for _, d := range []*Distribution{l.Service, l.Response} {
		d.omitBelow(int64(2 * p.Error))
	}
	if p.Service != nil {
		l.Count = p.Service.TotalCount()
	}
	return l
}

// DistributionOf returns nil for a histogram that is nil or empty.
func DistributionOf(h *hdrhistogram.Histogram) *Distribution {
	d := Summary(h)
	if d != nil {
		d.HDR = encoded(h)
	}
	return d
}

func encoded(h *hdrhistogram.Histogram) string {
	// Encode writes into memory, and fails only for an unknown encoding.
	text, _ := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return string(text)
}

// tallied returns the distribution of counts without a histogram; nil if there are none.
func tallied(t metrics.Tally) *Distribution {
	count := t.Count()
	if count == 0 {
		return nil
	}
	at := func(percentile float64) *int64 {
		if !metrics.Supports(count, percentile) {
			return nil
		}
		v := t.Quantile(percentile)
		return &v
	}
	return &Distribution{Min: t.Min(), Mean: t.Mean(), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: t.Max()}
}

// lose counts arrivals without a time as infinitely late.
func (d *Distribution) lose(h *hdrhistogram.Histogram, lost int64) {
	if d != nil && lost > 0 {
		d.Lost = lost
		d.setPercentiles(h, lost)
	}
}

// setPercentiles sets the percentiles that have enough observations, some of which are infinitely long.
func (d *Distribution) setPercentiles(h *hdrhistogram.Histogram, endless int64) {
	at := func(percentile float64) *int64 {
		if v, known := metrics.PercentileWith(h, endless, percentile); known {
			return &v
		}
		return nil
	}
	d.P50, d.P90, d.P99, d.P999 = at(50), at(90), at(99), at(99.9)
}

// omitBelow leaves out the percentiles that are less than the least that is known.
func (d *Distribution) omitBelow(least int64) {
	if d == nil {
		return
	}
	for _, p := range []**int64{&d.P50, &d.P90, &d.P99, &d.P999} {
		if *p != nil && **p < least {
			*p = nil
		}
	}
}

// quantiles returns the percentiles that have enough observations. It returns nil for a histogram
// that is nil or empty.
func quantiles(h *hdrhistogram.Histogram) *Distribution {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	d := new(Distribution)
	d.setPercentiles(h, 0)
	return d
}

func herd(r *metrics.Record, write writing) Herd {
	h := r.Herd
	return Herd{
		Triggers: h.Triggers, Foreign: h.Foreign, Notifications: h.Notifications,
		Fanout: tallied(h.Fanout), Drain: write(h.Drain),
		Useful: r.Counts.Useful, Wasted: r.Counts.Wasted, Leftover: h.Leftover,
		Timeline: timeline(h.Timeline),
	}
}

// timeline returns nil if there were no triggers.
func timeline(l metrics.Timeline) *Timeline {
	if l.Triggers == 0 {
		return nil
	}
	mean := func(bins [metrics.TimelineBins]int64) []float64 {
		means := make([]float64, len(bins))
		for i, n := range bins {
			means[i] = float64(n) / float64(l.Triggers)
		}
		return means
	}
	return &Timeline{BinNS: l.Bin, FromNS: l.From, Triggers: l.Triggers,
		Notifications: mean(l.Notifications), Reads: mean(l.Reads), Writes: mean(l.Writes)}
}

func costs(r *metrics.Record, e *Expected) Cost {
	c := Cost{Totals: totals(r.Counts), Heartbeats: r.Counts.Pings, Whole: totals(r.Whole), WholeRounds: r.WholeRounds, Expected: e}
	if u := r.Upkeep; u.Reads+u.Writes > 0 {
		c.Upkeep = &Upkeep{u.Reads, u.Writes}
	}
	if c.Writes > 0 {
		ratio := float64(c.Reads) / float64(c.Writes)
		c.ReadWriteRatio = &ratio
	}
	if r.Rounds > 0 {
		n := float64(r.Rounds)
		c.PerRound = &PerRound{
			Notifications: float64(c.Notifications) / n, Reads: float64(c.Reads) / n, Writes: float64(c.Writes) / n,
			FailedWrites: float64(c.FailedWrites) / n, RPCs: float64(c.RPCs) / n,
			BytesIn: float64(c.BytesIn) / n, BytesOut: float64(c.BytesOut) / n,
		}
	}
	return c
}

func totals(c metrics.Counts) Totals {
	return Totals{
		Notifications: c.Notifications, Reads: c.Reads, Writes: c.Writes, FailedWrites: c.FailedWrites,
		RPCs: c.RPCs, BytesIn: c.BytesIn, BytesOut: c.BytesOut,
	}
}

// SafetyOf converts the result of a safety checker.
func SafetyOf(s metrics.Safety) Safety {
	return Safety{
		Checked: s.Checked, Violations: s.Violations, BeliefOverlaps: s.BeliefOverlaps,
		TokensRefused: s.TokensRefused, Tokens: s.Tokens, Details: append([]string{}, s.Details...),
		Weaker: s.Weaker, Notifications: s.Delivery.Notifications, Undelivered: s.Delivery.Violations,
	}
}

// GeneratorOf describes the load generator of one agent, which made the record.
func GeneratorOf(r *metrics.Record) Generator {
	g := generator(r.Generator, DistributionOf)
	g.RequestsPerS = perSecond(r.Counts.RPCs, r.Duration)
	return g
}

func generator(g metrics.Generator, write writing) Generator {
	var stolen float64
	var machine *Machine
	if m := g.Machine; m != nil {
		stolen = m.Stolen
		machine = &Machine{m.Cores, m.Busy, m.Started, m.Service, m.Others, m.Waiting, m.StartedResident, m.StartedWritten}
	}
	return Generator{
		CPUCores: g.CPUCores, StolenCores: stolen, Machine: machine, GCPauseNS: g.GCPause, Lag: write(g.Lag),
		Offered: g.Offered, Late: g.Late, Completed: g.Completed, Failed: g.Failed, Skipped: g.Skipped, Unfinished: g.Unfinished,
		OldestNS: g.Oldest, Wakes: write(g.Wakes),
	}
}

func intervals(all []metrics.Interval) []Interval {
	out := []Interval{}
	for _, i := range all {
		out = append(out, Interval{
			T: i.Start, Rounds: i.Rounds, P50: i.P50, P90: i.P90, P99: i.P99,
			Notifications: i.Notifications, Reads: i.Reads, Writes: i.Writes,
		})
	}
	return out
}

// warningsOf returns an empty slice, not nil, if there are no warnings.
func warningsOf(all []metrics.Warning) []Warning {
	out := []Warning{}
	for _, w := range all {
		out = append(out, WarningOf(w))
	}
	return out
}

// fanout converts the fan-out of a write to its watchers; nil for another workload.
func fanout(f *metrics.Fanout) *Fanout {
	if f == nil {
		return nil
	}
	return &Fanout{Watchers: f.Watchers, Writes: f.Writes, Notifications: f.Notifications, Missed: f.Missed, Behind: f.Behind,
		FromAck: FromAck{First: signed(f.First), Median: signed(f.Median), Last: signed(f.Last), Each: signed(f.Each)}}
}

// signed returns nil for an empty distribution.
func signed(s metrics.Signed) *Signed {
	n := s.Count()
	if n == 0 {
		return nil
	}
	at := func(percentile float64) *int64 {
		if !metrics.Supports(n, percentile) {
			return nil
		}
		v := s.Quantile(percentile)
		return &v
	}
	return &Signed{Min: s.Min(), P50: at(50), P99: at(99), Max: s.Max()}
}
