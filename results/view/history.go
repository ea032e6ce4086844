package view

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// Heading says how many results there are, and of which days.
func (h history) Heading() string {
	parts := []string{"stampede history", units.Plural(h.Results, "result")}
	var first, last time.Time
	for _, t := range h.Figures {
		if from := t.Points[0].Started; first.IsZero() || from.Before(first) {
			first = from
		}
		if to := t.Points[len(t.Points)-1].Started; to.After(last) {
			last = to
		}
	}
	if len(h.Figures) > 0 {
		parts = append(parts, first.Format(time.DateOnly)+" to "+last.Format(time.DateOnly))
	}
	return strings.Join(parts, " · ")
}

// Findings decide by the newest change of each figure.
func (h history) Findings() []string {
	var worse []string
	better, accepted := 0, 0
	for _, t := range h.Figures {
		c := t.Newest()
		switch {
		case c == nil:
		case c.Verdict == results.Regression:
			worse = append(worse, fmt.Sprintf("%s of %s: %s since %s.", t.Figure, t.Of, SizeOf(*c), t.Points[c.At].Started.Format(time.DateOnly)))
		case c.Verdict == results.Improvement:
			better++
		case c.Verdict == results.Pass:
			accepted++
		}
	}
	of := units.Plural(len(h.Figures), "figure")
	switch {
	case len(worse) > 0:
		return append([]string{fmt.Sprintf("The newest change is for the worse in %d of %s.", len(worse), of)}, worse...)
	case better > 0:
		return []string{fmt.Sprintf("The newest change is for the better in %d of %s.", better, of)}
	case accepted > 0:
		return []string{fmt.Sprintf("The newest change is accepted in %d of %s.", accepted, of)}
	case len(h.Figures) > 0:
		return []string{fmt.Sprintf("None of %s changed.", of)}
	}
	return []string{"No result in this history has a figure to follow."}
}

// ChangeWord returns the verdict on a change in a word: regression, improvement, accepted, or change.
func ChangeWord(c results.TrendChange) string {
	switch c.Verdict {
	case results.Pass:
		return "accepted"
	case "":
		return "change"
	}
	return string(c.Verdict)
}

// SizeOf returns the size of a change as a signed percentage: "−9.8 %". It is "new" if the value was 0
// before.
func SizeOf(c results.TrendChange) string {
	if c.Size == nil {
		return "new"
	}
	return strings.ReplaceAll(fmt.Sprintf("%+.1f %%", 100**c.Size), "-", "−")
}

// kindOf returns whether a change was a step or a drift.
func kindOf(c results.TrendChange) string {
	if c.Drift {
		return "drift"
	}
	return "step"
}

// DescribeChange describes a change: "regression: step of −9.8 %, 870 /s → 785 /s, since 2026-11-12 10:00, result 20261112-…".
func DescribeChange(t results.Trend, c results.TrendChange) string {
	from, what := t.Points[c.At], kindOf(c)
	if c.Size != nil {
		what += " of " + SizeOf(c)
	}
	text := fmt.Sprintf("%s: %s, %s → %s, since %s, result %s", ChangeWord(c), what,
		units.Value(c.Before, t.Unit), units.Value(c.After, t.Unit), from.Started.Format("2006-01-02 15:04"), from.Result)
	for _, mark := range from.Words() {
		text += " · " + mark
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// subjects groups the figures by kind of run and machine, in order of appearance.
func (h history) subjects() (groups [][]results.Trend) {
	for _, t := range h.Figures {
		i := slices.IndexFunc(groups, func(g []results.Trend) bool { return g[0].Of == t.Of && g[0].Machine == t.Machine })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// figuresOf returns a row for each figure, with its last values as a line of blocks.
func figuresOf(all []results.Trend) *grid {
	g := &grid{names: 1, columns: []column{{head: "figure", left: true}, {head: "results", space: 2}, {head: "last", space: 2},
		{head: "values", left: true, space: 2}, {head: "newest change", left: true, space: 2}}}
	newest := &g.columns[4]
	for _, t := range all {
		text, verdict := "none", results.Verdict("")
		if c := t.Newest(); c != nil {
			text, verdict = ChangeWord(*c)+" "+SizeOf(*c), c.Verdict
		} else if t.Needed > 0 {
			text = "too few results"
		}
		last := t.Points[len(t.Points)-1].Value
		g.rows = append(g.rows, []string{t.Figure, units.Count(int64(len(t.Points))), units.Value(last, t.Unit), blocks(t.Points), text})
		newest.verdicts = append(newest.verdicts, verdict)
	}
	return g
}

// changesOf returns a row for each change, the oldest of each figure first.
func changesOf(all []results.Trend) *grid {
	g := &grid{names: 2, columns: []column{{head: "change", left: true}, {head: "figure", left: true, space: 2}, {head: "size", space: 2},
		{head: "kind", left: true, space: 2}, {head: "before", space: 2}, {head: "after", space: 2},
		{head: "since result", left: true, space: 2}}}
	for _, t := range all {
		for _, c := range t.Changes {
			from := t.Points[c.At]
			g.rows = append(g.rows, []string{ChangeWord(c), t.Figure, SizeOf(c), kindOf(c),
				units.Value(c.Before, t.Unit), units.Value(c.After, t.Unit), strings.Join(append([]string{from.Result}, from.Words()...), " · ")})
			g.columns[0].verdicts = append(g.columns[0].verdicts, c.Verdict)
		}
	}
	return g
}

// notesOn says why changes were accepted, and where results are too few.
func notesOn(all []results.Trend) (notes []string) {
	needed := 0
	for _, t := range all {
		needed = max(needed, t.Needed)
		for _, c := range t.Changes {
			if c.Reason != "" {
				notes = append(notes, fmt.Sprintf("accepted, %s from %s on: %s", t.Figure, t.Points[c.At].Result, c.Reason))
			}
		}
	}
	if needed > 0 {
		notes = append(notes, fmt.Sprintf("too few results: a change needs at least %d before it and %d after it", needed/2, needed/2))
	}
	return notes
}

// lastShown is how many of the last values blocks shows.
const lastShown = 40

// blocks returns the last values as blocks, the least as the lowest.
func blocks(points []results.TrendPoint) string {
	heights := []rune("▁▂▃▄▅▆▇█")
	points = points[max(0, len(points)-lastShown):]
	low, high := points[0].Value, points[0].Value
	for _, p := range points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	var b strings.Builder
	for _, p := range points {
		place := 0.0
		if high > low {
			place = (p.Value - low) / (high - low)
		}
		b.WriteRune(heights[int(math.Round(float64(len(heights)-1)*place))])
	}
	return b.String()
}

// Tables returns the figures of each kind of run, and their changes.
func (h history) Tables() (all []Table) {
	for _, group := range h.subjects() {
		title := group[0].Of + " · " + group[0].Machine
		all = append(all, tabled(title, figuresOf(group), notesOn(group), nil))
		all = append(all, filled(tabled("Changes of "+group[0].Of, changesOf(group), nil, nil))...)
	}
	return all
}

// Page returns the history's text for people.
func (h history) Page() Page {
	return Page{Heading: h.Heading(), Finding: h.Findings(), Tables: h.Tables()}
}

// WriteTable writes the history for a terminal.
func (h history) WriteTable(w io.Writer, o Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", h.Heading())
	for i, line := range h.Findings() {
		if i == 0 {
			o.Emphasize(&b, line)
			continue
		}
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, group := range h.subjects() {
		fmt.Fprintf(&b, "\n  %s · %s\n", group[0].Of, group[0].Machine)
		figuresOf(group).coloured(o).write(&b)
		if changes := changesOf(group); len(changes.rows) > 0 {
			fmt.Fprintln(&b)
			changes.coloured(o).write(&b)
		}
		writeLines(&b, "", notesOn(group))
	}
	if o.Saved != "" {
		fmt.Fprintf(&b, "\n  saved: %s\n", o.Saved)
	}
	_, err := w.Write(b.Bytes())
	return err
}
