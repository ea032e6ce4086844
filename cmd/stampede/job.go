package main

import (
	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A job is what one bench does at a time: forms on sources, as the flags say.
type job struct {
	scenario string // of a scenario file; "" outside one
	flags    runFlags
	chosen   []catalog.Choice
	sources  []source
}

// job checks all that can be checked before anything is started.
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

// rowsOf are the runs that there will be, unless a form is skipped, as thresholds
// see them.
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
