package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/figure"
)

// A compareFlags holds the flags of stampede compare.
type compareFlags struct {
	folder           string
	metric           []string
	all              bool
	minimum          string
	failOnRegression bool
	output           outputs.Flags

	effect float64  // the parsed minimum
	given  []string // the flags as given
}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE CANDIDATE | BASE... -- CANDIDATE...",
		Short: "Compare saved runs or observations with others",
		Long: `Compare compares saved runs, form by form, and shows medians, how much each figure
changes, and the confidence interval; ~ means no significant difference. Each run is
one observation: it takes five runs of the base and five of the candidate, and six if more
than six figures are tested together. With fewer runs it shows how much the histograms
differ, which proves nothing, and --fail-on-regression refuses them.

Observations that stampede observe saved are compared by their counts, as a whole and
at each path pattern that both have. One of each decides watches.live, watches.missed,
and fanout.max where the form of the base bounds it; every other figure takes five of
each. --all shows latencies too, and --metric latency.p90 judges one.

A run is @ for the last one, @-1 for the one before, an id or the beginning of one,
or a path. Runs that were done one after the other also differ by what else the
machine did at the time. The test allows for it as far as the runs of each side show
it, and so finds large changes only: stampede ab interleaves its runs, and finds more.`,
		Example: `  stampede compare @-1 @
  stampede compare old1.json old2.json old3.json old4.json old5.json -- @-4 @-3 @-2 @-1 @`,
		ValidArgsFunction: completeRuns(&f.folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = spec.Changed(cmd.Flags())
			return a.compare(args, cmd.ArgsLenAtDash(), f)
		},
	}
	spec.RegisterFolder(cmd, &f.folder)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metric, "metric", nil, "`METRIC` to compare, repeatable (default: rounds_per_s, p50 and p99 of the recipe's main phase, or its p90 if runs are too short for a p99, and notifications_per_round)")
	flags.BoolVar(&f.all, "all", false, "show all figures")
	flags.StringVar(&f.minimum, "minimum-effect", "5%", "smallest change that matters: a `SHARE` such as 5% or 0.05")
	flags.BoolVar(&f.failOnRegression, "fail-on-regression", false, "exit with 98 if a figure is worse, and with 96 after a safety violation")
	f.output.Register(cmd, results.KindComparison)
	cli.Complete(cmd, "metric", a.metricWords)
	return cmd
}

// twoLists splits the names into those of the base and of the candidate: at --, or one each.
func twoLists(args []string, dash int) (before, after []string, err error) {
	switch {
	case dash < 0 && len(args) == 2:
		dash = 1
	case dash < 0:
		return nil, nil, cli.Usagef("stampede compare takes two runs, got %d: separate more than two with --, as in BASE... -- CANDIDATE...", len(args))
	}
	if dash == 0 || dash == len(args) {
		return nil, nil, cli.Usagef("stampede compare takes at least one run before -- and one after it")
	}
	return args[:dash], args[dash:], nil
}

func (a *app) compare(args []string, dash int, f compareFlags) (err error) {
	before, after, err := twoLists(args, dash)
	if err != nil {
		return err
	}
	if f.effect, err = parseShare(f.minimum); err != nil {
		return cli.Flagf("minimum-effect", "%s: %v", f.minimum, err)
	}
	var paths [2][]string
	for i, names := range [][]string{before, after} {
		if paths[i], err = findAll(archive.Folder(f.folder), names); err != nil {
			return err
		}
	}
	observed, err := anyObservation(paths)
	switch {
	case err != nil:
		return err
	case observed:
		return a.compareObservations(paths, f)
	}
	return a.compareRuns(paths, f)
}

// compareRuns compares saved runs, whose paths are given.
func (a *app) compareRuns(paths [2][]string, f compareFlags) (err error) {
	began := time.Now()
	var variants [2][]results.File
	for i := range paths {
		if variants[i], err = readRuns(paths[i]); err != nil {
			return cli.Usage(err)
		}
	}
	if err := eachOnce(slices.Concat(variants[0], variants[1])); err != nil {
		return err
	}
	subjects, warnings := compare.Rows(variants[0], variants[1])
	for i := range subjects {
		subjects[i].Figures = f.metrics(subjects[i])
	}
	if err := f.known(subjects); err != nil {
		return err
	}
	if len(subjects) == 0 {
		return cli.Usagef("nothing to compare: %s", warnings[0].Text)
	}
	if err := f.canFail(subjects); err != nil {
		return err
	}
	outs, err := f.output.Open(results.KindComparison, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	c := f.comparison(subjects, warnings)
	c.Base.Label, c.New.Label = compare.Label(variants[0]), compare.Label(variants[1])
	return a.writeComparison(c, outs, paths, f, began)
}

// writeComparison writes the comparison of saved results and returns the error for its exit code.
func (a *app) writeComparison(c results.Comparison, outs outputs.List, paths [2][]string, f compareFlags, began time.Time) error {
	c.Command = slices.Concat([]string{"stampede", "compare"}, f.given, paths[0], []string{"--"}, paths[1])
	c.Took = time.Since(began)
	if err := outs.Write(c, ""); err != nil || !f.failOnRegression {
		return err
	}
	return verdictError(c.Verdict, c.Runs(), false)
}

// readRuns reads the files of runs.
func readRuns(paths []string) (files []results.File, err error) {
	for _, path := range paths {
		file, err := archive.Read(path)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// eachOnce rejects a run that is named twice: it would count as two observations and give false
// confidence.
func eachOnce(files []results.File) error {
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.ID] {
			return cli.Usagef("%s is named twice: a run counts as one observation", f.ID)
		}
		seen[f.ID] = true
	}
	return nil
}

// metrics returns the metrics to compare for a subject. It leaves out figures that the subject does
// not have, since other subjects may have them.
func (f *compareFlags) metrics(s compare.Subject) (metrics []compare.Figure) {
	phases := s.Base[0].Phases
	if len(f.metric) == 0 {
		metrics = compare.Default(phases)
	}
	for _, name := range f.metric {
		if f, err := figure.Parse(name, phases); err == nil {
			metrics = append(metrics, compare.Figure{Figure: f, Gated: f.Better != figure.Neither})
		}
	}
	if f.all {
		metrics = append(metrics, compare.Others(phases, metrics)...)
	}
	return metrics
}

// known checks that some subject has each requested figure.
func (f *compareFlags) known(subjects []compare.Subject) error {
	var phases []string
	for _, s := range subjects {
		phases = append(phases, s.Base[0].Phases...)
	}
	for _, name := range f.metric {
		if _, err := figure.Parse(name, phases); err != nil {
			return cli.Flagf("metric", ": %w", err)
		}
	}
	return nil
}

// canFail rejects --fail-on-regression if there are too few runs to show a regression: such a gate
// would pass for any runs.
func (f *compareFlags) canFail(subjects []compare.Subject) error {
	if !f.failOnRegression {
		return nil
	}
	needed := compare.Needed(subjects)
	if needed == 0 {
		return nil
	}
	return cli.Flagf("fail-on-regression", ": too few runs: %d runs of base and of candidate are needed to tell a change from noise",
		needed)
}

// comparison builds the result of comparing the subjects.
func (f *compareFlags) comparison(subjects []compare.Subject, warnings []results.Warning) results.Comparison {
	c := newComparison(compare.Rules{Minimum: f.effect}.Changes(subjects), warnings)
	for _, s := range subjects {
		c.Base.Runs, c.New.Runs = append(c.Base.Runs, s.Base...), append(c.New.Runs, s.New...)
		c.Quantiles = append(c.Quantiles, compare.Quantiles(s)...)
	}
	c.Warnings = append(append(c.Warnings, compare.Doubted("OLD", c.Base.Runs)...), compare.Doubted("NEW", c.New.Runs)...)
	c.Warnings = append(c.Warnings, compare.Underpowered(c.Changes, 0)...)
	c.Needed = compare.Needed(subjects)
	return c
}

// newComparison returns a comparison of saved results with the changes.
func newComparison(changes []results.Change, warnings []results.Warning) results.Comparison {
	return results.Comparison{
		Head: results.NewHead(results.KindComparison, tool(), nil, []string{"compare"}, 0),
		Base: results.Variant{Runs: []results.Run{}}, New: results.Variant{Runs: []results.Run{}}, Warnings: append([]results.Warning{}, warnings...),
		Changes: changes, Means: compare.Means(changes), Verdict: compare.Verdict(changes),
	}
}

// compareObservations compares saved observations, whose paths are given, as compare does runs.
func (a *app) compareObservations(variants [2][]string, f compareFlags) error {
	began := time.Now()
	var read [2][]results.Observation
	seen := map[string]bool{}
	for i, paths := range variants {
		for _, path := range paths {
			v, err := archive.ReadAny(path)
			if err != nil {
				return cli.Usage(err)
			}
			o, ok := v.(results.Observation)
			if !ok {
				return cli.Usagef("%s is a %s: observations compare with observations, and runs with runs", path, results.KindOf(v))
			}
			if seen[o.ID] {
				return cli.Usagef("%s is named twice: give each observation once", o.ID)
			}
			seen[o.ID] = true
			read[i] = append(read[i], o)
		}
	}
	changes, warnings, needed, err := compare.Rules{Minimum: f.effect}.Observations(read[0], read[1], f.metric, f.all)
	if err != nil {
		return cli.Flagf("metric", ": %w", err)
	}
	bounded := func(c results.Change) bool {
		return c.Gated && (c.Verdict == results.Regression || c.Verdict == results.Pass && c.Figure == "fanout.max")
	}
	if f.failOnRegression && needed > 0 && !slices.ContainsFunc(changes, bounded) {
		return cli.Flagf("fail-on-regression", ": too few observations: give %d of base and of candidate, or a --threshold to stampede observe, which decides on one", needed)
	}
	outs, err := f.output.Open(results.KindComparison, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	c := newComparison(changes, warnings)
	c.Needed = needed
	c.Base.Label, c.New.Label = compare.Label(read[0]), compare.Label(read[1])
	return a.writeComparison(c, outs, variants, f, began)
}

// anyObservation reports whether one of the files is that of an observation.
func anyObservation(variants [2][]string) (bool, error) {
	for _, paths := range variants {
		for _, path := range paths {
			v, err := archive.ReadAny(path)
			if err != nil {
				return false, cli.Usage(err)
			}
			if _, ok := v.(results.Observation); ok {
				return true, nil
			}
		}
	}
	return false, nil
}

// findAll returns the path of each named result, since a name such as @ refers to another result
// tomorrow.
func findAll(folder archive.Folder, names []string) (paths []string, err error) {
	for _, name := range names {
		path, err := folder.Find(name)
		if err != nil {
			return nil, cli.Usage(err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
