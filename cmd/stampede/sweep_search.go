package main

import (
	"context"
	"slices"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// objectives returns the objectives of --slo, which must be about phases that all forms have.
func (f *sweepFlags) objectives(forms []catalog.Choice) (sweeps.Objectives, error) {
	if len(f.slo) == 0 {
		return nil, nil
	}
	phases := forms[0].Phases()
	for _, form := range forms[1:] {
		has := form.Phases()
		phases = slices.DeleteFunc(phases, func(p string) bool { return !slices.Contains(has, p) })
	}
	if len(phases) == 0 {
		return nil, cli.Flagf("slo", ": the recipes have no phase in common: search one at a time")
	}
	all, err := sweeps.ParseObjectives(f.slo, phases)
	if err != nil {
		return nil, cli.Flagf("slo", ": %w", err)
	}
	return all, nil
}

// search finds the highest level at which the subject meets the objective.
func (s *sweep) search(ctx context.Context, at int) error {
	axis := s.flags.axes.swept[0]
	byPlace := map[float64]sweeps.Level{}
	var grid []float64
	for _, l := range s.levels {
		place := s.flags.axes.value(l, axis)
		grid, byPlace[place] = append(grid, place), l
	}
	_, needs := s.objectives.Scarcest(results.Run{})
	s.length = runLength{need: needs}
	search := sweeps.Search{Grid: grid, Times: s.flags.repeat, Try: func(level float64) (sweeps.Trial, error) {
		return s.trial(ctx, sweeps.Cell{Subject: at, Level: byPlace[level]})
	}}
	found, err := search.Highest()
	if err != nil {
		return err
	}
	form, level := s.subjects[at].form, byPlace[grid[0]]
	c := results.Capacity{Recipe: form.Recipe, Form: form.Name, Family: string(form.Family), URL: s.subjects[at].service.Info().URL,
		Clients: level.Clients, Groups: level.Groups, Level: found.Level, Held: results.Trials(found.At), Confidence: found.Confidence,
		Next: found.Next, After: results.Trials(found.After), Why: found.Why, Undecided: found.Undecided}
	if axis == axisClients {
		c.Clients = 0
	}
	s.file.Capacities = append(s.file.Capacities, c)
	return nil
}

// trial measures a cell. It repeats a run that had too few observations, with the longer duration
// that it needs.
func (s *sweep) trial(ctx context.Context, c sweeps.Cell) (sweeps.Trial, error) {
	for {
		f := s.at[c.Level].Flags
		before := s.length.set(f)
		run, err := s.run(ctx, c)
		if err != nil {
			return sweeps.Trial{}, err
		}
		judged := s.objectives.Judge(run)
		has, needs := s.objectives.Scarcest(run)
		s.length.need = needs
		s.length.learn(run, has)
		after := s.length.set(f)
		longer := after.Run.Duration > before.Run.Duration || after.Run.Rounds > before.Run.Rounds
		if judged.Outcome != sweeps.Undecided || has == 0 || has >= s.length.need || !longer {
			return judged, nil
		}
	}
}

// verdict returns the error of a sweep that completed with a finding, or whose search was
// undecided.
func (s *sweep) verdict() error {
	if err := verdictOn(s.file.Runs); err != nil {
		return err
	}
	if slices.ContainsFunc(s.file.Capacities, func(c results.Capacity) bool { return c.Undecided }) {
		return verdictError(results.Invalid, nil, true)
	}
	return nil
}
