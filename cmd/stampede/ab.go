package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/effect"
	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/changes"
	"github.com/stampede-bench/stampede/results/figures"
)

// savedNoise is the default file for calibrations.
const savedNoise = ".stampede/noise.json"

// defaultPairs is enough to detect an increase of 10 % in at least 85 % of all cases, by the
// default figures, under the noise that the simulation in results/changes assumes for a shared
// machine.
const defaultPairs = 25

// mostPairs keeps a typing error from starting a run that takes a week.
const mostPairs = 1000

// A pairFlags holds the flags of ab and calibrate other than those that describe a side. Each side
// has its own copy of run's flags.
type pairFlags struct {
	runFlags
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

	effect float64 // the parsed minimum; check sets it
}

func (a *app) abCommand() *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "ab BASE NEW",
		Short: "Run two sides in interleaved pairs and tell whether one is worse",
		Long: `Ab runs two sides in pairs, one run right after the other. The seed draws the order
within each pair, so that whatever else the machine does falls on both sides with the
same chance. It shows by how much each figure differs, how sure that is, and what
follows: better, pass, REGRESSION or inconclusive.

Each side is one argument of words: RECIPE/FORM or either, a backend's URL or
kind, KEY=VALUE where KEY is a flag of run, or the path of another stampede. What a
side leaves open the flags say, which are run's. Two sides that are the same show
what the machine's noise is; stampede calibrate keeps that for later.

A figure is a regression if its 95 % interval lies on the worse side and the estimate
is at least the minimum effect, and at least the noise floor if one is known. It
passes if the interval's worse end is below the minimum effect. Holm's correction is
made over all gated figures that have noise, for regressions and improvements. A count
that hardly varies from run to run is compared exactly instead. The table says how
small a change could have been detected, and warns where the pairs are too few for the
minimum effect. Choose the number of pairs before you look at results: adding pairs
until something shows finds differences that are not there.`,
		Example: `  stampede ab lock/predecessor lock/one-node
  stampede ab native: zookeeper: --form predecessor
  stampede ab zookeeper: 'zookeeper:?client=lean' --clients 8,32
  stampede ab hold=0 hold=1ms --pairs 20
  stampede ab ./stampede-main ./stampede --metric handoff.p99 --inconclusive fail`,
		Args:              twoSides,
		ValidArgsFunction: a.completeSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			f.given = changed(cmd.Flags())
			return a.ab(cmd, args, f)
		},
	}
	f.pairFlags.register(a, cmd, defaultPairs, results.KindComparison)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metric, "metric", nil, "`FIGURE` that counts, repeatable (default: rounds_per_s, the telling phase's p50 and p99, notifications_per_round)")
	flags.BoolVar(&f.all, "all", false, "show all figures; those that do not count are in parentheses")
	flags.StringVar(&f.minimum, "minimum-effect", "5%", "what matters: a `SHARE` such as 5% or 0.05")
	flags.StringVar(&f.inconclusive, "inconclusive", warn, "what to do about what is not shown either way: warn, or fail with exit code 97")
	flags.BoolVar(&f.confirm, "confirm", false, "call it a regression only if as many pairs more find it again")
	complete(cmd, "inconclusive", outcomes)
	complete(cmd, "metric", a.metricWords)
	return cmd
}

func (f *pairFlags) register(a *app, cmd *cobra.Command, pairs int, kind string) {
	f.choice.register(a, cmd, []string{"native:"}, []int{8})
	flags := cmd.Flags()
	flags.DurationVar(&f.hold, "hold", defaultHold, "how long a holder keeps what it got")
	flags.IntVar(&f.groups, "groups", 1, "how many locks, queues and so on there are, with as many of the clients each")
	f.registerFixed(cmd, defaultPaired, kind)
	flags.IntVar(&f.pairs, "pairs", pairs, "how many pairs of runs, chosen beforehand, at least 6")
	registerNoise(flags, &f.noise)
}

func twoSides(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usagef("stampede ab takes two sides, BASE and NEW, each as one argument, got %d: quote what belongs together, as in 'lock/predecessor hold=0'", len(args))
	}
	return nil
}

func (a *app) metricWords() (words []string) {
	for _, f := range figures.All([]string{"handoff", "acquire"}) {
		words = append(words, f.Name+"\t"+f.About)
	}
	return words
}

func (a *app) completeSides(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
	for _, f := range a.forms {
		words = append(words, f.String()+"\t"+f.Summary)
	}
	return append(words, backendWords()...), cobra.ShellCompDirectiveDefault // which includes binaries
}

// check checks the flags that only ab has.
func (f *abFlags) check() (err error) {
	if !slices.Contains(outcomes(), f.inconclusive) {
		return usage(nearest.Unknown("choice for --inconclusive", f.inconclusive, outcomes()))
	}
	if f.effect, err = parseShare(f.minimum); err != nil {
		return usagef("--minimum-effect %s: %v", f.minimum, err)
	}
	return f.checkPairs()
}

func (f *pairFlags) checkPairs() error {
	if least := effect.FewestPairs(1); f.pairs < least || f.pairs > mostPairs {
		return usagef("--pairs %d: must be %d to %d: fewer show nothing, however far apart they are", f.pairs, least, mostPairs)
	}
	return nil
}

// metrics returns the metrics to compare, for runs that time these phases.
func (f *abFlags) metrics(phases []string) ([]changes.Metric, error) {
	metrics := changes.Default(phases)
	if len(f.metric) > 0 {
		metrics = nil
	}
	for _, name := range f.metric {
		figure, err := figures.Parse(name, phases)
		if err != nil {
			return nil, usagef("--metric: %w", err)
		}
		if figure.Better == figures.Neither {
			return nil, usagef("--metric %s: neither more nor less of it is better: it cannot be decided by", name)
		}
		metrics = append(metrics, changes.Metric{Figure: figure, Gated: true})
	}
	if f.all {
		metrics = append(metrics, changes.Others(phases, metrics)...)
	}
	return metrics, nil
}

// enough checks that there are enough pairs to decide this number of gated figures.
func (f *abFlags) enough(gated int) error {
	if least := effect.FewestPairs(gated); f.pairs < least {
		return usagef("--pairs %d: of %d figures that are judged at once nothing is shown by fewer than %d pairs: give as many, or fewer figures with --metric",
			f.pairs, gated, least)
	}
	return nil
}

func (a *app) ab(cmd *cobra.Command, args []string, f abFlags) error {
	f.drawSeed()
	if err := f.check(); err != nil {
		return err
	}
	d, err := a.duel(cmd.Flags(), args, f.pairFlags)
	if err != nil {
		return err
	}
	metrics, err := f.metrics(d.phases())
	if err != nil {
		return err
	}
	gated := len(metrics)
	if f.all {
		gated = slices.IndexFunc(metrics, func(m changes.Metric) bool { return !m.Gated })
	}
	if err := f.enough(gated * d.levels()); err != nil {
		return err
	}
	j := &judged{duel: d, flags: f, metrics: metrics}
	if err := j.findNoise(); err != nil {
		return usage(err)
	}
	outs, err := openOutputs(f.output, results.KindComparison, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	j.announce(gated)
	return j.finish(outs, args, j.run(cmd.Context()))
}

// abCommandLine returns the command line that repeats the comparison.
func abCommandLine(name string, args, given []string, seed uint64) []string {
	line := append([]string{"stampede", name}, args...)
	return append(append(line, given...), "--seed", fmt.Sprint(seed))
}
