package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

func ofHistory(h results.History) (d Document) {
	d.begin(h.Head)
	d.Started = h.Made
	d.Heading, d.Findings, d.Verdict = historyHeading(h), historyFindings(h), h.Verdict
	for _, t := range h.Figures {
		of := trendSubject(t, h)
		c := Check{Suite: of, Recipe: "stampede", Form: "history", Subject: of, About: of, Group: figures, Name: t.Figure,
			Verdict: cmp.Or(t.Verdict(), results.Pass)}
		if c.Verdict == results.Invalid {
			c.Why = leftOut(t)
		} else if newest := t.Newest(); newest != nil && newest.Verdict != "" {
			c.Why = DescribeChange(t, *newest)
		} else if t.Needed > 0 {
			c.Why = tooFew(t.Needed)
		}
		d.Checks = append(d.Checks, c)
	}
	for _, group := range levels.Grouped(h.Figures, sameSubject) {
		title := group[0].Of + " · " + group[0].Machine
		d.Tables = append(d.Tables, trendTable(title, group))
		d.Tables = append(d.Tables, shown(changeTable("changes of "+title, group))...)
	}
	return d
}

func sameSubject(a, b results.Trend) bool { return a.Of == b.Of && a.Machine == b.Machine }

// trendSubject names what the figure is of, with the machine if the history has others.
func trendSubject(t results.Trend, h results.History) string {
	if slices.ContainsFunc(h.Figures, func(o results.Trend) bool {
		return o.Figure == t.Figure && o.Of == t.Of && o.Machine != t.Machine
	}) {
		return t.Of + " · " + t.Machine
	}
	return t.Of
}

// historyHeading says how many results there are, and of which days.
func historyHeading(h results.History) string {
	text := "stampede history · " + units.Plural(h.Results, "result")
	var points []results.TrendPoint
	for _, t := range h.Figures {
		points = append(points, t.Points...)
	}
	if len(points) == 0 {
		return text
	}
	slices.SortFunc(points, func(a, b results.TrendPoint) int { return a.Started.Compare(b.Started) })
	return fmt.Sprintf("%s · %s to %s", text, points[0].Started.Format(time.DateOnly), points[len(points)-1].Started.Format(time.DateOnly))
}

// historyFindings decide by the newest change of each figure.
func historyFindings(h results.History) (findings []string) {
	figures := map[results.Verdict]int{}
	var worse []string
	for _, t := range h.Figures {
		if figures[t.Verdict()]++; t.Verdict() == results.Regression {
			c := t.Newest()
			worse = append(worse, fmt.Sprintf("%s of %s: %s since %s.", t.Figure, trendSubject(t, h), SizeOf(*c),
				t.Points[c.At].Started.Format(time.DateOnly)))
		}
	}
	judged := len(h.Figures) - figures[results.Invalid] - figures[results.Inconclusive]
	of := units.Plural(judged, "figure")
	if judged < len(h.Figures) {
		of = units.Plural(judged, "judged figure")
	}
	if len(h.Figures) == 0 {
		findings = []string{"No result in this history has a figure to follow."}
	} else if judged > 0 {
		findings = []string{fmt.Sprintf("None of %s changed.", of)}
	}
	how := map[results.Verdict]string{results.Regression: "for the worse", results.Improvement: "for the better", results.Pass: "accepted"}
	for _, v := range []results.Verdict{results.Pass, results.Improvement, results.Regression} {
		if n := figures[v]; n > 0 {
			findings = append([]string{fmt.Sprintf("The newest change is %s in %d of %s.", how[v], n, of)}, worse...)
		}
	}
	unjudged := map[string]int{}
	for _, t := range h.Figures {
		unjudged[t.Unjudged()]++
	}
	for _, why := range []string{results.NewestLeftOut, results.AllLeftOut, results.TooFewResults} {
		if n := unjudged[why]; n > 0 {
			findings = append(findings, fmt.Sprintf("%s cannot be judged: %s.", units.Plural(n, "figure"), why))
		}
	}
	for _, of := range levels.Grouped(h.Figures, sameSubject) {
		if n := slices.MaxFunc(of, func(a, b results.Trend) int { return a.Unsafe - b.Unsafe }).Unsafe; n > 0 {
			findings = append(findings, fmt.Sprintf("%s: safety violation in %s, left out.",
				trendSubject(of[0], h), units.Plural(n, "result")))
		}
	}
	return findings
}

// leftOut says how many results of the figure are left out, and why; "" if there are none.
func leftOut(t results.Trend) string {
	var parts []string
	for _, left := range []struct {
		n    int
		what string
	}{{t.Doubtful, "doubtful"}, {t.Unsafe, "unsafe"}, {t.Interrupted, "interrupted"}} {
		if left.n > 0 {
			parts = append(parts, units.Plural(left.n, left.what+" result"))
		}
	}
	if t.Unknown > 0 {
		parts = append(parts, units.Plural(t.Unknown, "result")+" without a value")
	}
	if len(parts) == 0 {
		return ""
	}
	if t.NewestLeftOut > 0 && len(t.Points) > 0 {
		parts = append(parts, fmt.Sprintf("the newest %d among them", t.NewestLeftOut))
	}
	return "left out " + strings.Join(parts, ", ")
}

// tooFew says that there are fewer results than a change needs.
func tooFew(needed int) string {
	return fmt.Sprintf(results.TooFewResults+": a change needs at least %d before it and %d after it", needed/2, needed/2)
}

// SizeOf returns the size of a change as a signed percentage: "−9.8 %". It is "new" if the value was 0
// before, and "infinite" if it is so after.
func SizeOf(c results.TrendChange) string {
	if c.AfterInfinite {
		return units.Infinite
	}
	if c.Size == nil {
		return "new"
	}
	return signed("%+.1f %%", 100**c.Size)
}

// DescribeChange describes a change: "regression: step of −9.8 %, 870 /s → 785 /s, since 2026-11-12
// 10:00, result 20261112-…".
func DescribeChange(t results.Trend, c results.TrendChange) string {
	from, what := t.Points[c.At], c.Kind()
	if c.Size != nil {
		what += " of " + SizeOf(c)
	}
	before, after := units.Apart(t.Levels(c))
	text := fmt.Sprintf("%s: %s, %s → %s, since %s, result %s", c.Word(), what, before, after, from.Started.Format("2006-01-02 15:04"), from.Result)
	text += strings.Join(append([]string{""}, from.Words()...), " · ")
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// trendTable has a row for each figure, with its last values as a line of blocks.
func trendTable(title string, all []results.Trend) Table {
	t := Table{Title: title, Columns: columns(0, "<figure", "results", "last", "<values", "<newest change"), Notes: notesOn(all)}
	newest := &t.Columns[4]
	for _, trend := range all {
		newest.Verdicts = append(newest.Verdicts, trend.Verdict())
		n := len(trend.Points)
		if n == 0 {
			t.Rows = append(t.Rows, []string{trend.Figure, "0", units.Absent, "", "all are left out"})
			continue
		}
		text := cmp.Or(trend.Unjudged(), "none")
		if c := trend.Newest(); c != nil && text != results.NewestLeftOut {
			text = c.Word() + " " + SizeOf(*c)
		}
		t.Rows = append(t.Rows, []string{trend.Figure, units.Count(int64(n)), units.Value(trend.Points[n-1].Number(), trend.Unit), blocks(trend.Points), text})
	}
	return t
}

// changeTable has a row for each change, the oldest of each figure first.
func changeTable(title string, all []results.Trend) Table {
	t := Table{Title: title, Columns: columns(0, "<change", "<figure", "size", "<kind", "before", "after", "<since result")}
	t.Columns[1].Key = true
	for _, trend := range all {
		for _, c := range trend.Changes {
			from := trend.Points[c.At]
			before, after := units.Apart(trend.Levels(c))
			t.Rows = append(t.Rows, []string{c.Word(), trend.Figure, SizeOf(c), c.Kind(), before, after, strings.Join(append([]string{from.Result}, from.Words()...), " · ")})
			t.Columns[0].Verdicts = append(t.Columns[0].Verdicts, c.Verdict)
		}
	}
	return t
}

// notesOn says why changes were accepted, and where results are too few.
func notesOn(all []results.Trend) (notes []string) {
	needed := 0
	for _, t := range all {
		needed = max(needed, t.Needed)
		if left := leftOut(t); left != "" {
			notes = append(notes, t.Figure+": "+left)
		}
		for _, c := range t.Changes {
			if c.Reason != "" {
				notes = append(notes, fmt.Sprintf("accepted, %s from %s on: %s", t.Figure, t.Points[c.At].Result, c.Reason))
			}
		}
	}
	if needed > 0 {
		notes = append(notes, tooFew(needed))
	}
	return notes
}

// lastShown is how many of the last values blocks shows.
const lastShown = 40

// blocks returns the last values as blocks, the least as the lowest.
func blocks(points []results.TrendPoint) string {
	heights := []rune("▁▂▃▄▅▆▇█")
	points = points[max(0, len(points)-lastShown):]
	var b strings.Builder
	values := results.Drawn(points)
	low, high := slices.Min(values), slices.Max(values)
	for _, v := range values {
		place := 0.0
		if high > low {
			place = v/2/(high/2-low/2) - low/2/(high/2-low/2) // the range may exceed the greatest number
		}
		b.WriteRune(heights[int(math.Round(float64(len(heights)-1)*min(max(place, 0), 1)))])
	}
	return b.String()
}
