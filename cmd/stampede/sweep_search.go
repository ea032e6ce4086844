package main

import (
	"context"
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/sweeps"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// objective is that of --slo, which is about phases that all forms have.
func (f *sweepFlags) objective(forms []catalog.Choice) (sweeps.Objective, error) {
	if f.slo == "" {
		return sweeps.Objective{}, nil
	}
	phases := forms[0].Phases()
	for _, form := range forms[1:] {
		has := form.Phases()
		phases = slices.DeleteFunc(phases, func(p string) bool { return !slices.Contains(has, p) })
	}
	if len(phases) == 0 {
		return sweeps.Objective{}, usagef("--slo: the recipes have no phase in common: search one at a time")
	}
	o, err := sweeps.ParseObjective(f.slo, phases)
	if err != nil {
		return sweeps.Objective{}, usagef("--slo: %w", err)
	}
	return o, nil
}

// search finds the highest level at which the subject meets the objective.
func (s *sweep) search(ctx context.Context, at int) error {
	axis := s.flags.axes.swept[0]
	byPlace, why := map[float64]sweeps.Level{}, map[float64]string{}
	var grid []float64
	for _, l := range s.levels {
		place := s.flags.axes.of(l, axis)
		grid, byPlace[place] = append(grid, place), l
	}
	search := sweeps.Search{Grid: grid, Times: s.flags.repeat, Try: func(level float64) (bool, error) {
		run, err := s.run(ctx, sweeps.Cell{Subject: at, Level: byPlace[level]})
		if err != nil {
			return false, err
		}
		met, reason := s.objective.Judge(run)
		if reason != "" {
			why[level] = reason
		}
		return met, nil
	}}
	found, err := search.Highest()
	if err != nil {
		return err
	}
	form, level := s.subjects[at].form, byPlace[grid[0]]
	c := results.Capacity{Recipe: form.Recipe, Form: form.Name, Family: string(form.Family), URL: s.subjects[at].service.Info().URL,
		Clients: level.Clients, Groups: level.Groups, Level: found.Level, Held: results.Trials(found.At),
		Next: found.Next, After: results.Trials(found.After), Why: why[found.Next]}
	if axis == axisClients {
		c.Clients = 0
	}
	s.file.Capacities = append(s.file.Capacities, c)
	return nil
}
