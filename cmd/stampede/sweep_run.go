package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// A sweep is the state of one stampede sweep.
type sweep struct {
	*app
	flags      sweepFlags
	forms      []catalog.Choice
	sources    []spec.Source
	levels     []sweeps.Level
	at         map[sweeps.Level]spec.Job
	objectives sweeps.Objectives
	length     runLength // of the runs of a search
	progress   *progress

	subjects []subject
	measure  func(context.Context, sweeps.Cell) (*results.Run, error) // does the next run of the file
	resumed  results.Sweep                                            // the sweep to resume; its runs are not repeated
	file     results.Sweep
}

// A subject is a form on a service.
type subject struct {
	form    workloads.Form
	service drivers.Service
	source  spec.Source
}

// openAndRun opens all services, so that their runs can alternate, runs the sweep and closes them.
func (s *sweep) openAndRun(ctx context.Context) (err error) {
	began := time.Now()
	defer func() { s.file.Took = s.resumed.Took + time.Since(began) }()
	for _, source := range s.sources {
		service, e := dial(ctx, source, s.flags.ConnectTimeout)
		if e != nil {
			return interrupted(ctx, s.flags.Explained(source, e))
		}
		defer func() { err = cmp.Or(err, service.Close()) }()
		can, skipped, e := service.served(s.forms)
		if e != nil {
			return e
		}
		s.file.Skipped = append(s.file.Skipped, skipped...)
		for _, form := range can {
			s.subjects = append(s.subjects, subject{form, service.Service, source})
		}
	}
	s.measure = s.measureOn
	return s.all(ctx)
}

// measureOn measures a cell on its service.
func (s *sweep) measureOn(ctx context.Context, c sweeps.Cell) (*results.Run, error) {
	subject, f := s.subjects[c.Subject], s.at[c.Level].Flags
	if len(s.flags.slo) > 0 {
		f = s.length.set(f)
	}
	run, err := s.runOnce(ctx, &f, subject.service, subject.form, c.Level.Clients, len(s.file.Runs),
		s.progress.following(subject.form, c.Level.Clients, f))
	if err != nil {
		return run, s.flags.Explained(subject.source, err)
	}
	run.Order = len(s.file.Runs) + 1
	return run, nil
}

// all measures every cell, or searches for each subject.
func (s *sweep) all(ctx context.Context) error {
	total := s.flags.runs(s.levels, len(s.subjects))
	s.course.begin(slices.Repeat([]time.Duration{workOf(&s.flags.Flags)}, total), len(s.resumed.Runs))
	if len(s.flags.slo) > 0 {
		for i := range s.subjects {
			if err := s.search(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	s.file.Planned = total
	for _, c := range sweeps.Order(s.levels, len(s.subjects), s.flags.repeat, s.flags.Seed) {
		if _, err := s.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// run measures a cell, unless the resumed sweep has already measured it; both sweeps measure the
// same cells in the same order. An interrupted run is discarded, except for the nodes that it left.
func (s *sweep) run(ctx context.Context, c sweeps.Cell) (results.Run, error) {
	var run *results.Run
	if next := len(s.file.Runs); next < len(s.resumed.Runs) {
		run = &s.resumed.Runs[next]
		if was, is := measuredCell(*run), s.plannedCell(c); was != is {
			return results.Run{}, cli.Flagf("resume", "%s: run %d of it is %s, and here it is %s", s.flags.resume, next+1, was, is)
		}
	} else {
		var err error
		if run, err = s.measure(ctx, c); err != nil {
			s.file.Warnings = append(s.file.Warnings, remaining(run)...)
			return results.Run{}, err
		}
		s.course.end(1)
	}
	s.file.Runs = append(s.file.Runs, *run)
	return *run, nil
}

// finish analyses the runs and writes the result. It saves a complete sweep among the results. It
// writes an interrupted one to a file of its own, from which --resume continues it.
func (s *sweep) finish(outs outputs.List, broken error) error {
	s.progress.clear()
	if broken != nil && len(s.file.Runs) == 0 {
		return broken
	}
	s.file.Interrupted = broken != nil
	levels.Analyse(&s.file)
	write := func() error { return s.saveAndWrite(&s.flags.Saving, outs, s.file) }
	if broken != nil {
		write = func() error { s.offer(s.file); return outs.Write(s.file, "") }
		saved := outs.JSONPath()
		s.file.State = cmp.Or(saved, s.flags.resume, s.file.ID+".sweep.json")
		if saved == "" {
			if err := archive.Write(s.file.State, s.file); err != nil {
				return err
			}
		}
	}
	if err := write(); err != nil {
		return err
	}
	if broken != nil && !errors.Is(broken, workloads.ErrInterrupted) {
		return broken
	}
	return s.verdict()
}

// measuredCell describes what a run measured, as far as it can be compared with a planned cell.
func measuredCell(r results.Run) string {
	text := fmt.Sprintf("%s/%s with %d clients", r.Recipe, r.Form, r.Clients)
	if r.Mix != nil && r.ReadRatio != nil {
		text += mixCell(r.ReadRatio.Asked, r.Mix.SizeBytes)
	}
	return text
}

// plannedCell returns what measuredCell returns for a run of the cell.
func (s *sweep) plannedCell(c sweeps.Cell) string {
	form, mix := s.subjects[c.Subject].form, s.at[c.Level].Flags.Mix
	text := fmt.Sprintf("%v with %d clients", form, c.Level.Clients)
	if form.Recipe == "mix" {
		text += mixCell(mix.Reads, mix.Size)
	}
	return text
}

func mixCell(reads float64, size int) string {
	return fmt.Sprintf(", a share of %v reads and values of %d bytes", reads, size)
}

// readSaved reads the file of a sweep that was interrupted.
func readSaved(path string) (results.Sweep, error) {
	v, err := archive.ReadAny(path)
	if err != nil {
		return results.Sweep{}, err
	}
	s, is := v.(results.Sweep)
	if !is {
		return s, fmt.Errorf("%s: a result of kind %s: want %s", path, results.KindOf(v), results.KindSweep)
	}
	return s, nil
}

const (
	// spare is the ratio of the observations that a run of a search aims at to those that its
	// figure needs: the next level may yield fewer.
	spare = 2
	// longestRun bounds how far a search extends a run.
	longestRun = 5 * time.Minute
)

// A runLength computes how long the runs of a search must be for their figure to be known. It
// learns from each run, since only a run shows how many observations a round yields (not every
// round has an observation of every phase) and how many rounds a closed loop does in a second.
type runLength struct {
	need     int64   // observations
	perRound float64 // observations; 0 before the first run
	perS     float64 // observations a second; 0 before the first run
}

// learn records how many observations a run had.
func (l *runLength) learn(r results.Run, observations int64) {
	if observations > 0 {
		l.perRound = float64(observations) / float64(max(r.Rounds, 1))
		l.perS = float64(observations) / r.DurationNS.Seconds()
	}
}

// set returns the flags with a run that is long enough.
func (l *runLength) set(f spec.Flags) spec.Flags {
	wanted := spare * l.need // observations
	rounds := int64(wanted)
	if l.perRound > 0 {
		rounds = int64(math.Ceil(float64(wanted) / l.perRound))
	}
	switch {
	case f.Load.IsOpen():
		f.Run.Duration = longer(f.Run.Duration, f.Load.WindowOf(rounds))
	case f.Run.Rounds > 0:
		f.Run.Rounds = max(f.Run.Rounds, rounds)
	case l.perS > 0:
		f.Run.Duration = longer(f.Run.Duration, time.Duration(float64(wanted)/l.perS*float64(time.Second)))
	}
	return f
}

// longer returns the duration asked for, or the needed one if that is longer, up to longestRun.
func longer(asked, needed time.Duration) time.Duration {
	return max(asked, min(needed, longestRun))
}

// objectives returns the objectives of --slo, which must be about phases that all forms have, and about figures that
// all runs can have.
func (f *sweepFlags) objectives(forms []catalog.Choice, runs []gate.Row) (sweeps.Objectives, error) {
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
	for _, o := range all {
		if slices.ContainsFunc(runs, func(r gate.Row) bool { return !o.Figure.PossibleIn(r.Plan) }) {
			return nil, cli.Flagf("slo", ": %w", o.Figure.Lacking())
		}
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
	if s.file.Undecided() {
		return verdictError(results.Invalid, nil, true)
	}
	return nil
}
