package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/figures"
	"github.com/stampede-bench/stampede/results/noise"
)

// A gateFlags holds the flags by which runs are judged.
type gateFlags struct {
	thresholds   []string
	abortOn      []string
	baseline     string
	noise        string // the file of this machine's noise floors
	inconclusive string
}

// The choices for an inconclusive verdict.
const (
	warn = "warn"
	fail = "fail"
)

func outcomes() []string { return []string{warn, fail} }

func (g *gateFlags) register(cmd *cobra.Command) {
	g.registerJudging(cmd)
	cmd.Flags().StringArrayVar(&g.abortOn, "abort-on", nil, "end the command as soon as a `CONDITION` comes true, such as errors>100; repeatable")
	complete(cmd, "abort-on", figureWords)
}

// registerJudging adds the flags that judge finished runs.
func (g *gateFlags) registerJudging(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&g.thresholds, "threshold", nil, "what must hold, `[RUN.]FIGURE<LIMIT`, such as lock.handoff.p99<5ms; repeatable; see stampede help thresholds")
	flags.StringVar(&g.baseline, "baseline", "", "`FILE` of an earlier result to hold the runs against; stampede baseline update writes one")
	registerNoise(flags, &g.noise)
	flags.StringVar(&g.inconclusive, "inconclusive", warn, "what becomes of a verdict that decides nothing: warn or fail")
	complete(cmd, "threshold", figureWords)
	complete(cmd, "inconclusive", outcomes)
}

// registerNoise adds the flag for the file of calibrations.
func registerNoise(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, "noise", savedNoise, "`FILE` of what stampede calibrate found")
}

// figureWords returns the figures that runs of every kind have.
func figureWords() (words []string) {
	for _, f := range figures.All(nil) {
		words = append(words, f.Name+"\t"+f.About)
	}
	return words
}

// A docket holds the checks for the runs of one command.
type docket struct {
	thresholds []gate.Threshold
	aborts     []gate.Threshold // end the command as soon as one is not met
	baseline   *results.File
	floors     []noise.Floor // of this machine, if there is a baseline
	strict     bool          // an inconclusive verdict does not pass
}

// resolve checks everything that can be checked before anything is started. The rows are the
// planned runs. The written thresholds, which come from a scenario file, apply if no flag gives
// any.
func (g *gateFlags) resolve(rows []gate.Row, written []gate.Threshold) (d docket, err error) {
	if !slices.Contains(outcomes(), g.inconclusive) {
		return d, usagef("--inconclusive: %w", nearest.Unknown("choice", g.inconclusive, outcomes()))
	}
	d.strict, d.thresholds = g.inconclusive == fail, written
	if len(g.thresholds) > 0 {
		d.thresholds = nil
	}
	for _, text := range g.thresholds {
		t, err := gate.Parse(text, "", rows)
		if err != nil {
			return d, usagef("--threshold %w", err)
		}
		d.thresholds = append(d.thresholds, t)
	}
	for _, text := range g.abortOn {
		t, err := abort(text, rows)
		if err != nil {
			return d, usagef("--abort-on %w", err)
		}
		d.aborts = append(d.aborts, t)
	}
	return d, d.takeBaseline(g, rows)
}

// abort returns the threshold that fails when the condition comes true.
func abort(condition string, rows []gate.Row) (gate.Threshold, error) {
	t, err := gate.Parse(condition, "", rows)
	if err != nil {
		return t, err
	}
	if !t.IsAbsolute() {
		return t, fmt.Errorf("%q: while runs go on there is nothing to compare with: want a value, such as errors>100", condition)
	}
	return t.Opposite()
}

// takeBaseline reads the baseline, and applies the default thresholds if none are given.
func (d *docket) takeBaseline(g *gateFlags, rows []gate.Row) error {
	path := g.baseline
	needed := slices.IndexFunc(d.thresholds, gate.Threshold.NeedsBaseline)
	if path == "" {
		if needed >= 0 {
			return usagef("threshold %q: it is held against a baseline: say which with --baseline FILE", d.thresholds[needed].Text)
		}
		return nil
	}
	base, err := readBaseline(path)
	if err != nil {
		return err
	}
	d.baseline = &base
	if d.floors, err = noise.File(g.noise).Of(results.ThisHost()); err != nil {
		return usage(err)
	}
	if needed < 0 {
		usual := gate.Defaults(rows, base)
		if len(usual) == 0 {
			return usagef("--baseline %s: it has none of these runs: %s", path, base.About())
		}
		d.thresholds = append(d.thresholds, usual...)
	}
	return nil
}

func readBaseline(path string) (results.File, error) {
	if _, err := os.Stat(path); err != nil {
		return results.File{}, usagef("--baseline %s: %v: stampede baseline update writes one", path, bare(err))
	}
	f, err := archive.Read(path)
	if err != nil {
		return f, usagef("--baseline %w", err)
	}
	return f, nil
}

// judge writes the gates and the verdict into the file, if there are any checks. The settled gates
// fired while a run was in progress; they replace the judgement of the whole run.
func (d docket) judge(f *results.File, settled []results.Gate) {
	all := slices.Concat(d.thresholds, d.aborts)
	if len(all)+len(settled) == 0 {
		return
	}
	f.Gates, _ = gate.Judge(*f, all, d.baseline)
	gate.Excuse(f.Gates, f.Runs, d.noise)
	for _, g := range settled {
		f.Gates = slices.DeleteFunc(f.Gates, func(other results.Gate) bool { return other.Text == g.Text && other.Run == g.Run })
		f.Gates = append(f.Gates, g)
	}
	f.Verdict = gate.Verdict(f.Gates, f.Runs)
}

// noise returns the noise of a run's figure from the newest calibration of the same setting.
func (d docket) noise(r results.Run, figure string) (share float64, known string) {
	for _, f := range slices.Backward(d.floors) {
		if f.Of.Like(r.Sample()) {
			return noise.OfPair(f.Ratios[figure]), fmt.Sprintf("%d A/A pairs, %s old", f.Pairs, age(time.Since(f.Started)))
		}
	}
	return 0, ""
}

// conclude returns the error for a file that was judged and written. If no table went to standard
// output, it prints a verdict other than pass on a line of its own.
func (a *app) conclude(d docket, f results.File, outs outputs) error {
	if f.Verdict == "" {
		return verdictOn(f.Runs)
	}
	if f.Verdict != results.Pass && !outs.tell() {
		fmt.Fprintf(a.err, "stampede: %s\n", f.Decision())
	}
	return decided(f.Verdict, d.strict)
}
