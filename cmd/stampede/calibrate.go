package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server/canned"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/workloads"
)

// fewestCalibrated is the number of pairs below which a 95th percentile cannot be estimated.
const fewestCalibrated = 20

func (a *app) calibrateCommand() *cobra.Command {
	var f pairFlags
	var ceiling bool
	cmd := &cobra.Command{
		Use:   "calibrate [VARIANT]",
		Short: "Measure this machine's noise floor, which ab uses",
		Long: `Calibrate compares runs of the same thing, in pairs as ab does, and saves how much each
figure differs. The noise floor is the 95th percentile of that difference for the
number of pairs. When ab runs the same settings on the same machine, a smaller change
is no regression.

VARIANT has the same words as BASE of ab: a form, a backend, settings, or the path of
another stampede.

With --ceiling it measures instead how many requests a second the load generator can
make on this machine, to a server that does no work. This is the most that a run can
measure of any service. Later runs report how close they came to it.`,
		Example: `  stampede calibrate
  stampede calibrate --ceiling
  stampede calibrate 'lock/one-node zookeeper: hold=0' --clients 8,32`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("stampede calibrate takes one argument, got %q too: quote the words that belong together", args[1])
			}
			return nil
		},
		ValidArgsFunction: a.completeVariants,
		RunE: func(cmd *cobra.Command, args []string) error {
			if ceiling {
				if err := checkCeiling(cmd.Flags(), args); err != nil {
					return err
				}
			}
			f.given = spec.Changed(cmd.Flags())
			if ceiling {
				return a.calibrateCeiling(cmd, f)
			}
			return a.calibrate(cmd, args, f)
		},
	}
	f.register(a, cmd, fewestCalibrated, results.KindCalibration)
	cmd.Flags().BoolVar(&ceiling, "ceiling", false, "measure how many requests a second the load generator can make to a server that does no work")
	cmd.Flags().Lookup("pairs").Usage = fmt.Sprintf("number of pairs of runs, at least %d", fewestCalibrated)
	cmd.Flags().Lookup("noise").Usage = "`FILE` to save the result in"
	return cmd
}

func (a *app) calibrate(cmd *cobra.Command, args []string, f pairFlags) error {
	f.DrawSeed()
	if f.pairs < fewestCalibrated || f.pairs > mostPairs {
		return cli.Flagf("pairs", "%d: must be %d to %d: fewer do not give a 95th percentile", f.pairs, fewestCalibrated, mostPairs)
	}
	what := append(args, "")[0]
	d, err := a.newPairedRuns(cmd.Flags(), []string{what, what}, f)
	if err != nil {
		return err
	}
	if _, _, err := noise.File(f.noise).Find(results.ThisHost(), ""); err != nil {
		return cli.Usage(err)
	}
	outs, err := f.Output.Open(results.KindCalibration, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	if f.DryRun {
		d.describeServices(a.out, (*spec.Selection).WritePlan)
		return a.dryRun()
	}
	if !f.Quiet {
		d.describeServices(a.err, (*spec.Selection).Announce)
		fmt.Fprintf(a.err, "stampede: %d pairs of %s against itself, %d runs%s\n", f.pairs, d.variants[0].label, d.runs(), d.takes())
	}
	file := results.Calibration{Head: results.NewHead(results.KindCalibration, tool(), spec.PairCommand("calibrate", args, f.given, f.Seed), nil, f.Seed),
		Pairs: f.pairs, Settings: []results.Noise{}, Warnings: []results.Warning{}}
	subjects, err := d.runSet(cmd.Context())
	d.progress.clear()
	if err != nil && !errors.Is(err, workloads.ErrInterrupted) {
		return err
	}
	file.Interrupted, file.Took = err != nil, time.Since(file.Started)
	return d.keep(outs, file, subjects)
}

// keep computes the noise, saves it and writes the result. It saves nothing if the calibration was
// interrupted or if a run had a safety violation.
func (d *pairedRuns) keep(outs outputs.List, file results.Calibration, subjects []compare.Subject) error {
	var runs []results.Run
	kept := ""
	if !file.Interrupted {
		for level, s := range subjects {
			file.Settings = append(file.Settings, results.Noise{Setting: d.variants[0].setting(level), Of: s.Base[0].Sample(), Figures: noises(s, d.phases())})
			runs = append(append(runs, s.Base...), s.New...)
		}
		file.Warnings = append(file.Warnings, compare.Doubted("A/A", runs)...)
		if slices.ContainsFunc(runs, func(r results.Run) bool { return r.Safety.Violations > 0 }) {
			file.Warnings = append(file.Warnings, results.WarningOf(metrics.Warning{Code: results.SafetyViolated}))
		} else if err := noise.File(d.flags.noise).Keep(file); err != nil {
			return err
		} else {
			kept = d.flags.noise
		}
	}
	if err := outs.Write(file, kept); err != nil {
		return err
	}
	return verdictOn(runs)
}

// noises returns the noise of all figures that have a better direction, of runs that time these
// phases. It marks those to show: the figures that are gated by default, or those that replace them
// if they are unknown.
func noises(s compare.Subject, phases []string) (all []results.FigureNoise) {
	gated := compare.Default(phases)
	shown := map[string]bool{}
	for _, m := range append(gated, compare.Others(phases, gated)...) {
		if m.Better == figure.Neither {
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
func noiseOf(s compare.Subject, f figure.Figure) (results.FigureNoise, bool) {
	known := compare.Subject{Figures: []compare.Figure{{Figure: f}}}
	for i := range s.Base {
		_, base := f.RunValue(s.Base[i])
		if _, other := f.RunValue(s.New[i]); base && other {
			known.Base, known.New = append(known.Base, s.Base[i]), append(known.New, s.New[i])
		}
	}
	if 2*len(known.Base) < len(s.Base) {
		return results.FigureNoise{}, false
	}
	c := compare.Rules{Paired: true}.Judge([]compare.Subject{known})[0]
	return results.FigureNoise{Figure: c.Figure, Unit: c.Unit, Median: c.Base, Ratios: c.Ratios,
		One: noise.OfPair(c.Ratios), Ten: noise.Share(c.Ratios, 10), Twenty: noise.Share(c.Ratios, 20)}, true
}

// A ceiling is measured with enough sessions and requests in flight to keep every processor of the
// load generator busy.
const (
	ceilingSessions = 64
	ceilingInFlight = 16
	ceilingWarmup   = time.Second
	ceilingDuration = 3 * time.Second
)

// usedByCeiling lists the flags of calibrate that --ceiling uses.
var usedByCeiling = []string{"ceiling", "color", "noise", "output", "quiet", "seed"}

// checkCeiling rejects flags and arguments that have no effect on calibrate --ceiling.
func checkCeiling(flags *pflag.FlagSet, args []string) (err error) {
	if len(args) > 0 {
		return cli.Usagef("stampede calibrate --ceiling takes no argument, got %q: its server is always the one that does no work", args[0])
	}
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(usedByCeiling, f.Name) {
			err = cli.Usagef("--%s has no effect on stampede calibrate --ceiling: it takes --%s", f.Name, strings.Join(usedByCeiling[1:], ", --"))
		}
	})
	return err
}

// calibrateCeiling measures how many requests a second each client library can make to a server
// that does no work, and saves the numbers for later runs.
func (a *app) calibrateCeiling(cmd *cobra.Command, f pairFlags) error {
	if f.DryRun { // from its variable: checkCeiling refuses the flag
		return cli.Flagf("dry-run", "has no effect on stampede calibrate --ceiling, which uses no service")
	}
	f.DrawSeed()
	given := []string{"--ceiling"}
	if flag := cmd.Flags().Lookup("noise"); flag.Changed {
		given = append(given, cli.FlagWords(flag)...)
	}
	outs, err := f.Output.Open(results.KindCalibration, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	file := results.Calibration{Head: results.NewHead(results.KindCalibration, tool(), spec.PairCommand("calibrate", nil, given, f.Seed), nil, f.Seed),
		Settings: []results.Noise{}, Warnings: []results.Warning{}}
	var disturbed []results.Warning
	if file.Ceilings, disturbed, err = a.ceilings(cmd.Context(), f); err != nil {
		return err
	}
	file.Took = time.Since(file.Started)
	if len(disturbed) > 0 {
		file.Warnings = disturbed
		return errors.Join(outs.Write(file, ""), cli.Finding(cli.ExitInvalid, "other programs used the machine"))
	}
	if err := noise.File(f.noise).Keep(file); err != nil {
		return err
	}
	return outs.Write(file, f.noise)
}

// ceilings measures all client libraries that speak ZooKeeper's protocol. It also returns warnings
// about disturbances, which make the ceilings too low.
func (a *app) ceilings(ctx context.Context, f pairFlags) (all []results.Ceiling, disturbed []results.Warning, err error) {
	server, err := reexec.Start(ctx, canned.Role)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	for _, client := range []string{lean.Client, zookeeper.Client} {
		if !f.Quiet {
			fmt.Fprintf(a.err, "stampede: %d sessions of the client %s, %d requests in flight each, for %v\n", ceilingSessions, client, ceilingInFlight, ceilingDuration)
		}
		c, r, err := a.ceiling(ctx, server.Addr(), client, f.Seed)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, c)
		for _, d := range r.Doubts {
			if d.Code == metrics.Others || d.Code == metrics.Stolen {
				disturbed = append(disturbed, results.WarningOf(d).OfClient(client))
			}
		}
	}
	return all, disturbed, nil
}

// ceiling measures one client library and also returns the record of the measurement.
func (a *app) ceiling(ctx context.Context, address, client string, seed uint64) (c results.Ceiling, r *metrics.Record, err error) {
	target, err := backends.Parse("native://" + address + "?client=" + client)
	if err != nil {
		return c, nil, err
	}
	service, err := target.Open(ctx)
	if err != nil {
		return c, nil, err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	i := slices.IndexFunc(a.forms, func(form workloads.Form) bool { return form.Recipe == "mix" })
	r, err = workloads.Run(ctx, workloads.Plan{
		Service: service, Form: a.forms[i], Clients: ceilingSessions, Groups: 1,
		Settings: workloads.Settings{Mix: workloads.MixSettings{Reads: 1, InFlight: ceilingInFlight}},
		Warmup:   ceilingWarmup, Duration: ceilingDuration, Seed: seed,
	})
	if err != nil {
		return c, nil, err
	}
	c = results.Ceiling{Client: client, Sessions: ceilingSessions, InFlight: ceilingInFlight,
		RequestsPerS: float64(r.Counts.RPCs) / r.Duration.Seconds(), CPUCores: r.Generator.CPUCores}
	if m := r.Generator.Machine; m != nil {
		c.ServerCores = m.Started
	}
	return c, r, nil
}
