package document

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

func ofCount(r results.CountReport) (d Document) {
	d.begin(r.Head)
	var names []string
	for _, s := range r.Settled {
		if name := s.Recipe + "/" + s.Form; !slices.Contains(names, name) {
			names = append(names, name)
		}
		d.service(s.Backend)
		d.checkCounts(s)
	}
	for _, c := range d.Checks {
		if c.Verdict != results.Inconclusive {
			d.Verdict = results.Worst(d.Verdict, c.Verdict)
		}
	}
	d.Heading = "stampede count · " + strings.Join(names, ", ") + " · settled"
	d.Findings = countFindings(r)
	several := slices.ContainsFunc(r.Settled, func(s results.Settled) bool { return s.Backend.URL != r.Settled[0].Backend.URL })
	for _, of := range levels.Grouped(r.Settled, func(a, b results.Settled) bool { return a.Recipe == b.Recipe }) {
		for _, rows := range levels.Grouped(of, func(a, b results.Settled) bool { return a.Backend.URL == b.Backend.URL && a.Clients == b.Clients }) {
			d.Tables = append(d.Tables, countTable(rows, several))
		}
	}
	d.Tables = append(d.Tables, shown(costGrowth(r.Settled))...)
	d.note(prefixed("skipped: ", r.Skipped)...)
	return d
}

// checkCounts adds the checks of a row: safety, and each count that there is something to compare with.
func (d *Document) checkCounts(s results.Settled) {
	of := checkOf("", s.Recipe, s.Form, s.Backend, s.Clients)
	d.Checks = append(d.Checks, of.safety(s.Safety, 0))
	for i, e := range s.Exacts() {
		if e.Expected != nil || e.Server != nil {
			of.Name = []string{"notifications", "reads", "writes", "failed writes", "largest fan-out"}[i]
			d.Checks = append(d.Checks, of.exact(e))
		}
	}
}

// letters lists the parameters of the formulas: " · U = 2 · q = 1".
func letters(rows []results.Settled) (text string) {
	all := map[string]int64{}
	for _, s := range rows {
		maps.Copy(all, s.Parameters)
	}
	for _, letter := range sortedKeys(all) {
		text += fmt.Sprintf(" · %s = %d", letter, all[letter])
	}
	return text
}

// countTable has a row for each form; several addresses make it name its own.
func countTable(rows []results.Settled, several bool) Table {
	t := Table{Title: fmt.Sprintf("%s · N = %d%s · %s · settled", rows[0].Recipe, rows[0].Clients, letters(rows), rows[0].Backend.Server),
		Columns: columns(3, "<form", "<notifications", "<reads", "<writes (failed)", "<largest fan-out", "<model", "<server")}
	if several {
		t.Title += " · " + rows[0].Backend.URL
	}
	model, server := &t.Columns[5], &t.Columns[6]
	for _, s := range rows {
		equality, equal := comparedWith(s, s.Notifications.Expected != nil, results.Exact.Equal, "equal", "DIFFERS")
		agreement, agreed := comparedWith(s, s.Notifications.Server != nil, results.Exact.Agreed, "agrees", "DISAGREES")
		t.Rows = append(t.Rows, []string{s.Form, exactText(s.Notifications, ""), exactText(s.Reads, ""), writes(s),
			exactText(s.LargestFanout, ""), equality, agreement})
		model.Verdicts, server.Verdicts = append(model.Verdicts, equal), append(server.Verdicts, agreed)
	}
	return t
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

// comparedWith returns one word for all counts and its verdict, n/a if there is nothing to compare them
// with, or VOID if the form violated safety.
func comparedWith(s results.Settled, known bool, good func(results.Exact) bool, all, notAll string) (word string, v results.Verdict) {
	switch {
	case s.Safety.Violations > 0:
		return "VOID", results.Fail
	case !known:
		return units.Absent, ""
	case slices.ContainsFunc(s.Exacts(), func(e results.Exact) bool { return !good(e) }):
		return notAll, results.Regression
	}
	return all, results.Pass
}

// countFindings says in one sentence how many clients a write wakes, and in another whether the counts match
// the model.
func countFindings(r results.CountReport) []string {
	differ := 0
	var unsafe []string
	for _, s := range r.Settled {
		if s.Differs() {
			differ++
		}
		if s.Safety.Violations > 0 {
			unsafe = append(unsafe, fmt.Sprintf("%s/%s with %s", s.Recipe, s.Form, units.Clients(s.Clients)))
		}
	}
	verdict := fmt.Sprintf("All %d counts match the model.", len(r.Settled))
	switch {
	case len(unsafe) > 0:
		verdict = fmt.Sprintf("SAFETY VIOLATED in %d of %d: %s: the counts are void.", len(unsafe), len(r.Settled), strings.Join(unsafe, ", "))
	case differ > 0:
		verdict = fmt.Sprintf("%d of %d counts do NOT match the model.", differ, len(r.Settled))
	case len(r.Settled) == 1:
		verdict = "The count matches the model."
	}
	if wakes := largestWakes(r.Settled); wakes != "" && len(unsafe) == 0 {
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
	t := Table{Title: "Per round", Leads: true, Columns: columns(0, "<form", "N", "notifications", "<growth", "reads and writes", "<growth")}
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
func byForm(all []results.Settled) [][]results.Settled {
	forms := levels.Grouped(all, func(a, b results.Settled) bool {
		return a.Recipe == b.Recipe && a.Form == b.Form && a.Backend.URL == b.Backend.URL
	})
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
