package spec

import (
	"slices"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
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
				for at, row := range forms {
					row.URL, row.Clients, row.Plan = s.Name, clients, j.Flags.Figures(j.Chosen[at].Form, s, clients)
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// Figures returns what decides which figures a run of the form on the source has: it is the plan of a run with the
// settings that the result will record, and without measurements.
func (f *Flags) Figures(form workloads.Form, s Source, clients int) figure.Plan {
	p, record := f.draft(form, clients), metrics.Record{}
	if p.Rounds == 0 && (f.Load.IsOpen() || f.faults.any()) { // other windows may last until enough rounds have ended
		record.Duration = p.Duration
	}
	if form.Fair() {
		record.Fairness = &metrics.Fairness{}
	}
	if form.Recipe == "mix" {
		record.Mix = &metrics.Mix{}
	}
	if p.Background.Clients > 0 {
		record.Background = &metrics.Record{Mix: &metrics.Mix{}}
	}
	run := results.FromRecord(f.recorded(p, s.planned()), &record)
	if f.faults.any() {
		run.Faults = &results.Breakage{}
	}
	return figure.PlanOf(run)
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
