package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/contrast"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// findings says what the sweep shows; if there is a second axis, at its last level.
func (s sweep) findings() (lines []string) {
	if void := violations(s.Runs); len(void) > 0 {
		return void
	}
	if len(s.Levels) == 0 {
		return []string{"Nothing was measured: no run was completed."}
	}
	if len(s.Capacities) > 0 {
		lines = append(lines, s.holds()...)
	}
	told := func(beside string) bool { return beside == levels.OtherAxes(s.Sweep, s.Levels[len(s.Levels)-1]) }
	for _, c := range s.Crossovers {
		if told(c.Beside) {
			lines = append(lines, s.crosses(c))
		}
	}
	for _, c := range s.Curves {
		if c.USL != nil && told(c.Beside) {
			lines = append(lines, s.greatest(c))
		}
	}
	for _, rows := range levels.Split(s.Sweep) {
		if told(levels.OtherAxes(s.Sweep, rows[0])) && s.follows(rows) {
			lines = append(lines, s.follow(rows)...)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "No naive form of it was swept beside another, so there is nothing to compare.")
	}
	return lines
}

// who returns the name of a form in a sentence.
func (s sweep) who(recipe, form, url, beside string) string {
	i := slices.IndexFunc(s.Runs, func(r results.Run) bool { return r.Recipe == recipe && r.Form == form && r.Backend.URL == url })
	name := contrast.Called(s.Runs[i], s.Runs)
	if len(levels.Distinct(s.Runs, func(r results.Run) string { return r.Recipe })) > 1 {
		name = recipe + "/" + form
	}
	if len(levels.Distinct(s.Runs, func(r results.Run) string { return r.Backend.URL })) > 1 {
		name += " on " + url
	}
	if beside != "" {
		name += " (" + beside + ")"
	}
	return name
}

// crossoverOf reports whether the crossover is of the curve's form and level of the second axis.
func crossoverOf(c results.Crossover, v results.Curve) bool {
	return c.Recipe == v.Recipe && c.Form == v.Form && c.URL == v.URL && c.Beside == v.Beside
}

// crosses says from which level on the naive form is worse.
func (s sweep) crosses(c results.Crossover) string {
	if len(c.Ratios) == 0 {
		return "There is no level at which both forms did a round."
	}
	naive, calm := s.who(c.Recipe, c.Form, c.URL, c.Beside), s.who(c.Recipe, c.Than, c.URL, "")
	phase, percentile, timed := strings.Cut(c.Metric, ".")
	what := fmt.Sprintf("%s's %s %s is", naive, levels.PhaseName(phase), percentile)
	if !timed {
		what = fmt.Sprintf("a round of %s takes", naive)
	}
	first, last := c.Ratios[0], c.Ratios[len(c.Ratios)-1]
	begin, factor, end := levels.Place(s.Axes[0], first.N), units.Short(s.WorseBy), levels.Place(s.Axes[0], last.N)
	greatest := func(of func(results.Ratio) float64) results.Ratio {
		return slices.MaxFunc(c.Ratios, func(a, b results.Ratio) int { return cmp.Compare(of(a), of(b)) })
	}
	most := greatest(func(r results.Ratio) float64 { return r.Times })
	much := units.Short(last.Times)
	if c.Doubt != "" {
		much = "at least " + units.Short(last.Least)
	}
	switch {
	case c.Always:
		return fmt.Sprintf("From %s on, the first level, %s more than %s times %s's; at %s %s times%s.", begin, what, factor, calm, end, much, because(c.Doubt))
	case c.At != nil:
		return fmt.Sprintf("From %s on%s%s %s more than %s times %s's; at %s %s times%s.",
			levels.Place(s.Axes[0], s.reached(*c.At)), atLatest(c), s.each(c), what, factor, calm, end, much, because(c.Doubt))
	case c.Doubt != "" && s.mayCross(c):
		return fmt.Sprintf("It is not known from where on, if at all, %s more than %s times %s's: %s.", what, factor, calm, c.Doubt)
	case c.Doubt != "":
		return fmt.Sprintf("From %s to %s %s at most %s times %s's, and never %s times%s.", begin, end, what,
			units.Short(greatest(func(r results.Ratio) float64 { return r.Most }).Most), calm, factor, because(c.Doubt))
	case len(c.Ratios) == 1:
		return fmt.Sprintf("At %s, the one level of both, %s %s times %s's.", end, what, units.Short(last.Times), calm)
	case most.Times < s.WorseBy:
		return fmt.Sprintf("From %s to %s %s at most %s times %s's, and never %s times.", begin, end, what, units.Short(most.Times), calm, factor)
	}
	return fmt.Sprintf("At %s %s no longer %s times %s's, but %s times; at %s it was %s times.",
		end, what, factor, calm, units.Short(last.Times), levels.Place(s.Axes[0], most.N), units.Short(most.Times))
}

// mayCross reports whether the naive form can be worse by the factor at some level, as far as the doubts leave it.
func (s sweep) mayCross(c results.Crossover) bool {
	return slices.ContainsFunc(c.Ratios, func(r results.Ratio) bool { return r.Most == 0 || r.Most >= s.WorseBy })
}

// atLatest says that a crossover may lie before the level from which on it is certain.
func atLatest(c results.Crossover) string {
	if c.Doubt == "" {
		return ""
	}
	return " at the latest"
}

// reached returns the lowest value of the first axis, at or above the given value, that can be
// measured: clients, groups and bytes are integers, and each instance has the same number of clients.
func (s sweep) reached(at float64) float64 {
	switch s.Axes[0] {
	case "clients":
		step := float64(s.instances())
		return step * math.Ceil(at/step)
	case "groups", "size":
		return math.Ceil(at)
	case "rate": // which lies between two levels
		return units.Rounded(at)
	}
	return at
}

// instances returns the number of instances at each level of an axis of clients.
func (s sweep) instances() int {
	if slices.Contains(s.Axes, "groups") {
		return 1
	}
	return max(1, s.Levels[0].Groups)
}

// each says how many clients each instance has at the crossover, "" if there is one instance.
func (s sweep) each(c results.Crossover) string {
	groups := s.instances()
	if groups == 1 || s.Axes[0] != "clients" {
		return ""
	}
	return fmt.Sprintf(", %s for each of %s,", units.Short(s.reached(*c.At)/float64(groups)), units.Plural(groups, c.Recipe))
}

// greatest says where a form's throughput is greatest.
func (s sweep) greatest(c results.Curve) string {
	if c.USL.Knee == nil && c.USL.Doubt != "" {
		return fmt.Sprintf("Where the throughput of %s peaks is not known: %s.", s.who(c.Recipe, c.Form, c.URL, c.Beside), c.USL.Doubt)
	}
	knee := knee(*c.USL)
	if c.USL.Knee != nil {
		knee = "throughput peaks " + knee
	}
	if c.USL.Doubt != "" {
		knee += ", with this doubt: " + c.USL.Doubt
	}
	return fmt.Sprintf("%s: %s.", upper(s.who(c.Recipe, c.Form, c.URL, c.Beside)), knee)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// follows reports whether the finding is how throughput and latency change along the levels: no law
// applies to the axes of a mix.
func (s sweep) follows(rows []results.Level) bool {
	return s.Objective == "" && len(rows) > 1 && slices.Contains([]string{"reads", "size"}, s.Axes[0])
}

// follow says how the throughput and the latencies of a form change.
func (s sweep) follow(rows []results.Level) []string {
	first := rows[0]
	lines := []string{fmt.Sprintf("%s: %s.", upper(s.who(first.Recipe, first.Form, first.Backend.URL, levels.OtherAxes(s.Sweep, first))), s.trend(rows))}
	var parts []string
	for _, phase := range s.phases(rows) {
		if text := s.trendOf(phase, rows); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) > 0 {
		lines = append(lines, upper(strings.Join(parts, "; "))+".")
	}
	return lines
}

// trend says how the throughput changes from the first level to the last.
func (s sweep) trend(rows []results.Level) string {
	first, last := rows[0], rows[len(rows)-1]
	return fmt.Sprintf("%s throughput %s from %s/s to %s/s", s.ends(rows), s.change(first, last, first.Throughput, last.Throughput, levels.Speed()),
		units.Rate(first.Throughput.Value), units.Rate(last.Throughput.Value))
}

// trendOf says how the latency of a phase changes, by the highest percentile that all levels with the
// phase have. It returns "" if fewer than two levels have one: a mix of reads alone has no writes.
func (s sweep) trendOf(phase string, rows []results.Level) string {
	having := func(p levels.Percentile) (some []results.Level) {
		for _, l := range rows {
			if _, ok := l.Latency[phase][p.Name]; ok {
				some = append(some, l)
			}
		}
		return some
	}
	all := levels.Percentiles()
	least := len(having(all[len(all)-1]))
	for _, p := range all {
		some := having(p)
		if len(some) < 2 || len(some) < least {
			continue
		}
		from, to := some[0], some[len(some)-1]
		first, last := from.Latency[phase][p.Name], to.Latency[phase][p.Name]
		of := levels.TimeOf(s.Runs[from.Runs[0]], phase, p.Name)
		return fmt.Sprintf("%s %s %s %s from %s to %s", s.ends(some), levels.PhaseName(phase), p.Name, s.change(from, to, first, last, of),
			units.Duration(time.Duration(first.Value)), units.Duration(time.Duration(last.Value)))
	}
	return ""
}

// phases returns the phases of all levels, in order of appearance.
func (s sweep) phases(rows []results.Level) (all []string) {
	for _, l := range rows {
		for _, phase := range s.Runs[l.Runs[0]].Phases {
			if !slices.Contains(all, phase) {
				all = append(all, phase)
			}
		}
	}
	return all
}

// ends names the first and the last level: "from 0 % to 100 % reads".
func (s sweep) ends(rows []results.Level) string {
	from, to := levels.Value(rows[0], s.Axes[0]), levels.Value(rows[len(rows)-1], s.Axes[0])
	if s.Axes[0] == "reads" {
		return fmt.Sprintf("from %s to %s", units.Chosen(from), levels.Place("reads", to))
	}
	return fmt.Sprintf("from %s to %s B", levels.Place("size", from), units.Count(int64(to)))
}

// change returns the verb for a change of a figure. It is "rises" or "falls" only if the intervals do not overlap, nor do
// what the doubts about the runs leave of them.
func (s sweep) change(first, last results.Level, from, to results.Estimate, of figure.Figure) string {
	e := results.Estimate{Value: to.Value / from.Value, Low: to.Low / from.High, High: to.High / from.Low, Confidence: 1}
	switch r := levels.RatioWithin(e, of, levels.RunsOf(s.Sweep, last), levels.RunsOf(s.Sweep, first)); {
	case r.Least > 1:
		return "rises"
	case r.Most < 1:
		return "falls"
	}
	return "goes"
}

// holds says what capacity each form has: all decided answers in one sentence, the first in full and
// the others in short, and each undecided answer in a sentence of its own.
func (s sweep) holds() (lines []string) {
	rank := func(c results.Capacity) int { return slices.Index([]string{"recipe", "library", "naive"}, c.Family) }
	all := slices.SortedStableFunc(slices.Values(s.Capacities), func(a, b results.Capacity) int { return rank(a) - rank(b) })
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
	t := Table{Title: "capacity", Leads: true, Columns: columns(0, "<capacity", "<"+s.Objective)}
	t.Columns[1].Prose = true
	for _, c := range s.Capacities {
		var parts []string
		if c.Level > 0 {
			likely := "more than 99.9"
			if c.Confidence <= 0.999 {
				likely = fmt.Sprintf("%.3g", 100*c.Confidence)
			}
			parts = append(parts, fmt.Sprintf("%s, and the next run does with %s %% confidence", s.met(c, c.Level, c.Held), likely))
		}
		if c.Next > 0 {
			text := s.met(c, c.Next, c.After)
			if c.Why != "" {
				text += ": " + c.Why
			}
			parts = append(parts, text)
		}
		t.Rows = append(t.Rows, []string{levels.FormName(s.Sweep, c.Recipe, c.Form, c.URL, ""), strings.Join(parts, "; ")})
	}
	return t
}

// met says how many of all runs at a level met the objective, and how many could not tell.
func (s sweep) met(c results.Capacity, level float64, t results.Trials) string {
	runs := t.Of
	for _, l := range s.Levels {
		if l.Recipe == c.Recipe && l.Form == c.Form && l.Backend.URL == c.URL && levels.Value(l, s.Axes[0]) == level {
			runs = max(runs, len(l.Runs))
		}
	}
	text := fmt.Sprintf("%s met it in %d of %s", levels.Place(s.Axes[0], level), t.Met, units.Plural(runs, "run"))
	if open := runs - t.Of; open > 0 {
		text += fmt.Sprintf(", %d undecided", open)
	}
	return text
}

// answers returns a check of each answer of a search: an undecided one is invalid.
func (s sweep) answers() (all []Check) {
	for _, c := range s.Capacities {
		r := s.Runs[slices.IndexFunc(s.Runs, func(r results.Run) bool { return r.Recipe == c.Recipe && r.Form == c.Form && r.Backend.URL == c.URL })]
		check := checkOf(r.Scenario, c.Recipe, c.Form, r.Backend, c.Clients)
		if c.Clients == 0 { // they are what was searched
			check.Subject, check.About = "", c.Recipe+"/"+c.Form
		}
		check.Group, check.Name, check.Verdict = objectives, s.Objective, results.Pass
		if c.Undecided {
			check.Verdict, check.Why = results.Invalid, strings.TrimSuffix(s.undecided(s.who(c.Recipe, c.Form, c.URL, ""), c), ".")
		}
		all = append(all, check)
	}
	return all
}
