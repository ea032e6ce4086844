package gate

import (
	"fmt"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A Row is one planned or finished run, as thresholds see it.
type Row struct {
	Scenario     string // "" outside a scenario file
	Recipe, Form string
	Family       string
	URL          string
	Clients      int
	Phases       []string

	// conditions are the other settings in which runs can differ. They are nil for a planned run,
	// since all runs of one command or scenario have the same.
	conditions map[string]string
}

// Rows returns the rows of runs.
func Rows(runs []results.Run) []Row {
	rows := make([]Row, len(runs))
	for i, r := range runs {
		rows[i] = Row{Scenario: r.Scenario, Recipe: r.Recipe, Form: r.Form, Family: r.Family, URL: r.Backend.URL,
			Clients: r.Clients, Phases: r.Phases, conditions: r.Conditions()}
	}
	return rows
}

// differsInSubjectOnly reports whether the rows differ in what is run and in nothing else.
func (r Row) differsInSubjectOnly(other Row) bool {
	for name, value := range r.conditions {
		if is, both := other.conditions[name]; both && is != value { // not every recipe has every setting
			return false
		}
	}
	return r.Scenario == other.Scenario && r.URL == other.URL
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
