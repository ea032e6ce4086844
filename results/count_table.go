package results

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the report for people: the finding, a table for each recipe, backend and number
// of clients, and the growth of the costs.
func (r CountReport) WriteTable(w io.Writer, o TableOptions) error {
	fmt.Fprintln(w)
	for _, line := range countFinding(r) {
		o.emphasize(w, line)
	}
	for _, group := range grouped(r.Settled) {
		fmt.Fprintf(w, "\n  %s · N = %d%s · %s · settled\n", group[0].Recipe, group[0].Clients, letters(group), group[0].Backend.Server)
		if err := countRows(w, group); err != nil {
			return err
		}
	}
	if err := growthRows(w, r.Settled); err != nil {
		return err
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "\n  skipped: %s\n", s)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// letters lists the parameters of the formulas: " · U = 2 · q = 1".
func letters(rows []Settled) (text string) {
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
func grouped(all []Settled) (groups [][]Settled) {
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
	first := func(g []Settled) int {
		return slices.IndexFunc(all, func(s Settled) bool { return s.Recipe == g[0].Recipe })
	}
	slices.SortStableFunc(groups, func(a, b []Settled) int { return cmp.Compare(first(a), first(b)) })
	return groups
}

func countRows(w io.Writer, rows []Settled) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "  form\tnotifications\treads\twrites (failed)\tlargest fan-out\tmodel\tserver")
	for _, s := range rows {
		fmt.Fprintf(t, "  %s\n", strings.Join(s.cells(), "\t"))
	}
	return t.Flush()
}

// cells returns the cells of the row, in the order of the headings.
func (s Settled) cells() []string {
	return []string{s.Form, s.Notifications.text(""), s.Reads.text(""), s.writes(), s.LargestFanout.text(""), s.equality(), s.agreement()}
}

// text formats a count: "28 = N(N−1)/2", or "29 ≠ 28 = N(N−1)/2" if it differs from the model,
// followed by the server's count if that differs.
func (e Exact) text(failed string) string {
	t := fmt.Sprint(e.Counted) + failed
	switch {
	case e.Expected == nil:
	case !e.Equal():
		t += fmt.Sprintf(" ≠ %s = %s", e.expected(), e.Formula)
	case e.Formula != fmt.Sprint(e.Counted):
		t += " = " + e.Formula
	}
	if !e.Agreed() {
		t += fmt.Sprintf(", server %d", *e.Server)
	}
	return t
}

// expected formats the expected count: "28", or "28 to 36" if only its bounds are determined.
func (e Exact) expected() string {
	if e.Most == nil {
		return fmt.Sprint(*e.Expected)
	}
	return fmt.Sprintf("%d to %d", *e.Expected, *e.Most)
}

func (s Settled) writes() string {
	failed := ""
	if s.FailedWrites.Counted > 0 || !s.FailedWrites.Equal() {
		failed = fmt.Sprintf(" (%d)", s.FailedWrites.Counted)
	}
	text := s.Writes.text(failed)
	if !s.FailedWrites.Equal() {
		text += fmt.Sprintf(", failed %s", s.FailedWrites.text(""))
	}
	return text
}

func (s Settled) equality() string {
	return s.say(s.Notifications.Expected != nil, Exact.Equal, "equal", "DIFFERS")
}

func (s Settled) agreement() string {
	return s.say(s.Notifications.Server != nil, Exact.Agreed, "agrees", "DISAGREES")
}

// say returns one word for all counts, or n/a if there is nothing to compare them with.
func (s Settled) say(known bool, good func(Exact) bool, all, notAll string) string {
	switch {
	case !known:
		return absent
	case slices.ContainsFunc(s.exacts(), func(e Exact) bool { return !good(e) }):
		return notAll
	}
	return all
}

// countFinding says in one sentence how many clients a write wakes, and in another whether the
// counts match the model.
func countFinding(r CountReport) []string {
	differ, unsafe := 0, 0
	for _, s := range r.Settled {
		if s.Differs() {
			differ++
		}
		if s.Safety.Violations > 0 {
			unsafe++
		}
	}
	verdict := fmt.Sprintf("All %d counts are what the model says.", len(r.Settled))
	if len(r.Settled) == 1 {
		verdict = "The count is what the model says."
	}
	if differ > 0 {
		verdict = fmt.Sprintf("%d of %d counts are NOT what the model says.", differ, len(r.Settled))
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
func largestWakes(all []Settled) string {
	if len(all) == 0 || slices.ContainsFunc(all, func(s Settled) bool { return s.Recipe != all[0].Recipe }) {
		return ""
	}
	n := slices.MaxFunc(all, func(a, b Settled) int { return cmp.Compare(a.Clients, b.Clients) }).Clients
	var parts []string
	for _, s := range all {
		part := fmt.Sprintf("%s %d", s.Form, s.LargestFanout.Counted)
		if s.Clients == n && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return fmt.Sprintf("With %d clients one write wakes at most: %s.", n, strings.Join(parts, ", "))
}

// growthRows writes the cost of a round at the largest number of clients, and how it grows.
func growthRows(w io.Writer, all []Settled) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	vague := false
	header := "\n  per round\tN\tnotifications\tgrowth\treads and writes\tgrowth\n"
	for _, levels := range byForm(all) {
		g := GrowthOf(levels)
		if g == nil {
			continue
		}
		most := levels[len(levels)-1]
		fmt.Fprintf(t, "%s  %s/%s on %s\t%d\t%s\t%s\t%s\t%s\n", header, most.Recipe, most.Form, most.Backend.Name, most.Clients,
			most.perRound(notifications), power(g.Notifications), most.perRound(operations), power(g.Operations))
		header = ""
		_, exact := notifications(most)
		vague = vague || !exact
	}
	if err := t.Flush(); err != nil || !vague {
		return err
	}
	_, err := fmt.Fprintln(w, "  ≥ the least it can be: with several consumers it is not determined even at rest")
	return err
}

// perRound formats a cost per round, with ≥ and the lower bound if the cost is not determined.
func (s Settled) perRound(cost func(Settled) (least int64, exact bool)) string {
	least, exact := cost(s)
	text := Rate(float64(least) / float64(max(s.Rounds, 1)))
	if !exact {
		text = "≥ " + text
	}
	return text
}

// byForm groups the levels of each form and backend, sorted by the number of clients and without
// duplicates.
func byForm(all []Settled) (forms [][]Settled) {
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
	for i, levels := range forms {
		slices.SortStableFunc(levels, func(a, b Settled) int { return cmp.Compare(a.Clients, b.Clients) })
		forms[i] = slices.CompactFunc(levels, func(a, b Settled) bool { return a.Clients == b.Clients })
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
