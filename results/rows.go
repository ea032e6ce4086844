package results

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// table is the numbers of the runs on one backend: a row for each level and form,
// the forms of one level side by side.
func table(runs []Run, shown columns) *grid {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(a.Clients, b.Clients) })
	s := newSheet(runs, shown)
	if runs[0].isMix() {
		mixTable(s)
		return s.finished()
	}
	if runs[0].Fanout != nil {
		fanoutTable(s)
		return s.finished()
	}
	if runs[0].isStorm() {
		stormTable(s)
		return s.finished()
	}
	text := s.text
	perRound := func(c column, of func(*PerRound) float64) {
		s.figure(c, func(r Run) (float64, bool) { return perRoundOf(r, of) }, Rate)
	}

	text(column{head: "clients", over: runs[0].place()},
		func(r Run) string { return Count(int64(r.Clients)) })
	text(column{head: "form", left: true, space: 2}, func(r Run) string { return r.Form })
	open := s.rates("rounds/s")
	perRound(column{head: "notif", over: "per round", space: 3}, func(p *PerRound) float64 { return p.Notifications })
	perRound(column{head: "reads", space: 2}, func(p *PerRound) float64 { return p.Reads })
	perRound(column{head: "writes", space: 2}, func(p *PerRound) float64 { return p.Writes })
	if slices.ContainsFunc(runs, Run.asksMore) {
		perRound(column{head: "rpcs", space: 2}, func(p *PerRound) float64 { return p.RPCs })
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
	s.figure(column{head: "max", over: "fan-out", space: 3}, Run.largest, whole)
	if !open && !s.beside() { // there is no room for it beside what was offered, or went on
		s.figure(column{head: "wasted", space: 2, alone: true},
			portion(func(r Run) (int64, int64) { return r.Herd.Wasted, r.Herd.Useful + r.Herd.Wasted }), share)
	}
	backgroundColumns(s)
	s.safety()
	return s.finished()
}

// asksMore tells whether the run made a good many requests that are neither reads
// nor writes: watches of etcd, syncs, sessions that were opened.
func (r Run) asksMore() bool {
	p := r.Cost.PerRound
	return p != nil && p.RPCs > 1.01*(p.Reads+p.Writes)
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

// largest is the largest fan-out of one write.
func (r Run) largest() (float64, bool) {
	if r.Herd.Fanout == nil {
		return 0, true
	}
	return float64(r.Herd.Fanout.Max), true
}

// whole writes a number that counts something.
func whole(v float64) string { return Count(int64(math.Round(v))) }

// safety adds the column of what was checked in all repetitions.
func (s *sheet) safety() {
	s.columns = append(s.columns, column{head: "safety", left: true, space: 3})
	for i, row := range s.of {
		all := row[0].Safety
		for _, r := range row[1:] {
			all.Checked, all.Violations, all.BeliefOverlaps = all.Checked+r.Safety.Checked, all.Violations+r.Safety.Violations, all.BeliefOverlaps+r.Safety.BeliefOverlaps
		}
		s.rows[i], s.spans[i] = append(s.rows[i], all.verdict()), append(s.spans[i], "")
	}
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
