package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// holds says what capacity each form has: all decided answers in one sentence, the first in full and
// the others in short, and each undecided answer in a sentence of its own.
func (s sweep) holds() (lines []string) {
	all := slices.SortedStableFunc(slices.Values(s.Capacities), func(a, b results.Capacity) int { return cmp.Compare(s.rank(a), s.rank(b)) })
	var decided, undecided []string
	for _, c := range all {
		who := s.who(c.Recipe, c.Form, c.URL, "")
		switch {
		case c.Undecided:
			undecided = append(undecided, s.undecided(who, c))
		case len(decided) > 0:
			decided = append(decided, who+" "+s.held(c))
		default:
			decided = append(decided, fmt.Sprintf("%s holds %s at %s%s", upper(who), s.held(c), s.Objective, withClients(c)))
		}
	}
	if len(decided) > 0 {
		lines = append(lines, strings.Join(decided, "; ")+".")
	}
	return append(lines, undecided...)
}

func (s sweep) rank(c results.Capacity) int {
	return slices.Index([]string{"recipe", "library", "naive"}, c.Family)
}

func (s sweep) held(c results.Capacity) string {
	switch {
	case c.Level == 0:
		return fmt.Sprintf("not even %s", levels.Place(s.Axes[0], c.Next))
	case c.Next == 0:
		return fmt.Sprintf("%s, the most that was tried", levels.Place(s.Axes[0], c.Level))
	}
	return levels.Place(s.Axes[0], c.Level)
}

// undecided says how far an undecided answer is known.
func (s sweep) undecided(who string, c results.Capacity) string {
	known := "undecided whether " + who + " holds"
	if c.Level > 0 {
		known = fmt.Sprintf("%s holds at least %s at %s%s; undecided whether it holds", who, levels.Place(s.Axes[0], c.Level), s.Objective, withClients(c))
	} else {
		known += " even"
	}
	return fmt.Sprintf("%s %s: %s.", upper(known), levels.Place(s.Axes[0], c.Next), c.Why)
}

// withClients describes the fixed settings: " with 64 clients over 16 groups".
func withClients(c results.Capacity) string {
	text := ""
	if c.Clients > 0 {
		text = " with " + units.Clients(c.Clients)
	}
	if c.Groups > 1 {
		text += fmt.Sprintf(" over %s", units.Plural(c.Groups, c.Recipe))
	}
	return text
}

// capacities says, for each form, between which two levels its capacity lies, and with what
// confidence.
func (s sweep) capacities() Table {
	t := Table{Title: "capacity", Columns: columns(0, "<capacity", "<"+s.Objective)}
	t.Columns[1].Prose = true
	for _, c := range s.Capacities {
		var parts []string
		if c.Level > 0 {
			parts = append(parts, s.met(c.Level, c.Held)+nextMeets(c))
		}
		if c.Next > 0 {
			text := s.met(c.Next, c.After)
			if c.Why != "" {
				text += ": " + c.Why
			}
			parts = append(parts, text)
		}
		t.Rows = append(t.Rows, []string{levels.FormName(s.Sweep, c.Recipe, c.Form, c.URL, ""), strings.Join(parts, "; ")})
	}
	return t
}

// met says how many runs of a level met the objective.
func (s sweep) met(level float64, t results.Trials) string {
	if t.Of == 0 {
		return levels.Place(s.Axes[0], level) + " is undecided"
	}
	return fmt.Sprintf("%s met it in %d of %d", levels.Place(s.Axes[0], level), t.Met, t.Of)
}

// nextMeets says how likely the next run meets the objective.
func nextMeets(c results.Capacity) string {
	if c.Confidence > 0.999 {
		return ", and the next run does with more than 99.9 % confidence"
	}
	return fmt.Sprintf(", and the next run does with %.3g %% confidence", 100*c.Confidence)
}
