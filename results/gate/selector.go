package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/units"
)

// anyRun selects every run.
const anyRun = "*"

// A selector selects runs.
type selector struct {
	name    string // anyRun, a recipe, a form, RECIPE/FORM or a family
	clients int    // 0 for any number
}

// parseSelector parses "lock/predecessor@32". It does not check that this selects a run.
func parseSelector(text string) (selector, error) {
	name, level, isLevel := strings.Cut(text, "@")
	s := selector{name: name}
	if isLevel {
		n, err := strconv.Atoi(level)
		if err != nil || n < 1 || name == "" {
			return s, fmt.Errorf("%q: want a number of clients behind @, such as lock@32", text)
		}
		s.clients = n
	}
	return s, nil
}

// named reports whether the selector's name matches the row.
func (s selector) named(r Row) bool {
	return slices.Contains(names(r), s.name)
}

// matches reports whether the selector's name and level match the row.
func (s selector) matches(r Row) bool {
	return s.named(r) && (s.clients == 0 || s.clients == r.Clients)
}

// names returns all names by which a selector can match the row.
func names(r Row) []string {
	return []string{anyRun, r.Recipe, r.Form, r.Recipe + "/" + r.Form, r.Family}
}

// none returns the error of a selector that matches no row.
func (s selector) none(rows []Row) error {
	var have, levels []string
	for _, r := range rows {
		for _, name := range names(r) {
			if !slices.Contains(have, name) {
				have = append(have, name)
			}
		}
		if level := units.Count(int64(r.Clients)); s.named(r) && !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
	}
	if len(levels) > 0 {
		return fmt.Errorf("no run of %s has %s clients: there is %s", s.name, units.Count(int64(s.clients)), strings.Join(levels, ", "))
	}
	return suggest.Unknown("run", s.name, have)
}

func (s selector) selectRows(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !s.matches(r) })
}

// A Row is one planned or finished run, as thresholds see it.
type Row struct {
	Scenario     string // "" outside a scenario file
	Recipe, Form string
	Family       string
	URL          string
	Clients      int
	Phases       []string
	Plan         figure.Plan // what decides which figures it has

	// conditions are the other settings in which runs can differ. They are nil for a planned run,
	// since all runs of one command or scenario have the same.
	conditions map[string]string
	repetition int // from 1; 0 for a run that is not repeated, and for a planned one
}

// Rows returns the rows of runs.
func Rows(runs []results.Run) []Row {
	rows := make([]Row, len(runs))
	for i, r := range runs {
		rows[i] = Row{Scenario: r.Scenario, Recipe: r.Recipe, Form: r.Form, Family: r.Family, URL: r.Backend.URL,
			Clients: r.Clients, Phases: r.Phases, Plan: figure.PlanOf(r), conditions: r.Conditions(), repetition: r.Repetition}
	}
	return rows
}

// sameSubject reports whether the rows are of the same scenario, form, number of clients and kind of
// backend: a baseline has such a run or not.
func (r Row) sameSubject(other Row) bool {
	kind := func(url string) string { scheme, _, _ := strings.Cut(url, ":"); return scheme }
	return r.Scenario == other.Scenario && r.Recipe == other.Recipe && r.Form == other.Form && r.Clients == other.Clients &&
		kind(r.URL) == kind(other.URL)
}

// sharesPlace reports whether the rows are of one scenario, backend and repetition.
func (r Row) sharesPlace(other Row) bool {
	return r.Scenario == other.Scenario && r.URL == other.URL && r.repetition == other.repetition
}

// unlike describes the first condition in which the rows differ, "" if there is none. The client library is
// none: a form that a library ships uses that library. Not every recipe has every setting.
func (r Row) unlike(other Row) string {
	for _, name := range slices.Sorted(maps.Keys(r.conditions)) {
		value := r.conditions[name]
		if is, both := other.conditions[name]; both && is != value && name != results.ClientLibrary {
			return fmt.Sprintf("its %s is %s, not %s", name, cmp.Or(is, "none"), cmp.Or(value, "none"))
		}
	}
	return ""
}

// String returns "lock/predecessor, 32 clients, native:".
func (r Row) String() string {
	clients := "1 client"
	if r.Clients != 1 {
		clients = units.Count(int64(r.Clients)) + " clients"
	}
	text := fmt.Sprintf("%s/%s, %s, %s", r.Recipe, r.Form, clients, r.URL)
	if r.Scenario != "" {
		text = r.Scenario + ": " + text
	}
	return text
}

// unlike describes the first condition in which the run differs from that of the baseline. It
// returns "" if there is none.
func unlike(run, base results.Run) string {
	all := results.Differences([]results.Run{base}, []results.Run{run})
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is %s, in the baseline %s", all[0].Name, all[0].New, all[0].Base)
}
