package observation

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/view"
)

// Tables returns the numbers of the observation: its places, the changes that woke most sessions, the
// operations, the numbers of further findings and, if it was asked for, the projection.
func Tables(f results.Observation) (all []view.Table) {
	for _, t := range []view.Table{
		places(f.Observed.Places), largest(f.Observed.Largest), operations(f.Observed.Operations),
		polls(f.Observed.Places), rearmed(f.Observed.Rearming), sessions(f.Observed.Churn), standingWatches(f.Observed.Standing),
		projection(f.Projected, f.Observed.Places),
	} {
		if len(t.Rows)+len(t.Notes) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// numbers returns columns of which the first, and the last if it is text, are aligned left.
func numbers(text bool, heads ...string) (all []view.Column) {
	for i, head := range heads {
		all = append(all, view.Column{Head: head, Left: i == 0 || text && i == len(heads)-1})
	}
	return all
}

// maxRows is how many places the table shows; the file has all.
const maxRows = 20

func places(places []observe.Place) view.Table {
	t := view.Table{Title: "Paths", Columns: numbers(true, "path", "watched by", "changes", "woken p50", "max", "wasted", "reads", "lost", "settled p90", "form recognised")}
	for _, p := range places[:min(len(places), maxRows)] {
		form := "unknown"
		if p.Form != nil {
			form = p.Form.Name
		}
		t.Rows = append(t.Rows, []string{
			shortened(p.Path), units.Count(int64(p.Sessions)), units.Count(p.Changes), units.Count(p.FanoutP50), units.Count(p.FanoutMax),
			share(p), units.Count(p.ReadsAfter), units.Count(p.LostAfter), duration(p.SettledP90), form,
		})
	}
	if n := len(places) - maxRows; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %s, in the file that -o json=PATH writes", units.Plural(n, "more place")))
	}
	return t
}

// longestPath is the number of characters of a path in a table.
const longestPath = 32

func shortened(p string) string {
	if r := []rune(p); len(r) > longestPath {
		return "…" + string(r[len(r)-longestPath+1:])
	}
	return p
}

func share(p observe.Place) string {
	if p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
		return units.Absent
	}
	return units.Percent(*p.Wasted, *p.Useful+*p.Wasted)
}

func duration(n *int64) string {
	if n == nil {
		return units.Absent
	}
	return units.Duration(time.Duration(*n))
}

func largest(changes []observe.Change) view.Table {
	t := view.Table{Title: "Largest changes", Columns: numbers(true, "largest changes", "operation", "woken", "waited again", "reads", "lost", "settled", "written by")}
	if len(changes) == 0 || changes[0].Woke < 2 {
		return t
	}
	t.Columns[1].Left = true
	for _, c := range changes[:min(len(changes), 3)] {
		op, by := c.Op, c.Writer
		if op == "" {
			op, by = "unseen", units.Absent
		}
		t.Rows = append(t.Rows, []string{shortened(c.Path), op, units.Count(c.Woke), units.Count(c.Waited), units.Count(c.Reads),
			units.Count(c.Lost), units.Duration(c.Settled), by})
	}
	return t
}

func operations(all []observe.Operation) view.Table {
	t := view.Table{Title: "Operations", Columns: numbers(false, "operation", "answered", "p50", "p99")}
	for _, o := range all {
		t.Rows = append(t.Rows, []string{o.Name, units.Count(o.Requests), duration(o.P50), duration(o.P99)})
	}
	return t
}

// projection returns what a change would cost with n clients, for the places that were recognised.
func projection(n int, places []observe.Place) view.Table {
	if n == 0 {
		return view.Table{}
	}
	t := view.Table{Title: "Projection", Columns: numbers(true, "with "+units.Clients(n), "wakes now", "would wake", "would settle in", "form")}
	for _, p := range places {
		if now, then, settled, ok := p.Project(n); ok {
			t.Rows = append(t.Rows, []string{shortened(p.Path), units.Count(now), units.Count(then), settledText(settled), p.Form.Name})
		}
	}
	t.Notes = []string{fmt.Sprintf("It is assumed that as large a share of %s watches, and that the time to settle grows with the number woken.", units.Clients(n))}
	if len(t.Rows) == 0 {
		t.Notes = []string{"no projection: no form was recognised whose changes were seen"}
	}
	return t
}

func settledText(d time.Duration) string {
	if d == 0 {
		return units.Absent
	}
	return "about " + units.Duration(d)
}

// Thresholds returns the table of the thresholds, and none if the observation had none.
func Thresholds(f results.Observation) []view.Table {
	t := view.Table{Title: "Thresholds", Columns: []view.Column{{Head: "threshold", Left: true}, {Head: "verdict"}, {Head: "measured"}, {Head: "at", Left: true}}}
	verdicts := &t.Columns[1].Verdicts
	for _, g := range f.Gates {
		*verdicts = append(*verdicts, g.Verdict)
		t.Rows = append(t.Rows, []string{g.Text, string(g.Verdict), measured(g), g.Subject})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []view.Table{t}
}

// measured returns the value of a threshold, or why there is none.
func measured(g results.Gate) string {
	if g.Measured == nil {
		return g.Why
	}
	return units.Value(*g.Measured, g.Unit)
}
