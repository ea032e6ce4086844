package spec

import (
	"slices"

	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A Job is one unit of work of a bench: forms on sources, with flags.
type Job struct {
	Scenario string // from a scenario file; "" without one
	Flags    Flags
	Chosen   []catalog.Choice
	Sources  []Source
}

// NewJob checks everything that can be checked before anything is started.
func NewJob(forms []workloads.Form, recipes []string, f Flags) (_ Job, err error) {
	if err := f.background.check(); err != nil {
		return Job{}, err
	}
	if err := f.faults.check(f.Run.Rounds); err != nil {
		return Job{}, err
	}
	f.fitFaults()
	f.further, f.divisible, f.ownDisks = f.furtherSessions(), f.faults.divide(), f.faults.hang()
	f.elsewhere = f.Agents.Count > 0
	chosen, sources, err := f.Selection.Resolve(forms, recipes)
	if err != nil {
		return Job{}, err
	}
	if err := f.Mix.check(chosen); err != nil {
		return Job{}, err
	}
	if err := f.check(chosen); err != nil {
		return Job{}, err
	}
	j := Job{Flags: f, Chosen: chosen, Sources: sources}
	return j, f.faults.possible(j)
}

// Announcement describes the runs of the job.
func (j Job) Announcement() Announcement {
	p := j.Flags.Announcement(j.Chosen, j.Flags.Repeat)
	p.Scenario = j.Scenario
	return p
}

// RowsOf returns the planned runs, as thresholds see them. A form may still be skipped.
func RowsOf(jobs []Job) (rows []gate.Row) {
	for _, j := range jobs {
		var forms []gate.Row
		for _, form := range j.Chosen {
			forms = append(forms, gate.Row{Scenario: j.Scenario, Recipe: form.Recipe, Form: form.Name, Family: string(form.Family), Phases: form.Phases()})
		}
		for _, s := range j.Sources {
			for _, clients := range j.Flags.Clients {
				for _, row := range forms {
					row.URL, row.Clients = s.Name, clients
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// ChosenRecipes returns the recipes of the forms, each once.
func ChosenRecipes(forms []catalog.Choice) []string {
	var names []string
	for _, f := range forms {
		if !slices.Contains(names, f.Recipe) {
			names = append(names, f.Recipe)
		}
	}
	return names
}
