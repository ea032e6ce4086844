package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// holds says what capacity each form has: all decided answers in one sentence, the first in full and
// the others in short, and each undecided answer in a sentence of its own.
func (s Sweep) holds() (lines []string) {
	all := slices.SortedStableFunc(slices.Values(s.Capacities), func(a, b Capacity) int { return cmp.Compare(s.rank(a), s.rank(b)) })
	var decided, undecided []string
	for _, c := range all {
		who := s.who(c.Recipe, c.Form, c.URL, "")
		switch {
		case c.Undecided:
			undecided = append(undecided, s.undecided(who, c))
		case len(decided) > 0:
			decided = append(decided, who+" "+s.held(c))
		default:
			decided = append(decided, fmt.Sprintf("%s holds %s at %s%s", upper(who), s.held(c), s.Objective, c.with()))
		}
	}
	if len(decided) > 0 {
		lines = append(lines, strings.Join(decided, "; ")+".")
	}
	return append(lines, undecided...)
}

func (s Sweep) rank(c Capacity) int {
	return slices.Index([]string{"recipe", "library", "naive"}, c.Family)
}

func (s Sweep) held(c Capacity) string {
	switch {
	case c.Level == 0:
		return fmt.Sprintf("not even %s", place(s.Axes[0], c.Next))
	case c.Next == 0:
		return fmt.Sprintf("%s, the most that was tried", place(s.Axes[0], c.Level))
	}
	return place(s.Axes[0], c.Level)
}

// undecided says how far an undecided answer is known.
func (s Sweep) undecided(who string, c Capacity) string {
	known := "undecided whether " + who + " holds"
	if c.Level > 0 {
		known = fmt.Sprintf("%s holds at least %s at %s%s; undecided whether it holds", who, place(s.Axes[0], c.Level), s.Objective, c.with())
	} else {
		known += " even"
	}
	return fmt.Sprintf("%s %s: %s.", upper(known), place(s.Axes[0], c.Next), c.Why)
}

// with describes the fixed settings: " with 64 clients over 16 groups".
func (c Capacity) with() string {
	text := ""
	if c.Clients > 0 {
		text = " with " + Clients(c.Clients)
	}
	if c.Groups > 1 {
		text += fmt.Sprintf(" over %s", plural(c.Groups, c.Recipe))
	}
	return text
}

// capacities writes, for each form, the two levels that its capacity lies between, and the
// confidence.
func (s Sweep) capacities(w io.Writer) {
	if len(s.Capacities) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range s.Capacities {
		var parts []string
		if c.Level > 0 {
			parts = append(parts, s.met(c.Level, c.Held)+c.next())
		}
		if c.Next > 0 {
			text := s.met(c.Next, c.After)
			if c.Why != "" {
				text += ": " + c.Why
			}
			parts = append(parts, text)
		}
		fmt.Fprintf(t, "  %s\t%s\n", s.form(c.Recipe, c.Form, c.URL, ""), strings.Join(parts, "; "))
	}
	t.Flush() // writes into memory
}

// met says how many runs of a level met the objective.
func (s Sweep) met(level float64, t Trials) string {
	if t.Of == 0 {
		return place(s.Axes[0], level) + " is undecided"
	}
	return fmt.Sprintf("%s met it in %d of %d", place(s.Axes[0], level), t.Met, t.Of)
}

// next says how likely the next run meets the objective, "" for older files.
func (c Capacity) next() string {
	switch {
	case c.Confidence == 0:
		return ""
	case c.Confidence > 0.999:
		return ", and the next run does with more than 99.9 % confidence"
	}
	return fmt.Sprintf(", and the next run does with %.3g %% confidence", 100*c.Confidence)
}
