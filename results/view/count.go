package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// WriteTable writes the report for people: the finding, a table for each recipe, backend and number
// of clients, and the growth of the costs.
func (r countReport) WriteTable(w io.Writer, o Options) error {
	fmt.Fprintln(w)
	for _, line := range r.Findings() {
		o.Emphasize(w, line)
	}
	for _, group := range grouped(r.Settled) {
		fmt.Fprintf(w, "\n  %s · N = %d%s · %s · settled\n", group[0].Recipe, group[0].Clients, letters(group), group[0].Backend.Server)
		countGrid(group).coloured(o).write(w)
	}
	for _, t := range filled(costGrowth(r.Settled)) {
		fmt.Fprintln(w)
		t.Write(w, o)
	}
	fmt.Fprintln(w)
	writeLines(w, "skipped: ", r.Skipped)
	if o.Saved != "" {
		fmt.Fprintf(w, "  saved: %s\n", o.Saved)
	}
	writeCommand(w, r.Command)
	return nil
}

// letters lists the parameters of the formulas: " · U = 2 · q = 1".
func letters(rows []results.Settled) (text string) {
	all := map[string]int64{}
	for _, s := range rows {
		maps.Copy(all, s.Parameters)
	}
	for _, letter := range slices.Sorted(maps.Keys(all)) {
		text += fmt.Sprintf(" · %s = %d", letter, all[letter])
	}
	return text
}

// grouped groups the rows that share a table, in order of appearance, with all tables of a recipe
// together.
func grouped(all []results.Settled) (groups [][]results.Settled) {
	type key struct {
		recipe, url string
		clients     int
	}
	at := map[key]int{}
	for _, s := range all {
		k := key{s.Recipe, s.Backend.URL, s.Clients}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	first := func(g []results.Settled) int {
		return slices.IndexFunc(all, func(s results.Settled) bool { return s.Recipe == g[0].Recipe })
	}
	slices.SortStableFunc(groups, func(a, b []results.Settled) int { return cmp.Compare(first(a), first(b)) })
	return groups
}

func countGrid(rows []results.Settled) *grid {
	g := &grid{names: 1}
	for _, head := range []string{"form", "notifications", "reads", "writes (failed)", "largest fan-out", "model", "server"} {
		g.columns = append(g.columns, column{head: head, left: true, space: 3})
	}
	g.columns[0].space = 0
	model, server := &g.columns[5], &g.columns[6]
	for _, s := range rows {
		equality, equal := comparedWith(s, s.Notifications.Expected != nil, results.Exact.Equal, "equal", "DIFFERS")
		agreement, agreed := comparedWith(s, s.Notifications.Server != nil, results.Exact.Agreed, "agrees", "DISAGREES")
		g.rows = append(g.rows, []string{s.Form, exactText(s.Notifications, ""), exactText(s.Reads, ""), writes(s),
			exactText(s.LargestFanout, ""), equality, agreement})
		model.verdicts, server.verdicts = append(model.verdicts, equal), append(server.verdicts, agreed)
	}
	return g
}

// exactText formats a count: "28 = N(N−1)/2", or "29 ≠ 28 = N(N−1)/2" if it differs from the model,
// followed by the server's count if that differs.
func exactText(e results.Exact, failed string) string {
	t := fmt.Sprint(e.Counted) + failed
	switch {
	case e.Expected == nil:
	case !e.Equal():
		t += fmt.Sprintf(" ≠ %s = %s", expected(e), e.Formula)
	case e.Formula != fmt.Sprint(e.Counted):
		t += " = " + e.Formula
	}
	if !e.Agreed() {
		t += fmt.Sprintf(", server %d", *e.Server)
	}
	return t
}

// expected formats the expected count: "28", or "28 to 36" if only its bounds are determined.
func expected(e results.Exact) string {
	if e.Most == nil {
		return fmt.Sprint(*e.Expected)
	}
	return fmt.Sprintf("%d to %d", *e.Expected, *e.Most)
}

func writes(s results.Settled) string {
	failed := ""
	if s.FailedWrites.Counted > 0 || !s.FailedWrites.Equal() {
		failed = fmt.Sprintf(" (%d)", s.FailedWrites.Counted)
	}
	text := exactText(s.Writes, failed)
	if !s.FailedWrites.Equal() {
		text += fmt.Sprintf(", failed %s", exactText(s.FailedWrites, ""))
	}
	return text
}

// comparedWith returns one word for all counts and its verdict, or n/a if there is nothing to compare
// them with.
func comparedWith(s results.Settled, known bool, good func(results.Exact) bool, all, notAll string) (word string, v results.Verdict) {
	switch {
	case !known:
		return units.Absent, ""
	case slices.ContainsFunc(s.Exacts(), func(e results.Exact) bool { return !good(e) }):
		return notAll, results.Regression
	}
	return all, results.Pass
}

// Findings says in one sentence how many clients a write wakes, and in another whether the
// counts match the model.
func (r countReport) Findings() []string {
	differ, unsafe := 0, 0
	for _, s := range r.Settled {
		if s.Differs() {
			differ++
		}
		if s.Safety.Violations > 0 {
			unsafe++
		}
	}
	verdict := fmt.Sprintf("All %d counts match the model.", len(r.Settled))
	if len(r.Settled) == 1 {
		verdict = "The count matches the model."
	}
	if differ > 0 {
		verdict = fmt.Sprintf("%d of %d counts do NOT match the model.", differ, len(r.Settled))
	}
	if unsafe > 0 {
		verdict = fmt.Sprintf("SAFETY VIOLATED in %d of %d: the counts are void.", unsafe, len(r.Settled))
	}
	if wakes := largestWakes(r.Settled); wakes != "" && unsafe == 0 {
		return []string{wakes, verdict}
	}
	return []string{verdict}
}

// largestWakes compares the forms of one recipe at the largest number of clients.
func largestWakes(all []results.Settled) string {
	if len(all) == 0 || slices.ContainsFunc(all, func(s results.Settled) bool { return s.Recipe != all[0].Recipe }) {
		return ""
	}
	n := slices.MaxFunc(all, func(a, b results.Settled) int { return cmp.Compare(a.Clients, b.Clients) }).Clients
	var parts []string
	for _, s := range all {
		part := fmt.Sprintf("%s %d", s.Form, s.LargestFanout.Counted)
		if s.Clients == n && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return fmt.Sprintf("With %d clients one write wakes at most: %s.", n, strings.Join(parts, ", "))
}

// costGrowth returns the cost of a round at the largest number of clients, and how it grows.
func costGrowth(all []results.Settled) Table {
	t := Table{Title: "Growth of the cost per round", Columns: []Column{
		{Head: "per round", Left: true}, {Head: "N"}, {Head: "notifications"}, {Head: "growth", Left: true},
		{Head: "reads and writes"}, {Head: "growth", Left: true},
	}}
	vague := false
	for _, rows := range byForm(all) {
		g := levels.GrowthOf(rows)
		if g == nil {
			continue
		}
		most := rows[len(rows)-1]
		t.Rows = append(t.Rows, []string{
			fmt.Sprintf("%s/%s on %s", most.Recipe, most.Form, most.Backend.Name), fmt.Sprint(most.Clients),
			perRoundCost(most, levels.NotificationsOf), power(g.Notifications), perRoundCost(most, levels.OperationsOf), power(g.Operations),
		})
		_, exact := levels.NotificationsOf(most)
		vague = vague || !exact
	}
	if vague {
		t.Notes = []string{"≥ the least it can be: with several consumers it is not determined even at rest"}
	}
	return t
}

// perRoundCost formats a cost per round, with ≥ and the lower bound if the cost is not determined.
func perRoundCost(s results.Settled, cost func(results.Settled) (least int64, exact bool)) string {
	least, exact := cost(s)
	text := units.Rate(float64(least) / float64(max(s.Rounds, 1)))
	if !exact {
		text = "≥ " + text
	}
	return text
}

// byForm groups the levels of each form and backend, sorted by the number of clients and without
// duplicates.
func byForm(all []results.Settled) (forms [][]results.Settled) {
	type key struct{ recipe, form, url string }
	at := map[key]int{}
	for _, s := range all {
		k := key{s.Recipe, s.Form, s.Backend.URL}
		i, ok := at[k]
		if !ok {
			i = len(forms)
			at[k] = i
			forms = append(forms, nil)
		}
		forms[i] = append(forms[i], s)
	}
	for i, rows := range forms {
		slices.SortStableFunc(rows, func(a, b results.Settled) int { return cmp.Compare(a.Clients, b.Clients) })
		forms[i] = slices.CompactFunc(rows, func(a, b results.Settled) bool { return a.Clients == b.Clients })
	}
	return forms
}

func power(exponent *float64) string {
	switch {
	case exponent == nil:
		return "none"
	case *exponent > -0.05 && *exponent < 0.05:
		return "flat"
	}
	return fmt.Sprintf("as N^%.1f", *exponent)
}
