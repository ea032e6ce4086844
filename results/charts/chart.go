package charts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// A Chart is one picture of a result.
type Chart struct {
	Name    string // of a file: "lock-notifications"
	Title   string // what it shows
	Caption string // what to see, and how it was drawn
	About   string // its content in words and numbers, for whoever cannot see it

	panels []panel
}

// Of are the charts of a result that there are data for, the most telling first.
func Of(result results.View) []Chart {
	switch r := result.(type) {
	case results.File:
		return ofFile(r)
	case results.Sweep:
		return ofSweep(r)
	case results.CountReport:
		return ofCount(r)
	case results.Comparison:
		return ofComparison(r)
	}
	return nil
}

func ofFile(f results.File) (all []Chart) {
	broken := func(r results.Run) bool { return r.Faults != nil }
	for _, s := range subjects(f.Runs) {
		if slices.ContainsFunc(s.runs, broken) {
			all = append(all, some(overTime(s))...)
		}
		all = append(all, some(notifications(s), latencies(s, s.telling()))...)
	}
	for _, s := range subjects(f.Runs) {
		all = append(all, some(timeline(s))...)
		if !slices.ContainsFunc(s.runs, broken) {
			all = append(all, some(overTime(s))...)
		}
		if first := s.first(); first != s.telling() {
			all = append(all, some(latencies(s, first))...)
		}
	}
	return all
}

func ofSweep(s results.Sweep) (all []Chart) {
	for _, of := range subjects(s.Runs) {
		first, second := growth(s, of), throughput(s, of)
		if first == nil {
			first, second = second, nil
		}
		all = append(all, some(first, tails(s, of), second)...)
		if s.Axes[0] == "clients" && len(s.Axes) == 1 {
			all = append(all, some(latencies(of, of.telling()), timeline(of))...)
		}
	}
	return all
}

// some are the charts that there were data for.
func some(charts ...*Chart) (all []Chart) {
	for _, c := range charts {
		if c != nil {
			all = append(all, *c)
		}
	}
	return all
}

// A subject is the runs of one recipe, whose forms belong on one picture.
type subject struct {
	name  string // "" of the only one
	runs  []results.Run
	looks map[string]look // by series
}

// subjects parts runs by scenario and recipe, in order of appearance.
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
	for i := range all {
		// Recipes come first wherever a sweep's random order has put them.
		slices.SortStableFunc(all[i].runs, func(a, b results.Run) int { return cmp.Compare(rank(a.Family), rank(b.Family)) })
		all[i].looks = looksOf(all[i].runs)
	}
	return all
}

func rank(family string) int { return slices.Index([]string{"recipe", "library", "naive"}, family) }

// key is what a run's series is called: its form, and the backend where there are
// several.
func (s subject) key(r results.Run) string { return s.called(r.Form, r.Backend.URL) }

func (s subject) called(form, url string) string {
	for _, r := range s.runs {
		if r.Backend.URL != url {
			return form + " on " + strings.TrimSuffix(url, ":")
		}
	}
	return form
}

// series are the names of the forms, in order of appearance.
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

// crowd are the runs with the most clients in which all forms took part, those of
// one form together.
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

func (s subject) telling() string { return s.runs[0].Telling() }

func (s subject) first() string {
	if len(s.runs[0].Phases) == 0 {
		return ""
	}
	return s.runs[0].Phases[0]
}
