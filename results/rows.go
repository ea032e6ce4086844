package results

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// table is the numbers of the runs on one backend: a row for each level and form,
// the forms of one level side by side.
func table(runs []Run, shown columns) *grid {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(a.Clients, b.Clients) })
	s := &sheet{grid: grid{rows: make([][]string, len(runs))}, runs: runs, shown: shown}
	if runs[0].isMix() {
		mixTable(s)
		return &s.grid
	}
	if runs[0].Fanout != nil {
		fanoutTable(s)
		return &s.grid
	}
	if runs[0].isStorm() {
		stormTable(s)
		return &s.grid
	}
	text := s.text
	perRound := func(of func(*PerRound) float64) func(Run) string {
		return func(r Run) string {
			if r.Cost.PerRound == nil {
				return absent
			}
			return Rate(of(r.Cost.PerRound))
		}
	}

	text(column{head: "clients", over: runs[0].place()},
		func(r Run) string { return Count(int64(r.Clients)) })
	text(column{head: "form", left: true, space: 2}, func(r Run) string { return r.Form })
	open := s.rates("rounds/s")
	text(column{head: "notif", over: "per round", space: 3},
		perRound(func(p *PerRound) float64 { return p.Notifications }))
	text(column{head: "reads", space: 2}, perRound(func(p *PerRound) float64 { return p.Reads }))
	text(column{head: "writes", space: 2}, perRound(func(p *PerRound) float64 { return p.Writes }))
	if slices.ContainsFunc(runs, Run.asksMore) {
		text(column{head: "rpcs", space: 2}, perRound(func(p *PerRound) float64 { return p.RPCs }))
	}
	tail, first := tailPhase(runs[0]), firstPhase(runs[0])
	if open {
		s.times(label(first)+" from when due", first, Run.latency)
		s.tail("from call", first, Run.service)
	} else {
		s.times(label(tail), tail, Run.latency)
		if first != tail {
			s.tail(label(first), first, Run.latency)
		}
	}
	text(column{head: "max", over: "fan-out", space: 3}, Run.largest)
	if !open && !s.beside() { // there is no room for it beside what was offered, or went on
		text(column{head: "wasted", space: 2, alone: true},
			func(r Run) string { return percent(r.Herd.Wasted, r.Herd.Useful+r.Herd.Wasted) })
	}
	backgroundColumns(s)
	text(column{head: "safety", left: true, space: 3}, func(r Run) string { return r.Safety.verdict() })
	return &s.grid
}

// asksMore tells whether the run made a good many requests that are neither reads
// nor writes: watches of etcd, syncs, sessions that were opened.
func (r Run) asksMore() bool {
	p := r.Cost.PerRound
	return p != nil && p.RPCs > 1.01*(p.Reads+p.Writes)
}

// durations are the cells of one column, in one unit if they are not too far
// apart.
func durations(runs []Run, of func(Run) *int64) []string {
	all := make([]*int64, len(runs))
	var known []time.Duration
	for i, r := range runs {
		if all[i] = of(r); all[i] != nil {
			known = append(known, time.Duration(*all[i]))
		}
	}
	common, fits := unitOf(known)
	cells := make([]string, len(runs))
	for i, v := range all {
		switch {
		case v == nil:
			cells[i] = absent
		case fits:
			cells[i] = common.measure(time.Duration(*v))
		default:
			cells[i] = Duration(time.Duration(*v))
		}
	}
	return cells
}

// latency is what clients waited in the phase: from when it was due, where that
// was measured.
func (r Run) latency(phase string) *Distribution {
	l := r.Latency[phase]
	if l.Response == nil {
		return l.Service
	}
	return l.Response
}

// service is how long the phase itself took.
func (r Run) service(phase string) *Distribution { return r.Latency[phase].Service }

func (r Run) open() bool { return r.Open != nil }

func (r Run) offered() string {
	if !r.open() {
		return absent
	}
	return Rate(r.OfferedPerS)
}

// late is the share of the arrivals for which nobody was free when they were due,
// or ever.
func (r Run) late() string { return percent(r.Generator.Late+r.Generator.Skipped, r.Generator.Offered) }

func median(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	return d.P50
}

func p99(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	return d.P99
}

func (r Run) speed() string {
	if r.DurationNS <= 0 {
		return absent
	}
	return Rate(r.ThroughputPerS)
}

// largest is the largest fan-out of one write.
func (r Run) largest() string {
	if r.Herd.Fanout == nil {
		return "0"
	}
	return Count(r.Herd.Fanout.Max)
}

// verdict is "ok" with the number of checks, or what was found.
func (s Safety) verdict() string {
	v := "ok " + Count(s.Checked)
	if s.Violations > 0 {
		v = "VIOLATED " + Count(s.Violations)
	} else if s.Checked == 0 {
		v = "not checked"
	}
	if s.Weaker != "" {
		v += ", weaker guarantee"
	}
	if s.BeliefOverlaps > 0 {
		v += ", overlaps " + Count(s.BeliefOverlaps)
	}
	return v
}

// tailPhase is the phase that the herd slows down first: the hand-off where the
// recipe has one, else its first.
func tailPhase(r Run) string {
	if slices.Contains(r.Phases, "handoff") {
		return "handoff"
	}
	return firstPhase(r)
}

func firstPhase(r Run) string {
	if len(r.Phases) == 0 {
		return ""
	}
	return r.Phases[0]
}

// label is the phase as a heading has it.
func label(phase string) string {
	if phase == "handoff" {
		return "hand-off"
	}
	return phase
}

// place is what was run and where, with how that was asked to be: several backends
// may be of one kind.
func (r Run) place() string {
	on := r.Backend.Name
	if _, asked, ok := strings.Cut(r.Backend.URL, "?"); ok {
		on += ":?" + asked
	}
	return r.Recipe + " on " + on
}
