package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// finding says what the sweep shows; if there is a second axis, at its last level.
func (s Sweep) finding() (lines []string) {
	if void := violations(s.Runs); len(void) > 0 {
		return void
	}
	if len(s.Levels) == 0 {
		return []string{"Nothing was measured: no run was completed."}
	}
	if len(s.Capacities) > 0 {
		lines = append(lines, s.holds()...)
	}
	told := func(beside string) bool { return beside == s.beside(s.Levels[len(s.Levels)-1]) }
	for _, c := range s.Crossovers {
		if told(c.Beside) {
			lines = append(lines, s.crosses(c))
		}
	}
	for _, c := range s.Curves {
		if c.USL != nil && told(c.Beside) {
			lines = append(lines, s.peaks(c))
		}
	}
	for _, levels := range s.series() {
		if told(s.beside(levels[0])) && s.follows(levels) {
			lines = append(lines, s.follow(levels)...)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "No naive form of it was swept beside another, so there is nothing to compare.")
	}
	return lines
}

// who returns the name of a form in a sentence.
func (s Sweep) who(recipe, form, url, beside string) string {
	i := slices.IndexFunc(s.Runs, func(r Run) bool { return r.Recipe == recipe && r.Form == form && r.Backend.URL == url })
	name := called(s.Runs[i], s.Runs)
	if len(distinct(s.Runs, func(r Run) string { return r.Recipe })) > 1 {
		name = recipe + "/" + form
	}
	if len(distinct(s.Runs, func(r Run) string { return r.Backend.URL })) > 1 {
		name += " on " + url
	}
	if beside != "" {
		name += " (" + beside + ")"
	}
	return name
}

// of reports whether the crossover is of the curve's form and level of the second axis.
func (c Crossover) of(v Curve) bool {
	return c.Recipe == v.Recipe && c.Form == v.Form && c.URL == v.URL && c.Beside == v.Beside
}

// of reports whether the curve is of the level's form.
func (c Curve) of(l Level) bool {
	return c.Recipe == l.Recipe && c.Form == l.Form && c.URL == l.Backend.URL
}

// crosses says from which level on the naive form is worse.
func (s Sweep) crosses(c Crossover) string {
	if len(c.Ratios) == 0 {
		return "There is no level at which both forms did a round."
	}
	naive, calm := s.who(c.Recipe, c.Form, c.URL, c.Beside), s.who(c.Recipe, c.Than, c.URL, "")
	phase, percentile, timed := strings.Cut(c.Metric, ".")
	what := fmt.Sprintf("%s's %s %s is", naive, label(phase), percentile)
	if !timed {
		what = fmt.Sprintf("a round of %s takes", naive)
	}
	first, last := c.Ratios[0], c.Ratios[len(c.Ratios)-1]
	begin, factor, end := place(s.Axes[0], first.N), short(s.WorseBy), place(s.Axes[0], last.N)
	most := slices.MaxFunc(c.Ratios, func(a, b Ratio) int { return cmp.Compare(a.Times, b.Times) })
	switch {
	case c.Always:
		return fmt.Sprintf("From %s on, the first level, %s more than %s times %s's; at %s %s times.", begin, what, factor, calm, end, short(last.Times))
	case c.At != nil:
		return fmt.Sprintf("From %s on%s %s more than %s times %s's; at %s %s times.", place(s.Axes[0], s.reached(*c.At)), s.each(c), what, factor, calm, end, short(last.Times))
	case len(c.Ratios) == 1:
		return fmt.Sprintf("At %s, the one level of both, %s %s times %s's.", end, what, short(last.Times), calm)
	case most.Times < s.WorseBy:
		return fmt.Sprintf("From %s to %s %s never %s times %s's, but at most %s times.", begin, end, what, factor, calm, short(most.Times))
	}
	return fmt.Sprintf("At %s %s no longer %s times %s's, but %s times; at %s it was %s times.",
		end, what, factor, calm, short(last.Times), place(s.Axes[0], most.N), short(most.Times))
}

// reached returns the lowest value of the first axis, at or above the given value, that can be
// measured: clients, groups and bytes are integers, and each instance has the same number of clients.
func (s Sweep) reached(at float64) float64 {
	switch s.Axes[0] {
	case "clients":
		step := float64(s.instances())
		return step * math.Ceil(at/step)
	case "groups", "size":
		return math.Ceil(at)
	}
	return at
}

// instances returns the number of instances at each level of an axis of clients.
func (s Sweep) instances() int {
	if slices.Contains(s.Axes, "groups") {
		return 1
	}
	return max(1, s.Levels[0].Groups)
}

// each says how many clients each instance has at the crossover, "" if there is one instance.
func (s Sweep) each(c Crossover) string {
	groups := s.instances()
	if groups == 1 || s.Axes[0] != "clients" {
		return ""
	}
	return fmt.Sprintf(", %s for each of %s,", short(s.reached(*c.At)/float64(groups)), plural(groups, c.Recipe))
}

// peaks says where a form's throughput is greatest.
func (s Sweep) peaks(c Curve) string {
	knee := c.USL.knee()
	if strings.HasPrefix(knee, "at ") {
		knee = "throughput peaks " + knee
	}
	return fmt.Sprintf("%s: %s.", upper(s.who(c.Recipe, c.Form, c.URL, c.Beside)), knee)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
