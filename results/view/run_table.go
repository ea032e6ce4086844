package view

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// table returns the numbers of the runs on one backend: a row for each number of clients and form,
// with the forms of one number of clients next to each other.
func table(runs []results.Run, shown columns) *grid {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b results.Run) int { return cmp.Compare(a.Clients, b.Clients) })
	s := newSheet(runs, shown)
	if runs[0].IsMix() {
		mixTable(s)
		return s.finished()
	}
	if runs[0].Fanout != nil {
		fanoutTable(s)
		return s.finished()
	}
	if isStorm(runs[0]) {
		stormTable(s)
		return s.finished()
	}
	text := s.text
	perRound := func(c column, of func(*results.PerRound) float64) {
		s.figure(c, func(r results.Run) (float64, bool) { return levels.PerRoundOf(r, of) }, units.Rate)
	}

	text(column{head: "clients", over: placeOf(runs[0])},
		func(r results.Run) string { return units.Count(int64(r.Clients)) })
	text(column{head: "form", left: true, space: 2}, func(r results.Run) string { return r.Form })
	open := s.rates("rounds/s")
	perRound(column{head: "notif", over: "per round", space: 3}, func(p *results.PerRound) float64 { return p.Notifications })
	perRound(column{head: "reads", space: 2}, func(p *results.PerRound) float64 { return p.Reads })
	perRound(column{head: "writes", space: 2}, func(p *results.PerRound) float64 { return p.Writes })
	if slices.ContainsFunc(runs, asksMore) {
		perRound(column{head: "rpcs", space: 2}, func(p *results.PerRound) float64 { return p.RPCs })
	}
	tail, first := results.KeyPhase(runs[0].Phases), results.FirstPhase(runs[0])
	if open {
		s.times(Label(first)+" from when due", first, results.Run.Times)
		s.tail("from call", first, results.Run.ServiceTimes)
	} else {
		s.times(Label(tail), tail, results.Run.Times)
		if first != tail {
			s.tail(Label(first), first, results.Run.Times)
		}
	}
	s.figure(column{head: "max", over: "fan-out", space: 3}, largest, whole)
	if !open && !s.beside() { // no room beside the offered rate or the background
		s.figure(column{head: "wasted", space: 2, alone: true},
			portion(func(r results.Run) (int64, int64) { return r.Herd.Wasted, r.Herd.Useful + r.Herd.Wasted }), units.Share)
	}
	backgroundColumns(s)
	s.safety()
	return s.finished()
}

// asksMore reports whether the run's requests exceed its reads and writes by more than 1 %, because of etcd
// watches, syncs or opened sessions.
func asksMore(r results.Run) bool {
	p := r.Cost.PerRound
	return p != nil && p.RPCs > 1.01*(p.Reads+p.Writes)
}

// largest returns the largest fan-out of one write.
func largest(r results.Run) (float64, bool) {
	if r.Herd.Fanout == nil {
		return 0, true
	}
	return float64(r.Herd.Fanout.Max), true
}

// whole formats a count.
func whole(v float64) string { return units.Count(int64(math.Round(v))) }

// safety adds the column of the safety checks, summed over the repetitions.
func (s *sheet) safety() {
	c := column{head: "safety", left: true, space: 3}
	for i, row := range s.of {
		all := row[0].Safety
		for _, r := range row[1:] {
			all.Checked, all.Violations, all.BeliefOverlaps = all.Checked+r.Safety.Checked, all.Violations+r.Safety.Violations, all.BeliefOverlaps+r.Safety.BeliefOverlaps
		}
		text, verdict := safetyVerdict(all)
		s.rows[i], s.spans[i] = append(s.rows[i], text), append(s.spans[i], "")
		c.verdicts = append(c.verdicts, verdict)
	}
	s.columns = append(s.columns, c)
}

// safetyVerdict formats the number of checks after "ok", or the violations found.
func safetyVerdict(s results.Safety) (text string, v results.Verdict) {
	text, v = "ok "+units.Count(s.Checked), results.Pass
	if s.Violations > 0 {
		text, v = "VIOLATED "+units.Count(s.Violations), results.Fail
	} else if s.Checked == 0 {
		text, v = "not checked", ""
	}
	if s.Weaker != "" {
		text += ", weaker guarantee"
	}
	if s.BeliefOverlaps > 0 {
		text += ", overlaps " + units.Count(s.BeliefOverlaps)
	}
	return text, v
}

// Label returns the name of the phase in headings.
func Label(phase string) string {
	if phase == "handoff" {
		return "hand-off"
	}
	return phase
}

// placeOf returns the recipe and the backend of a run, with the query of the backend's URL, since
// several backends may be of the same kind.
func placeOf(r results.Run) string {
	on := r.Backend.Name
	if _, asked, ok := strings.Cut(r.Backend.URL, "?"); ok {
		on += ":?" + asked
	}
	return r.Recipe + " on " + on
}
