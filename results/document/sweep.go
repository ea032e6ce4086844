package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// A sweep words a result; its methods decide nothing.
type sweep struct{ results.Sweep }

// ofSweep returns the document of a sweep: that of a run, whose tables have a row for each level.
func ofSweep(s sweep) Document {
	d := ofRuns(s.File)
	d.Heading, d.Findings = s.heading(), s.findings()
	if s.Interrupted {
		d.Interrupted = s.progress()
	}
	for _, rows := range grouped(s.Levels, func(a, b results.Level) bool { return a.Recipe == b.Recipe && a.Backend.SameService(b.Backend) }) {
		d.Tables = append(d.Tables, s.table(rows))
	}
	d.Tables = append(d.Tables, shown(s.curves(), s.capacities(), agentTable(s.Runs))...)
	d.note(prefixed("skipped: ", s.Skipped)...)
	d.note(safetyNote(s.Runs)...)
	d.Notes = append(d.Notes, identityNotes(s.Runs)...)
	if s.State != "" {
		d.Command, d.Resumes = CommandLine(append(slices.Clone(s.Command), "--resume", s.State)), true
	}
	return d
}

// heading names the recipe, the backend and the swept settings in one line.
func (s sweep) heading() string {
	parts := append([]string{"stampede sweep"}, levels.Distinct(s.Runs, func(r results.Run) string { return r.Recipe })...)
	parts = append(parts, levels.Distinct(s.Runs, func(r results.Run) string { return whereOf(r.Backend) })...)
	if len(s.Runs) > 0 {
		parts = append(parts, settingsOf(s.Runs[0], s.Axes)...)
		if s.Objective == "" {
			parts = append(parts, "each "+units.Setting(s.Runs[0].DurationNS.Round(100*time.Millisecond)))
		}
	}
	if s.Objective != "" {
		parts = append(parts, s.Objective)
	}
	parts = append(parts, fmt.Sprintf("seed %d", s.Seed))
	if len(s.Levels) > 0 && s.Objective == "" {
		places := grouped(s.Levels, func(a, b results.Level) bool {
			return a.Clients == b.Clients && a.Groups == b.Groups && a.HoldNS == b.HoldNS && a.Rate == b.Rate && a.Reads == b.Reads && a.Size == b.Size
		})
		parts = append(parts, fmt.Sprintf("%s × %s × %d", units.Plural(len(places), "level"), units.Plural(len(formsOf(s.Runs)), "form"), s.Repeat))
	}
	if s.Took > 0 {
		parts = append(parts, s.Took.Round(time.Second).String())
	}
	return strings.Join(parts, " · ")
}

// progress says how many runs an interrupted sweep completed.
func (s sweep) progress() string {
	done := units.Plural(len(s.Runs), "run")
	if s.Planned > 0 {
		done = fmt.Sprintf("%d of %s", len(s.Runs), units.Plural(s.Planned, "run"))
	}
	return fmt.Sprintf("Interrupted: %s completed; everything below is from these.", done)
}

// table has a row for each level and form, like the table of a run.
func (s sweep) table(rows []results.Level) Table {
	runs := make([]results.Run, len(rows))
	for i, l := range rows {
		runs[i] = levels.Middle(s.Sweep, l)
	}
	title := rows[0].Recipe + " on " + placeName(s.Runs, rows[0].Backend)
	t := runsTable(title, runs, shownPercentiles{chosen: s.Percentiles, tails: []float64{99, 90}}) // the percentiles that crossovers use
	t.drop("wasted")
	t.drop("safety")
	t.Notes, t.Warnings = s.ranges(), s.warnings(rows)
	if s.ranged() {
		t.insertAfter(Column{Head: "range", Left: true, Gap: 1}, func(i int) string {
			e := rows[i].Throughput
			return fmt.Sprintf("[%s, %s]", units.Rate(e.Low), units.Rate(e.High))
		}, "rounds/s", "ops/s", "writes/s")
	}
	s.axisColumns(&t, rows)
	if s.Objective != "" {
		t.insertAfter(Column{Head: "runs"}, func(i int) string { return units.Count(int64(len(rows[i].Runs))) }, "form", "clients")
	}
	return t
}

// axisColumns adds columns for the axes that a run's table does not show. On the axis of reads, the
// requested share replaces the achieved one, which the columns of operations per second show too.
func (s sweep) axisColumns(t *Table, rows []results.Level) {
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
		t.drop(c.axis)
		t.insertAfter(Column{Head: c.axis}, func(i int) string { return c.cell(rows[i]) }, "clients", "watchers")
	}
}

// warnings returns the warnings about the levels: a processor warning that at least half of a level's
// runs have, and arrivals that were not served.
func (s sweep) warnings(rows []results.Level) (lines []Warning) {
	for _, l := range rows {
		runs := levels.RunsOf(s.Sweep, l)
		if text := levels.ProcessorLimit(runs); text != "" && s.Objective == "" {
			lines = append(lines, Warning{"processors", fmt.Sprintf("%s, %s: %s", l.Form, levels.Crowd(runs[0]), text)})
		}
		lost := 0
		for _, r := range runs {
			if r.Generator.Lost() > 0 {
				lost++
			}
		}
		if lost > 0 {
			lines = append(lines, Warning{"arrivals", fmt.Sprintf("%s, %s: arrivals were not served in %d of %s: response times are lower bounds",
				l.Form, levels.Place(s.Axes[0], levels.On(l, s.Axes[0])), lost, units.Plural(len(runs), "run"))})
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

// safetyNote says how many checks were made. The finding reports violations.
func safetyNote(runs []results.Run) []string {
	if len(runs) == 0 || sumOfSafety(runs).Checked == 0 {
		return nil
	}
	all := sumOfSafety(runs)
	line := fmt.Sprintf("safety: %s checks", units.Count(all.Checked))
	if all.BeliefOverlaps > 0 {
		line += fmt.Sprintf(", and after a disturbance %s more than one client believed to hold", units.Times(all.BeliefOverlaps))
	}
	return []string{line}
}
