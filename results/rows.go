package results

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// table returns the numbers of the runs on one backend: a row for each number of clients and form,
// with the forms of one number of clients next to each other.
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
	if !open && !s.beside() { // no room beside the offered rate or the background
		s.figure(column{head: "wasted", space: 2, alone: true},
			portion(func(r Run) (int64, int64) { return r.Herd.Wasted, r.Herd.Useful + r.Herd.Wasted }), share)
	}
	backgroundColumns(s)
	s.safety()
	return s.finished()
}

// asksMore reports whether the run's requests exceed its reads and writes by more than 1 %, because of etcd
// watches, syncs or opened sessions.
func (r Run) asksMore() bool {
	p := r.Cost.PerRound
	return p != nil && p.RPCs > 1.01*(p.Reads+p.Writes)
}

// latency returns the latency of the phase: the response time, from when the work was due, if it was
// measured, otherwise the service time.
func (r Run) latency(phase string) *Distribution {
	l := r.Latency[phase]
	if l.Response == nil {
		return l.Service
	}
	return l.Response
}

// service returns the service time of the phase.
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

// largest returns the largest fan-out of one write.
func (r Run) largest() (float64, bool) {
	if r.Herd.Fanout == nil {
		return 0, true
	}
	return float64(r.Herd.Fanout.Max), true
}

// whole formats a count.
func whole(v float64) string { return Count(int64(math.Round(v))) }

// safety adds the column of the safety checks, summed over the repetitions.
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

// verdict formats the number of checks after "ok", or the violations found.
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

// tailPhase returns the phase that a herd slows down first: the hand-off if the recipe has one,
// otherwise the first phase.
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

// label returns the name of the phase in headings.
func label(phase string) string {
	if phase == "handoff" {
		return "hand-off"
	}
	return phase
}

// place returns what was run and where, with the query of the backend's URL, since several backends
// may be of the same kind.
func (r Run) place() string {
	on := r.Backend.Name
	if _, asked, ok := strings.Cut(r.Backend.URL, "?"); ok {
		on += ":?" + asked
	}
	return r.Recipe + " on " + on
}
