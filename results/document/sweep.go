package document

import (
	"fmt"
	"math"
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
	d := ofRuns(s.File, s.answers()...)
	d.Heading, d.Findings, d.Warnings = s.heading(), s.findings(), warningsFrom(s.Warnings)
	if s.Interrupted {
		d.Interrupted = s.progress()
	}
	for _, rows := range levels.Grouped(s.Levels, func(a, b results.Level) bool { return a.Recipe == b.Recipe && a.Backend.SameService(b.Backend) }) {
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
		places := levels.Grouped(s.Levels, func(a, b results.Level) bool {
			return a.Clients == b.Clients && a.Groups == b.Groups && a.HoldNS == b.HoldNS && a.SessionTimeout == b.SessionTimeout && a.Rate == b.Rate && a.Reads == b.Reads && a.Size == b.Size
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
	runs, timed := make([]results.Run, len(rows)), make([][]results.Run, len(rows))
	for i, l := range rows {
		runs[i], timed[i] = levels.Middle(s.Sweep, l), levels.RunsOf(s.Sweep, l)
	}
	title := rows[0].Recipe + " on " + placeName(s.Runs, rows[0].Backend)
	t := runsTable(title, runs, levels.ShownOfSweep(s.Sweep), timed)
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
		{"session-timeout", func(l results.Level) string { return units.Setting(l.SessionTimeout) }},
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

// warnings returns the warnings about the runs of the levels: a line for each kind that a form has, with the
// number of its runs that have it.
func (s sweep) warnings(rows []results.Level) (lines []Warning) {
	for _, series := range levels.Grouped(rows, func(a, b results.Level) bool { return a.Form == b.Form }) {
		var runs []results.Run
		var places []string // of the runs
		for _, l := range series {
			runs = append(runs, levels.RunsOf(s.Sweep, l)...)
			for range l.Runs {
				places = append(places, levels.Places(s.Sweep, l))
			}
		}
		for _, c := range caveats(runs) {
			var at []string
			for _, i := range c.of {
				at = append(at, places[i])
			}
			at = slices.Compact(at)
			all, where := len(runs), fmt.Sprintf("%d of %d levels", len(at), len(series))
			if len(at) == 1 {
				all, where = len(slices.DeleteFunc(slices.Clone(places), func(p string) bool { return p != at[0] })), at[0]
			}
			lines = append(lines, Warning{c.Kind, oneLine(fmt.Sprintf("%s, %s: in %d of %s: %s",
				series[0].Form, where, len(c.of), units.Plural(all, "run"), c.Text))})
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
	all := sumOfSafety(runs)
	if all.Checked == 0 {
		return nil
	}
	line := fmt.Sprintf("safety: %s checks", units.Count(all.Checked))
	if all.BeliefOverlaps > 0 {
		line += fmt.Sprintf(", and after a disturbance %s more than one client believed to hold", units.Times(all.BeliefOverlaps))
	}
	return []string{line}
}

// curves says, for each form, how its costs grow, how its throughput scales and what limits it.
func (s sweep) curves() Table {
	t := Table{Title: "growth and limits", Columns: columns(0, "<growth and limits", "<", "<")}
	t.Columns[2].Prose = true
	for _, c := range s.Curves {
		name := levels.FormName(s.Sweep, c.Recipe, c.Form, c.URL, c.Beside)
		for _, line := range s.lines(c) {
			t.Rows = append(t.Rows, []string{name, line[0], line[1]})
			name = ""
		}
	}
	return t
}

// lines returns what is said of a curve: for each line, what it is about and a sentence.
func (s sweep) lines(c results.Curve) (lines [][2]string) {
	if len(c.Growth) > 0 {
		lines = append(lines,
			[2]string{"cost", fmt.Sprintf("notifications per round %s, from %s clients on", growth(c, levels.Notifications), units.Short(c.GrowthFrom))},
			[2]string{"", fmt.Sprintf("reads and writes per round %s", growth(c, levels.Operations))})
	}
	if u := c.USL; u != nil {
		lines = append(lines,
			[2]string{"scaling", formula(*u) + because(u.Doubt)},
			[2]string{"knee", knee(*u)},
			[2]string{"residuals", residuals(*u)})
	} else if c.NoUSL != "" {
		lines = append(lines, [2]string{"scaling", "no law: " + c.NoUSL})
	}
	for _, x := range s.Crossovers {
		if c.Beside != "" && crossoverOf(x, c) {
			lines = append(lines, [2]string{"worse", s.worse(x)})
		}
	}
	for _, rows := range levels.Split(s.Sweep) {
		if c.Beside != "" && levels.OtherAxes(s.Sweep, rows[0]) == c.Beside && levels.CurveOf(c, rows[0]) && s.follows(rows) {
			lines = append(lines, [2]string{"trend", s.trend(rows)})
		}
	}
	for _, limit := range c.Limits {
		lines = append(lines, [2]string{"limit", limit})
	}
	return lines
}

// worse says in a line of the form's own what crosses says in a sentence.
func (s sweep) worse(c results.Crossover) string {
	much := fmt.Sprintf("%s times %s's in %s", units.Short(s.WorseBy), c.Than, c.Metric)
	switch {
	case c.At == nil && c.Doubt != "" && s.mayCross(c):
		return "not known whether more than " + much + because(c.Doubt)
	case c.At == nil:
		return "not more than " + much + " at the last level" + because(c.Doubt)
	case c.Always:
		return "more than " + much + " from the first level on" + because(c.Doubt)
	}
	return fmt.Sprintf("more than %s from %s on%s%s", much, levels.Place(s.Axes[0], s.reached(*c.At)), atLatest(c), because(c.Doubt))
}

// because gives the reason of a doubt, "" if there is none.
func because(doubt string) string {
	if doubt == "" {
		return ""
	}
	return "; no more is certain: " + doubt
}

// growth formats the growth of a cost: "as N^0.97 [0.95, 0.99]", "flat", or "not known: N^1.37 [−0.04,
// 2.79]".
func growth(c results.Curve, name string) string {
	g, ok := c.Growth[name]
	if !ok {
		return "0 at some level"
	}
	how := "as"
	switch stats.GrowthOf(stats.Estimate(g)) {
	case stats.Flat:
		return "flat"
	case stats.NotKnown:
		how = "not known:"
	}
	return fmt.Sprintf("%s N^%s [%s, %s]", how, exponent2(g.Value), exponent2(g.Low), exponent2(g.High))
}

// exponent2 formats an exponent with two decimals.
func exponent2(v float64) string {
	if math.Abs(v) < 0.005 {
		v = 0 // without a sign
	}
	return signed("%.2f", v)
}

func formula(u results.USL) string {
	return fmt.Sprintf("X(N) = %s·N / (1 + %s·(N−1) + %s·N(N−1)), R² %.3f", units.Rate(u.Gamma), coefficient(u.Alpha), coefficient(u.Beta), u.R2)
}

// coefficient formats a coefficient, as 0 if it is too small to matter at any level.
func coefficient(v float64) string {
	if v < 1e-9 {
		return "0"
	}
	return units.Rate(v)
}

// knee says where throughput peaks, if a fall beyond the peak was measured.
func knee(u results.USL) string {
	first, last := u.Residuals[0].N, u.Residuals[len(u.Residuals)-1].N
	switch {
	case u.Knee == nil && u.Doubt != "":
		return "not known"
	case u.Knee == nil:
		return fmt.Sprintf("no peak up to %s clients", units.Short(last))
	case u.KneeHigh == nil:
		return fmt.Sprintf("at %s clients, at least %s, and no fall beyond it is certain", units.Short(*u.Knee), units.Short(max(*u.KneeLow, first)))
	case *u.Knee < first && u.Doubt == "":
		return fmt.Sprintf("at %s clients or fewer: throughput falls from the first level on", units.Short(first))
	}
	end := "no end"
	if *u.KneeHigh <= last {
		end = units.Short(*u.KneeHigh)
	}
	return fmt.Sprintf("at %s clients [%s, %s]", units.Short(*u.Knee), units.Short(*u.KneeLow), end)
}

// residuals formats how far each level's median is from the law.
func residuals(u results.USL) string {
	parts := make([]string, len(u.Residuals))
	for i, r := range u.Residuals {
		parts[i] = fmt.Sprintf("%s %s %%", units.Short(r.N), signed("%+.1f", 100*(r.Measured/r.Fitted-1)))
	}
	return strings.Join(parts, " · ")
}

// span formats the interval of a median, each end as write formats the figure's values. It returns
// n/a if there are too few repetitions for 95 %, and "" for a single run.
func span(e results.Estimate, known bool, repetitions int, write func(float64) string) string {
	switch {
	case repetitions < 2:
		return ""
	case !known || e.Confidence < stats.Confidence:
		return units.Absent
	}
	return interval(write(e.Value), write(e.Low), write(e.High))
}

// interval formats both ends of an interval in brackets, or one if both read the same. It omits the
// unit if the value and both ends have the same unit.
func interval(value, low, high string) string {
	if i := strings.LastIndex(value, " "); i >= 0 && strings.HasSuffix(low, value[i:]) && strings.HasSuffix(high, value[i:]) {
		low, high = strings.TrimSuffix(low, value[i:]), strings.TrimSuffix(high, value[i:])
	}
	if low == high {
		return "[" + low + "]"
	}
	return "[" + low + ", " + high + "]"
}

// repeated describes the second line of each row; there is none if nothing was repeated.
func repeated(runs []results.Run) []string {
	most := mostRepetitions(runs)
	switch {
	case most < 2:
		return nil
	case stats.Median(make([]float64, most)).Confidence < stats.Confidence:
		return []string{fmt.Sprintf("medians of %d repetitions; their 95 %% intervals are n/a below 6: --repeat 6", most)}
	}
	return []string{fmt.Sprintf("medians of %d repetitions, and their 95 %% intervals by the sign test", most)}
}

func mostRepetitions(runs []results.Run) (most int) {
	for _, r := range runs {
		most = max(most, r.Repetition)
	}
	return most
}
