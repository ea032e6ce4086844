package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/changes"
	"github.com/stampede-bench/stampede/results/figures"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/workloads"
)

// fewestCalibrated is the number of pairs below which a 95th percentile cannot be estimated.
const fewestCalibrated = 20

func (a *app) calibrateCommand() *cobra.Command {
	var f pairFlags
	var ceiling bool
	cmd := &cobra.Command{
		Use:   "calibrate [SIDE]",
		Short: "Find out what this machine's noise is, for ab to know it",
		Long: `Calibrate runs one side against itself, in pairs as ab does, and keeps by how much
each figure differs all the same. When ab is asked for the same settings on the
same machine, less than that is no regression there: the noise floor is the 95th
percentile of the difference that as many pairs show where there is none.

SIDE is said as for ab: a form, a backend, settings, or another stampede.

With --ceiling it finds out instead how many requests a second the generator itself
makes on this machine, of a server that does nothing: no service can be measured to be
faster. Results of later runs then say how near to that they came.`,
		Example: `  stampede calibrate
  stampede calibrate --ceiling
  stampede calibrate 'lock/one-node zookeeper: hold=0' --clients 8,32`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("stampede calibrate takes one side as one argument, got %q too: quote what belongs together", args[1])
			}
			return nil
		},
		ValidArgsFunction: a.completeSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			if ceiling {
				if err := checkCeiling(cmd.Flags(), args); err != nil {
					return err
				}
			}
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			f.given = changed(cmd.Flags())
			if ceiling {
				return a.calibrateCeiling(cmd, f)
			}
			return a.calibrate(cmd, args, f)
		},
	}
	f.register(a, cmd, fewestCalibrated, results.KindCalibration)
	cmd.Flags().BoolVar(&ceiling, "ceiling", false, "find out how many requests a second the generator makes of a server that does nothing")
	cmd.Flags().Lookup("pairs").Usage = fmt.Sprintf("how many pairs of runs, at least %d", fewestCalibrated)
	cmd.Flags().Lookup("noise").Usage = "`FILE` that keeps what was found"
	return cmd
}

func (a *app) calibrate(cmd *cobra.Command, args []string, f pairFlags) error {
	f.drawSeed()
	if f.pairs < fewestCalibrated || f.pairs > mostPairs {
		return usagef("--pairs %d: must be %d to %d: of fewer a 95th percentile is not known", f.pairs, fewestCalibrated, mostPairs)
	}
	what := append(args, "")[0]
	d, err := a.duel(cmd.Flags(), []string{what, what}, f)
	if err != nil {
		return err
	}
	if _, _, err := noise.File(f.noise).Find(results.ThisHost(), ""); err != nil {
		return usage(err)
	}
	outs, err := openOutputs(f.output, results.KindCalibration, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	if !f.quiet {
		d.announceServices()
		fmt.Fprintf(a.err, "stampede: %d pairs of %s against itself, %d runs%s\n", f.pairs, d.sides[0].label, d.runs(), d.takes())
	}
	head := results.New(tool(), abCommandLine("calibrate", args, f.given, f.seed), nil, f.seed)
	file := results.Calibration{Schema: head.Schema, Kind: results.KindCalibration, Started: head.Started, Tool: head.Tool, Host: head.Host,
		Command: head.Command, Seed: f.seed, Pairs: f.pairs, Settings: []results.Noise{}, Warnings: []results.Warning{}}
	subjects, err := d.alone(cmd.Context())
	d.progress.clear()
	if err != nil && !errors.Is(err, workloads.ErrInterrupted) {
		return err
	}
	file.Interrupted, file.Took = err != nil, time.Since(head.Started)
	return d.keep(outs, file, subjects)
}

// keep computes the noise, saves it and writes the result. It saves nothing if the calibration was
// interrupted or if a run had a safety violation.
func (d *duel) keep(outs outputs, file results.Calibration, subjects []changes.Subject) error {
	var runs []results.Run
	kept := ""
	if !file.Interrupted {
		for level, s := range subjects {
			file.Settings = append(file.Settings, results.Noise{Setting: d.sides[0].setting(level), Of: s.Base[0].Sample(), Figures: noises(s, d.phases())})
			runs = append(append(runs, s.Base...), s.New...)
		}
		file.Warnings = append(file.Warnings, changes.Doubted("A/A", runs)...)
		if slices.ContainsFunc(runs, func(r results.Run) bool { return r.Safety.Violations > 0 }) {
			file.Warnings = append(file.Warnings, results.Warn(results.SafetyViolated, "a form broke its promise: nothing was kept"))
		} else if err := noise.File(d.flags.noise).Keep(file); err != nil {
			return err
		} else {
			kept = d.flags.noise
		}
	}
	if err := outs.write(file, kept); err != nil {
		return err
	}
	return verdictOn(runs)
}

// noises returns the noise of all figures that have a better direction, of runs that time these
// phases. It marks those to show: the figures that are gated by default, or those that replace them
// if they are unknown.
func noises(s changes.Subject, phases []string) (all []results.FigureNoise) {
	gated := changes.Default(phases)
	shown := map[string]bool{}
	for _, m := range append(gated, changes.Others(phases, gated)...) {
		if m.Better == figures.Neither {
			continue
		}
		n, known := noiseOf(s, m.Figure)
		if !known && m.Instead != nil {
			shown[m.Instead.Name] = true
		}
		if known {
			n.Shown = m.Gated || shown[m.Name]
			all = append(all, n)
		}
	}
	return all
}

// noiseOf returns the noise of one figure over the pairs in which both runs have it, or false if
// those are less than half of the pairs.
func noiseOf(s changes.Subject, f figures.Figure) (results.FigureNoise, bool) {
	known := changes.Subject{Metrics: []changes.Metric{{Figure: f}}}
	for i := range s.Base {
		_, base := f.Of(s.Base[i])
		if _, other := f.Of(s.New[i]); base && other {
			known.Base, known.New = append(known.Base, s.Base[i]), append(known.New, s.New[i])
		}
	}
	if 2*len(known.Base) < len(s.Base) {
		return results.FigureNoise{}, false
	}
	c := changes.Rules{Paired: true}.Changes([]changes.Subject{known})[0]
	return results.FigureNoise{Figure: c.Figure, Unit: c.Unit, Median: c.Base, Ratios: c.Ratios,
		One: noise.OfPair(c.Ratios), Ten: noise.Share(c.Ratios, 10), Twenty: noise.Share(c.Ratios, 20)}, true
}
