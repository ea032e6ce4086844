package view

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// heading names the recipe, the backend and the swept settings in one line.
func (s sweep) Heading() string {
	parts := append([]string{"stampede sweep"}, levels.Distinct(s.Runs, func(r results.Run) string { return r.Recipe })...)
	parts = append(parts, levels.Distinct(s.Runs, func(r results.Run) string { return whereOf(r.Backend) })...)
	if len(s.Runs) > 0 {
		parts = append(parts, s.settings(s.Runs[0])...)
	}
	if s.Objective != "" {
		parts = append(parts, s.Objective)
	}
	parts = append(parts, fmt.Sprintf("seed %d", s.Seed))
	if len(s.Levels) > 0 && s.Objective == "" {
		forms := levels.Distinct(s.Runs, func(r results.Run) string { return r.Recipe + "/" + r.Form })
		parts = append(parts, fmt.Sprintf("%s × %s × %d", units.Plural(len(s.places()), "level"), units.Plural(len(forms), "form"), s.Repeat))
	}
	if s.Took > 0 {
		parts = append(parts, s.Took.Round(time.Second).String())
	}
	return strings.Join(parts, " · ")
}

// settings returns the settings that are the same at all levels.
func (s sweep) settings(r results.Run) (parts []string) {
	fixed := func(axis string) bool { return !slices.Contains(s.Axes, axis) }
	if r.Groups > 1 && fixed("groups") {
		parts = append(parts, units.Plural(r.Groups, "group"))
	}
	if r.Open != nil && fixed("rate") {
		parts = append(parts, r.Open.Rate+"/s")
	}
	if r.IsMix() {
		parts = append(parts, s.mixSettings(r)...)
	} else if fixed("hold") {
		parts = append(parts, "hold "+units.Setting(r.HoldNS))
	}
	if s.Objective == "" {
		parts = append(parts, "each "+units.Setting(r.DurationNS.Round(100*time.Millisecond)))
	}
	return parts
}

// mixSettings returns the settings of raw operations.
func (s sweep) mixSettings(r results.Run) (parts []string) {
	if slices.Contains(s.Axes, "size") {
		parts = append(parts, units.Count(int64(r.Mix.Keys))+" keys")
	} else {
		parts = append(parts, aboutMix(*r.Mix))
	}
	if !slices.Contains(s.Axes, "reads") {
		parts = append(parts, units.Share(r.ReadRatio.Asked)+" reads")
	}
	return parts
}

// places returns the distinct levels, over all forms.
func (s sweep) places() (all []string) {
	for _, l := range s.Levels {
		p := fmt.Sprint(l.Clients, l.Groups, l.HoldNS, l.Rate, l.Reads, l.Size)
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// WriteTable writes the sweep for people: the heading, the finding, the medians of every level,
// the curves fitted to them and the limits of each form.
func (s sweep) WriteTable(w io.Writer, o Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", s.Heading())
	if s.Interrupted {
		o.Emphasize(&b, s.progress())
		fmt.Fprintln(&b)
	}
	for _, line := range s.Findings() {
		o.Emphasize(&b, line)
	}
	for _, rows := range s.tables() {
		fmt.Fprintln(&b)
		s.table(rows).write(&b)
		writeLines(&b, "warning: ", s.warnings(rows))
	}
	if ranges := s.ranges(); len(ranges) > 0 {
		fmt.Fprintln(&b)
		writeLines(&b, "", ranges)
	}
	s.curves().writePlain(&b)
	s.capacities().writePlain(&b)
	s.foot(&b, o)
	_, err := w.Write(b.Bytes())
	return err
}

// progress says how many runs an interrupted sweep completed.
func (s sweep) progress() string {
	done := units.Plural(len(s.Runs), "run")
	if s.Planned > 0 {
		done = fmt.Sprintf("%d of %s", len(s.Runs), units.Plural(s.Planned, "run"))
	}
	return fmt.Sprintf("Interrupted: %s completed; everything below is from these.", done)
}

// tables groups the levels by recipe and backend.
func (s sweep) tables() (all [][]results.Level) {
	for _, l := range s.Levels {
		last := len(all) - 1
		if last < 0 || all[last][0].Recipe != l.Recipe || !all[last][0].Backend.SameService(l.Backend) {
			all = append(all, nil)
			last++
		}
		all[last] = append(all[last], l)
	}
	return all
}

// table has a row for each level and form, like the table of a run.
func (s sweep) table(rows []results.Level) *grid {
	runs := make([]results.Run, len(rows))
	for i, l := range rows {
		runs[i] = levels.Middle(s.Sweep, l)
	}
	g := table(runs, columns{chosen: s.Percentiles, tails: []float64{99, 90}}) // the percentiles that crossovers use
	g.drop("wasted")
	g.drop("safety")
	if s.ranged() {
		g.insert(column{head: "range", left: true, space: 1}, func(i int) string {
			e := rows[i].Throughput
			return fmt.Sprintf("[%s, %s]", units.Rate(e.Low), units.Rate(e.High))
		}, "rounds/s", "ops/s", "writes/s")
	}
	s.axisColumns(g, rows)
	if s.Objective != "" {
		g.insert(column{head: "runs", space: 2}, func(i int) string { return units.Count(int64(len(rows[i].Runs))) }, "form", "clients")
	}
	return g
}

// axisColumns adds columns for the axes that a run's table does not show. On the axis of reads, the
// requested share replaces the achieved one, which the columns of operations per second show too.
func (s sweep) axisColumns(g *grid, rows []results.Level) {
	for _, c := range []struct {
		axis string
		cell func(results.Level) string
	}{
		{"size", func(l results.Level) string { return units.Count(int64(l.Size)) + " B" }},
		{"reads", func(l results.Level) string { return units.Chosen(l.Reads) }},
		{"hold", func(l results.Level) string { return units.Setting(l.HoldNS) }},
		{"groups", func(l results.Level) string { return units.Count(int64(l.Groups)) }},
	} {
		if !slices.Contains(s.Axes, c.axis) {
			continue
		}
		g.drop(c.axis)
		g.insert(column{head: c.axis, space: 2}, func(i int) string { return c.cell(rows[i]) }, "clients", "watchers")
	}
}

// warnings returns the warnings about the levels: a processor warning that at least half of a level's
// runs have, and arrivals that were not served.
func (s sweep) warnings(rows []results.Level) (lines []string) {
	for _, l := range rows {
		runs := levels.RunsOf(s.Sweep, l)
		if text := levels.ProcessorLimit(runs); text != "" && s.Objective == "" {
			lines = append(lines, fmt.Sprintf("%s, %s: %s", l.Form, levels.Crowd(runs[0]), text))
		}
		lost := 0
		for _, r := range runs {
			if r.Generator.Lost() > 0 {
				lost++
			}
		}
		if lost > 0 {
			lines = append(lines, fmt.Sprintf("%s, %s: arrivals were not served in %d of %s: response times are lower bounds",
				l.Form, levels.Place(s.Axes[0], levels.On(l, s.Axes[0])), lost, units.Plural(len(runs), "run")))
		}
	}
	return lines
}

// ranged reports whether levels were measured several times. A search repeats each level as often as
// it needs, so it does not count.
func (s sweep) ranged() bool { return s.Repeat > 1 && s.Objective == "" }

// ranges explains the intervals in the table.
func (s sweep) ranges() []string {
	if len(s.Levels) == 0 || !s.ranged() {
		return nil
	}
	least := s.Levels[0].Throughput.Confidence
	for _, l := range s.Levels {
		least = min(least, l.Throughput.Confidence)
	}
	switch {
	case least == 0:
		return []string{fmt.Sprintf("medians of up to %d; some levels were measured once, and their [range] is that", s.Repeat)}
	case least >= stats.Confidence:
		return []string{fmt.Sprintf("medians of %d; [range] is their 95 %% interval by the sign test", s.Repeat)}
	}
	return []string{fmt.Sprintf("medians of %d; [range] is from the least to the greatest and holds the true median in %.0f %% of cases: --repeat 6 gives 95 %%",
		s.Repeat, 100*least)}
}

// safety says how many checks were made. The finding reports violations.
func safety(runs []results.Run) []string {
	var checked, overlaps int64
	for _, r := range runs {
		checked, overlaps = checked+r.Safety.Checked, overlaps+r.Safety.BeliefOverlaps
	}
	if checked == 0 {
		return nil
	}
	line := fmt.Sprintf("safety: %s checks", units.Count(checked))
	if overlaps > 0 {
		line += fmt.Sprintf(", and after a disturbance %s more than one client believed to hold", units.Times(overlaps))
	}
	return []string{line}
}

func (s sweep) foot(w io.Writer, o Options) {
	fmt.Fprintln(w)
	writeLines(w, "skipped: ", s.Skipped)
	writeLines(w, "", safety(s.Runs))
	writeIdentities(w, s.Runs, o)
	if o.Saved != "" {
		fmt.Fprintf(w, "  saved: %s\n", o.Saved)
	}
	if s.State != "" {
		fmt.Fprintf(w, "  resume with: %s\n", CommandLine(append(slices.Clone(s.Command), "--resume", s.State)))
		return
	}
	writeCommand(w, s.Command)
}
