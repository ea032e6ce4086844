package main

import (
	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A job is one unit of work of a bench: forms on sources, with flags.
type job struct {
	scenario string // from a scenario file; "" without one
	flags    runFlags
	chosen   []catalog.Choice
	sources  []source
}

// job checks everything that can be checked before anything is started.
func (a *app) job(recipes []string, f runFlags) (_ job, err error) {
	if f.reads, err = f.mix.takeReads(f.reads); err != nil {
		return job{}, err
	}
	if err := f.background.check(); err != nil {
		return job{}, err
	}
	if err := f.faults.check(f.rounds); err != nil {
		return job{}, err
	}
	f.further, f.divisible = f.furtherSessions(), f.faults.divide()
	chosen, sources, err := f.choice.resolve(a.forms, recipes)
	if err != nil {
		return job{}, err
	}
	if err := f.mix.check(chosen); err != nil {
		return job{}, err
	}
	if err := f.check(); err != nil {
		return job{}, err
	}
	j := job{flags: f, chosen: chosen, sources: sources}
	return j, f.faults.possible(j)
}

// rowsOf returns the planned runs, as thresholds see them. A form may still be skipped.
func rowsOf(jobs []job) (rows []gate.Row) {
	for _, j := range jobs {
		var forms []gate.Row
		for _, form := range j.chosen {
			forms = append(forms, gate.Row{Scenario: j.scenario, Recipe: form.Recipe, Form: form.Name, Family: string(form.Family), Phases: form.Phases()})
		}
		for _, s := range j.sources {
			for _, clients := range j.flags.clients {
				for _, row := range forms {
					row.URL, row.Clients = s.name, clients
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}
