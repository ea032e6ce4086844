package charts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
)

// A Chart is one chart of a result.
type Chart struct {
	Name    string // of the file, without extension: "lock-notifications"
	Title   string // what the chart shows
	Caption string // how to read the chart, and how it was drawn
	About   string // the content in words and numbers, for readers who cannot see the chart
	Subject string // the recipe whose charts belong together, "" if the result has only one subject
	Wide    bool   // a page gives the chart its whole width

	panels []panel
}

// Charts returns the charts of a result for which there are data, the most important first.
func Charts(result results.Result) []Chart {
	switch r := result.(type) {
	case results.File:
		return ofFile(r)
	case results.Sweep:
		return ofSweep(r)
	case results.CountReport:
		return ofCount(r)
	case results.Comparison:
		return ofComparison(r)
	case results.Observation:
		return ofObservation(r)
	case results.History:
		return trends(r)
	}
	return nil
}

func ofFile(f results.File) []Chart {
	return ofEach(f.Runs, func(s subject) (all []Chart) {
		broken := slices.ContainsFunc(s.runs, func(r results.Run) bool { return r.Faults != nil })
		if broken {
			all = append(all, some(returning(s), overTime(s))...)
		}
		all = append(all, some(notifications(s), latencies(s, s.keyPhase()), timeline(s))...)
		if !broken {
			all = append(all, some(overTime(s))...)
		}
		if first := s.first(); first != s.keyPhase() {
			all = append(all, some(latencies(s, first))...)
		}
		return all
	})
}

func ofSweep(s results.Sweep) []Chart {
	return ofEach(s.Runs, func(of subject) (all []Chart) {
		first, second := growth(s, of), throughput(s, of)
		if first == nil {
			first, second = second, nil
		}
		all = append(all, some(first, tails(s, of), second)...)
		if s.Axes[0] == "clients" && len(s.Axes) == 1 {
			all = append(all, some(latencies(of, of.keyPhase()), timeline(of))...)
		}
		return all
	})
}

// ofEach returns the charts of each subject of the runs.
func ofEach(runs []results.Run, charts func(subject) []Chart) (all []Chart) {
	subjects := subjects(runs)
	for _, s := range subjects {
		for _, c := range charts(s) {
			if len(subjects) > 1 {
				c.Subject = s.name
			}
			all = append(all, c)
		}
	}
	return all
}

// some returns the charts that are not nil.
func some(charts ...*Chart) (all []Chart) {
	for _, c := range charts {
		if c != nil {
			all = append(all, *c)
		}
	}
	return all
}

// A subject is the runs of one recipe. Their forms share a chart.
type subject struct {
	name  string // the scenario and the recipe
	runs  []results.Run
	looks map[string]look // by series
}

// subjects groups runs by scenario and recipe, in order of appearance.
func subjects(runs []results.Run) (all []subject) {
	at := map[string]int{}
	for _, r := range runs {
		name := r.Recipe
		if r.Scenario != "" && r.Scenario != r.Recipe {
			name = r.Scenario + ", " + r.Recipe
		}
		i, known := at[name]
		if !known {
			i = len(all)
			at[name] = i
			all = append(all, subject{name: name})
		}
		all[i].runs = append(all[i].runs, r)
	}
	inks := inksOf(runs)
	for i := range all {
		// Recipes come first, whatever the random order of a sweep.
		slices.SortStableFunc(all[i].runs, func(a, b results.Run) int { return cmp.Compare(rank(a.Family), rank(b.Family)) })
		all[i].looks = looksOf(all[i].runs, inks)
	}
	return all
}

func rank(family string) int { return slices.Index([]string{"recipe", "library", "naive"}, family) }

// key returns the name of a run's series: its form, and the backend if there are several.
func (s subject) key(r results.Run) string { return s.called(r.Form, r.Backend.URL) }

func (s subject) called(form, url string) string {
	for _, r := range s.runs {
		if r.Backend.URL != url {
			return form + " on " + strings.TrimSuffix(url, ":")
		}
	}
	return form
}

// series returns the names of the series, in order of appearance.
func (s subject) series() (names []string) {
	seen := map[string]bool{}
	for _, r := range s.runs {
		if name := s.key(r); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// crowd returns the runs, by form, with the number of clients that the most forms were measured with;
// among several such numbers, with the largest.
func (s subject) crowd() (forms [][]results.Run, clients int) {
	levels := map[int]map[string][]results.Run{}
	for _, r := range s.runs {
		if levels[r.Clients] == nil {
			levels[r.Clients] = map[string][]results.Run{}
		}
		levels[r.Clients][s.key(r)] = append(levels[r.Clients][s.key(r)], r)
	}
	for n, of := range levels {
		if more := cmp.Compare(len(of), len(levels[clients])); more > 0 || more == 0 && n > clients {
			clients = n
		}
	}
	for _, name := range s.series() {
		if runs, there := levels[clients][name]; there {
			forms = append(forms, runs)
		}
	}
	return forms, clients
}

// herd returns the herd of the subject's recipe.
func (s subject) herd() levels.Herd { return levels.HerdOf(s.runs[0]) }

func (s subject) keyPhase() string { return results.KeyPhase(s.runs[0].Phases) }

func (s subject) first() string {
	if len(s.runs[0].Phases) == 0 {
		return ""
	}
	return s.runs[0].Phases[0]
}

// Key says what each form in the charts of a result is.
func Key(result results.Result) (lines []string) {
	var runs []results.Run
	switch r := result.(type) {
	case results.File:
		runs = r.Runs
	case results.Sweep:
		runs = r.Runs
	case results.CountReport:
		for _, s := range r.Settled {
			runs = append(runs, atRest(s))
		}
	}
	kinds := map[string]string{} // by form
	var forms []string
	for _, r := range runs {
		if !slices.Contains(forms, r.Form) {
			forms = append(forms, r.Form)
		}
		kinds[r.Form] = cmp.Or(kinds[r.Form], levels.KindOf(r, runs))
	}
	for _, kind := range []struct{ name, one, many string }{
		{"herd-avoiding", "is the herd-avoiding form", "are herd-avoiding forms"},
		{"library", "is the form of the client library", "are forms of client libraries"},
		{"naive", "is the naive form", "are naive forms"},
	} {
		var names []string
		for _, form := range forms {
			if kinds[form] == kind.name {
				names = append(names, form)
			}
		}
		switch len(names) {
		case 0:
		case 1:
			lines = append(lines, names[0]+" "+kind.one)
		default:
			lines = append(lines, strings.Join(names, ", ")+" "+kind.many)
		}
	}
	return lines
}

// atRest returns what a settled run counted for each of its rounds, as far as it shows a herd.
func atRest(s results.Settled) results.Run {
	return results.Run{Recipe: s.Recipe, Form: s.Form, Family: s.Family, Clients: s.Clients, Backend: s.Backend,
		Rounds: 1, Cost: results.Cost{PerRound: &results.PerRound{Notifications: float64(s.Notifications.Counted),
			Reads: float64(s.Reads.Counted), Writes: float64(s.Writes.Counted)}}}
}
