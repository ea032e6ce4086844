package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// defaultPairs is enough to detect an increase of 10 % in at least 85 % of all cases, by the
// default figures, under the noise that the simulation in results/compare assumes for a shared
// machine.
const defaultPairs = 25

// mostPairs keeps a typing error from starting a run that takes a week.
const mostPairs = 1000

// A pairFlags holds the flags of ab and calibrate other than those that describe a variant. Each variant
// has its own copy of run's flags.
type pairFlags struct {
	spec.Flags
	pairs int
	noise string

	given []string // the flags as given, without secrets
}

// An abFlags holds the flags of stampede ab.
type abFlags struct {
	pairFlags
	metric       []string
	all          bool
	minimum      string
	inconclusive string
	confirm      bool
	untilSure    bool
	maxTime      time.Duration

	effect float64 // the parsed minimum; check sets it
}

func (a *app) abCommand() *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "ab BASE CANDIDATE",
		Short: "Compare a base and a candidate in interleaved pairs of runs",
		Long: `Ab runs a base and a candidate in pairs, one run right after the other, in an order
that the seed draws for each pair, so that other load on the machine affects both
alike. It shows how much each figure changes, the confidence interval, and a verdict:
improvement, pass, regression or inconclusive.

BASE and CANDIDATE are one argument each, of words: RECIPE/FORM or either, a backend's
URL or kind, KEY=VALUE where KEY is a flag of run, or the path of another stampede. The
flags, which are those of run, set the rest. If both are the same, ab shows the
machine's noise floor; stampede calibrate saves it for later.

A figure is a regression if its whole 95 % interval is worse than no change and the
estimate is at least the minimum effect, and at least the noise floor if one is known.
It passes if the interval's worse end is below the minimum effect. Holm's correction is
made over all gated figures that have noise, for regressions and improvements. A count
that hardly varies from run to run is compared exactly instead. The table says how
small a change could have been detected, and warns where the pairs are too few for the
minimum effect. Choose the number of pairs before you look at results: adding pairs
until a difference appears finds differences that do not exist. With --until-sure ab
itself looks while the pairs are run and stops as soon as the verdict is certain: each
look is stricter, so that all looks together make no more errors than one.`,
		Example: `  stampede ab lock/predecessor lock/one-node
  stampede ab native: zookeeper: --form predecessor
  stampede ab zookeeper: 'zookeeper:?client=go-zookeeper' --clients 8,32
  stampede ab hold=0 hold=1ms --pairs 20
  stampede ab lock/predecessor lock/one-node --until-sure --max-time 2m
  stampede ab ./stampede-main ./stampede --metric handoff.p90 --inconclusive fail`,
		Args:              twoVariants,
		ValidArgsFunction: a.completeVariants,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = spec.Changed(cmd.Flags())
			return a.ab(cmd, args, f)
		},
	}
	f.pairFlags.register(a, cmd, defaultPairs, results.KindComparison)
	f.Saving.Register(cmd)
	flags := cmd.Flags()
	f.Agents.Register(cmd)
	flags.StringArrayVar(&f.metric, "metric", nil, "`METRIC` to judge, repeatable (default: rounds_per_s, p50 and p99 of the recipe's main phase, or its p90 if runs are too short for a p99, and notifications_per_round)")
	flags.BoolVar(&f.all, "all", false, "show all figures, those that are not judged in parentheses")
	flags.StringVar(&f.minimum, "minimum-effect", "5%", "smallest change that matters: a `SHARE` such as 5% or 0.05")
	flags.StringVar(&f.inconclusive, "inconclusive", spec.Warn, "what an inconclusive verdict does: warn, or fail with exit code 97")
	flags.BoolVar(&f.confirm, "confirm", false, "report a regression only if the same number of further pairs confirms it")
	flags.BoolVar(&f.untilSure, "until-sure", false, "judge up to five times while the pairs are run, and stop when the verdict is certain; --pairs is then the most (40)")
	flags.DurationVar(&f.maxTime, "max-time", 0, "with --until-sure, begin no pair after this `DURATION`, and judge those that were run")
	cli.Complete(cmd, "inconclusive", spec.Outcomes)
	cli.Complete(cmd, "metric", a.metricWords)
	return cmd
}

func (f *pairFlags) register(a *app, cmd *cobra.Command, pairs int, kind string) {
	f.Selection.Register(a.forms, cmd, []string{"native:"}, []int{8})
	flags := cmd.Flags()
	flags.DurationVar(&f.Run.Settings.Hold, "hold", spec.DefaultHold, "how long a client holds the lock or its like")
	spec.RegisterTimeout(flags, &f.Run)
	flags.IntVar(&f.Run.Groups, "groups", 1, "number of locks, queues and so on, among which the clients are divided evenly")
	f.RegisterFixed(cmd, defaultPaired, kind)
	flags.IntVar(&f.pairs, "pairs", pairs, "number of pairs of runs, at least 6")
	spec.RegisterNoise(flags, &f.noise)
}

func twoVariants(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return cli.Usagef("stampede ab takes two arguments, BASE and CANDIDATE, got %d: quote the words of each, as in 'lock/predecessor hold=0'", len(args))
	}
	return nil
}

func (a *app) metricWords() []string {
	return spec.FigureWords(figure.All([]string{"handoff", "acquire"}))
}

func (a *app) completeVariants(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
	for _, f := range a.forms {
		words = append(words, f.String()+"\t"+f.Summary)
	}
	return append(words, spec.BackendWords()...), cobra.ShellCompDirectiveDefault // which includes binaries
}

// check checks the flags that only ab has.
func (f *abFlags) check() (err error) {
	if !slices.Contains(spec.Outcomes(), f.inconclusive) {
		return cli.Usage(suggest.Unknown("choice for --inconclusive", f.inconclusive, spec.Outcomes()))
	}
	if f.effect, err = parseShare(f.minimum); err != nil {
		return cli.Flagf("minimum-effect", "%s: %v", f.minimum, err)
	}
	if err := spec.CheckNoise(f.noise); err != nil {
		return err
	}
	return f.checkPairs()
}

func (f *pairFlags) checkPairs() error {
	if least := stats.FewestPairs(1); f.pairs < least || f.pairs > mostPairs {
		return cli.Flagf("pairs", "%d: must be %d to %d: fewer cannot show any difference", f.pairs, least, mostPairs)
	}
	return nil
}

// metrics returns the metrics to compare, for runs of the plans, which time these phases.
func (f *abFlags) metrics(phases []string, plans []figure.Plan) ([]compare.Figure, error) {
	metrics := compare.Default(phases)
	if len(f.metric) > 0 {
		metrics = nil
	}
	for _, name := range f.metric {
		judged, err := figure.Parse(name, phases)
		if err != nil {
			return nil, cli.Flagf("metric", ": %w", err)
		}
		if slices.ContainsFunc(plans, func(p figure.Plan) bool { return !judged.PossibleIn(p) }) {
			return nil, cli.Flagf("metric", ": %w", judged.Lacking())
		}
		if judged.Better == figure.Neither {
			return nil, cli.Flagf("metric", "%s: neither more nor less of it is better, so it cannot be judged", name)
		}
		metrics = append(metrics, compare.Figure{Figure: judged, Gated: true})
	}
	if f.all {
		metrics = append(metrics, compare.Others(phases, metrics)...)
	}
	return metrics, nil
}

// enough checks that there are enough pairs to decide this number of gated figures.
func (f *abFlags) enough(gated int) error {
	if least := stats.FewestPairs(gated); f.pairs < least {
		return cli.Flagf("pairs", "%d: %d figures judged together need at least %d pairs: give that many, or fewer figures with --metric",
			f.pairs, gated, least)
	}
	return nil
}

func (a *app) ab(cmd *cobra.Command, args []string, f abFlags) error {
	f.DrawSeed()
	if err := f.checkLooks(cmd.Flags().Changed("pairs")); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	d, err := a.newPairedRuns(cmd.Flags(), args, f.pairFlags)
	if err != nil {
		return err
	}
	if err := d.checkAgents(); err != nil {
		return err
	}
	metrics, err := f.metrics(d.phases(), d.plans())
	if err != nil {
		return err
	}
	gated := len(metrics)
	if f.all {
		gated = slices.IndexFunc(metrics, func(m compare.Figure) bool { return !m.Gated })
	}
	looks, err := f.planned(gated * d.levels())
	if err != nil {
		return err
	}
	j := &comparison{pairedRuns: d, flags: f, metrics: metrics, looks: looks}
	if err := j.findNoise(); err != nil {
		return cli.Usage(err)
	}
	if err := f.Saving.Check(); err != nil {
		return err
	}
	outs, err := f.Output.Open(results.KindComparison, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	if f.DryRun {
		j.describeServices(a.out, (*spec.Selection).WritePlan)
		j.writeRules(a.out, gated)
		return a.dryRun()
	}
	j.announce(gated)
	return j.finish(outs, args, j.run(cmd.Context()))
}

// parseShare parses a share of something: "5%" or "0.05".
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share < 1) {
		return 0, errors.New("want a share such as 5% or 0.05")
	}
	return share, nil
}
