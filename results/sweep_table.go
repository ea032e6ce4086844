package results

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/stampede-bench/stampede/fit"
)

// WriteTable writes the sweep for people: what was swept, the finding, the medians of every level,
// the curves fitted to them and the limits of each form.
func (s Sweep) WriteTable(w io.Writer, o TableOptions) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", s.heading())
	if s.Interrupted {
		o.emphasize(&b, s.progress())
		fmt.Fprintln(&b)
	}
	for _, line := range s.finding() {
		o.emphasize(&b, line)
	}
	for _, levels := range s.tables() {
		fmt.Fprintln(&b)
		s.table(levels).write(&b)
		s.warn(&b, levels)
	}
	s.ranges(&b)
	s.curves(&b)
	s.capacities(&b)
	s.foot(&b, o)
	_, err := w.Write(b.Bytes())
	return err
}

// progress says how many runs an interrupted sweep completed.
func (s Sweep) progress() string {
	done := plural(len(s.Runs), "run")
	if s.Planned > 0 {
		done = fmt.Sprintf("%d of %s", len(s.Runs), plural(s.Planned, "run"))
	}
	return fmt.Sprintf("Interrupted: %s went through, and all below is of these.", done)
}

// tables groups the levels by recipe and backend.
func (s Sweep) tables() (all [][]Level) {
	for _, l := range s.Levels {
		last := len(all) - 1
		if last < 0 || all[last][0].Recipe != l.Recipe || all[last][0].Backend != l.Backend {
			all = append(all, nil)
			last++
		}
		all[last] = append(all[last], l)
	}
	return all
}

// table has a row for each level and form, like the table of a run.
func (s Sweep) table(levels []Level) *grid {
	runs := make([]Run, len(levels))
	for i, l := range levels {
		runs[i] = s.middle(l)
	}
	g := table(runs, columns{chosen: s.Percentiles, tails: []float64{99, 90}}) // the percentiles that crossovers use
	g.drop("wasted")
	g.drop("safety")
	if s.ranged() {
		g.insert(column{head: "range", left: true, space: 1}, func(i int) string {
			e := levels[i].Throughput
			return fmt.Sprintf("[%s, %s]", Rate(e.Low), Rate(e.High))
		}, "rounds/s", "ops/s", "writes/s")
	}
	s.axisColumns(g, levels)
	if s.Objective != "" {
		g.insert(column{head: "runs", space: 2}, func(i int) string { return Count(int64(len(levels[i].Runs))) }, "form", "clients")
	}
	return g
}

// axisColumns adds columns for the axes that a run's table does not show. On the axis of reads, the
// requested share replaces the achieved one, which the columns of operations per second show too.
func (s Sweep) axisColumns(g *grid, levels []Level) {
	for _, c := range []struct {
		axis string
		cell func(Level) string
	}{
		{"size", func(l Level) string { return Count(int64(l.Size)) + " B" }},
		{"reads", func(l Level) string { return shareAsked(l.Reads) }},
		{"hold", func(l Level) string { return setting(l.HoldNS) }},
		{"groups", func(l Level) string { return Count(int64(l.Groups)) }},
	} {
		if !slices.Contains(s.Axes, c.axis) {
			continue
		}
		g.drop(c.axis)
		g.insert(column{head: c.axis, space: 2}, func(i int) string { return c.cell(levels[i]) }, "clients", "watchers")
	}
}

// warn writes the warnings about the levels: a processor warning that at least half of a level's runs
// have, and arrivals that were not served.
// that were not served.
func (s Sweep) warn(w io.Writer, levels []Level) {
	for _, l := range levels {
		runs := s.at(l)
		if text := processorLimit(runs); text != "" && s.Objective == "" {
			fmt.Fprintf(w, "  warning: %s, %s: %s\n", l.Form, runs[0].crowd(), text)
		}
		lost := 0
		for _, r := range runs {
			if r.Generator.Lost() > 0 {
				lost++
			}
		}
		if lost > 0 {
			fmt.Fprintf(w, "  warning: %s, %s: arrivals were not served in %d of %s: response times are at least these\n",
				l.Form, place(s.Axes[0], l.On(s.Axes[0])), lost, plural(len(runs), "run"))
		}
	}
}

// ranged reports whether levels were measured several times. A search repeats each level as often as
// it needs, so it does not count.
func (s Sweep) ranged() bool { return s.Repeat > 1 && s.Objective == "" }

// ranges explains the intervals in the table.
func (s Sweep) ranges(w io.Writer) {
	if len(s.Levels) == 0 || !s.ranged() {
		return
	}
	least := s.Levels[0].Throughput.Confidence
	for _, l := range s.Levels {
		least = min(least, l.Throughput.Confidence)
	}
	if least == 0 {
		fmt.Fprintf(w, "\n  medians of up to %d; some levels were measured once, and their [range] is that\n", s.Repeat)
		return
	}
	if least >= fit.Confidence {
		fmt.Fprintf(w, "\n  medians of %d; [range] is their 95 %% interval by the sign test\n", s.Repeat)
		return
	}
	fmt.Fprintf(w, "\n  medians of %d; [range] is from the least to the greatest, which the true median is within %.0f times in 100:\n"+
		"  --repeat 6 makes it a 95 %% interval\n", s.Repeat, 100*least)
}

// safety writes how many checks were made. The finding reports violations.
func safety(w io.Writer, runs []Run) {
	var checked, overlaps int64
	for _, r := range runs {
		checked, overlaps = checked+r.Safety.Checked, overlaps+r.Safety.BeliefOverlaps
	}
	if checked == 0 {
		return
	}
	fmt.Fprintf(w, "  safety: %s checks", Count(checked))
	if overlaps > 0 {
		fmt.Fprintf(w, ", and after a disturbance %s more than one client believed to hold", times(overlaps))
	}
	fmt.Fprintln(w)
}

func (s Sweep) foot(w io.Writer, o TableOptions) {
	fmt.Fprintln(w)
	for _, line := range s.Skipped {
		fmt.Fprintf(w, "  skipped: %s\n", line)
	}
	safety(w, s.Runs)
	identities(w, s.Runs)
	if o.Saved != "" {
		fmt.Fprintf(w, "  saved: %s\n", o.Saved)
	}
	if s.State != "" {
		fmt.Fprintf(w, "  go on: %s\n", commandLine(append(slices.Clone(s.Command), "--resume", s.State)))
		return
	}
	fmt.Fprintf(w, "  again: %s\n", commandLine(s.Command))
}
