package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/changes"
	"github.com/stampede-bench/stampede/results/figures"
)

// A compareFlags holds the flags of stampede compare.
type compareFlags struct {
	folder           string
	metric           []string
	all              bool
	minimum          string
	failOnRegression bool
	output           []string

	effect float64  // the parsed minimum
	given  []string // the flags as given
}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare OLD NEW | OLD... -- NEW...",
		Short: "Compare saved runs with others",
		Long: `Compare holds saved runs against others, form by form, and shows medians, by how
much each figure differs and how sure that is: ~ where no difference is shown. Each
run is one observation: it takes four on each side to show anything of one figure, and
five of the default figures. Of fewer it shows by how much the histograms differ, which
proves nothing by itself, and --fail-on-regression refuses them.

A run is @ for the last one, @-1 for the one before, an id or the beginning of one,
or a path. Files that were written one after the other differ by whatever else the
machine did meanwhile: stampede ab interleaves the runs of both sides.`,
		Example: `  stampede compare @-1 @
  stampede compare old1.json old2.json old3.json old4.json old5.json -- @-4 @-3 @-2 @-1 @`,
		ValidArgsFunction: completeRuns(&f.folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			f.given = changed(cmd.Flags())
			return a.compare(args, cmd.ArgsLenAtDash(), f)
		},
	}
	registerFolder(cmd, &f.folder)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metric, "metric", nil, "`FIGURE` to compare, repeatable (default: rounds_per_s, the telling phase's p50 and p99, notifications_per_round)")
	flags.BoolVar(&f.all, "all", false, "show all figures")
	flags.StringVar(&f.minimum, "minimum-effect", "5%", "what matters: a `SHARE` such as 5% or 0.05")
	flags.BoolVar(&f.failOnRegression, "fail-on-regression", false, "exit with 98 where a figure is shown to be worse, and with 96 where a form broke its promise")
	registerOutput(cmd, &f.output, results.KindComparison)
	complete(cmd, "metric", a.metricWords)
	return cmd
}

// twoLists splits the names into old and new runs: at --, or one each.
func twoLists(args []string, dash int) (before, after []string, err error) {
	switch {
	case dash < 0 && len(args) == 2:
		dash = 1
	case dash < 0:
		return nil, nil, usagef("stampede compare takes two runs, got %d: of more say which are which, OLD... -- NEW...", len(args))
	}
	if dash == 0 || dash == len(args) {
		return nil, nil, usagef("stampede compare takes at least one run on each side of --")
	}
	return args[:dash], args[dash:], nil
}

func (a *app) compare(args []string, dash int, f compareFlags) (err error) {
	before, after, err := twoLists(args, dash)
	if err != nil {
		return err
	}
	if f.effect, err = parseShare(f.minimum); err != nil {
		return usagef("--minimum-effect %s: %v", f.minimum, err)
	}
	began := time.Now()
	var sides [2][]results.File
	var paths [2][]string
	for i, names := range [][]string{before, after} {
		if sides[i], paths[i], err = readRuns(archive.Folder(f.folder), names); err != nil {
			return usage(err)
		}
	}
	if err := eachOnce(slices.Concat(sides[0], sides[1])); err != nil {
		return err
	}
	subjects, warnings := changes.Rows(sides[0], sides[1])
	for i := range subjects {
		subjects[i].Metrics = f.metrics(subjects[i])
	}
	if err := f.known(subjects); err != nil {
		return err
	}
	if err := f.canFail(subjects, warnings); err != nil {
		return err
	}
	outs, err := openOutputs(f.output, results.KindComparison, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	c := f.comparison(subjects, warnings)
	c.Base.Label, c.New.Label = changes.Label(sides[0]), changes.Label(sides[1])
	c.Command = append(append([]string{"stampede", "compare"}, f.given...), append(append(paths[0], "--"), paths[1]...)...)
	c.Took = time.Since(began)
	if err := outs.write(c, ""); err != nil || !f.failOnRegression {
		return err
	}
	return decided(c.Verdict, false)
}

// readRuns reads saved runs and returns their paths too, since a name such as @ refers to another
// run tomorrow.
func readRuns(folder archive.Folder, names []string) (files []results.File, paths []string, err error) {
	for _, name := range names {
		path, err := folder.Find(name)
		if err != nil {
			return nil, nil, err
		}
		file, err := archive.Read(path)
		if err != nil {
			return nil, nil, err
		}
		files, paths = append(files, file), append(paths, path)
	}
	return files, paths, nil
}

// eachOnce rejects a run that is named twice: it would count as two observations and give false
// confidence.
func eachOnce(files []results.File) error {
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.ID] {
			return usagef("%s is there twice: a run is one observation, however often it is named", f.ID)
		}
		seen[f.ID] = true
	}
	return nil
}

// metrics returns the metrics to compare for a subject. It leaves out figures that the subject does
// not have, since other subjects may have them.
func (f *compareFlags) metrics(s changes.Subject) (metrics []changes.Metric) {
	phases := s.Base[0].Phases
	if len(f.metric) == 0 {
		metrics = changes.Default(phases)
	}
	for _, name := range f.metric {
		if figure, err := figures.Parse(name, phases); err == nil {
			metrics = append(metrics, changes.Metric{Figure: figure, Gated: figure.Better != figures.Neither})
		}
	}
	if f.all {
		metrics = append(metrics, changes.Others(phases, metrics)...)
	}
	return metrics
}

// known checks that some subject has each requested figure.
func (f *compareFlags) known(subjects []changes.Subject) error {
	var phases []string
	for _, s := range subjects {
		phases = append(phases, s.Base[0].Phases...)
	}
	for _, name := range f.metric {
		if _, err := figures.Parse(name, phases); err != nil {
			return usagef("--metric: %w", err)
		}
	}
	return nil
}

// canFail rejects --fail-on-regression if there are too few runs to show a regression: such a gate
// would pass for any runs.
func (f *compareFlags) canFail(subjects []changes.Subject, warnings []results.Warning) error {
	if !f.failOnRegression {
		return nil
	}
	if len(subjects) == 0 {
		return usagef("--fail-on-regression: nothing to compare: %s", warnings[len(warnings)-1].Text)
	}
	figures, needed := changes.Needed(subjects)
	if needed == 0 {
		return nil
	}
	return usagef("--fail-on-regression: too few runs to show anything of %s that are judged together: it takes %d on each side; give as many, or fewer figures with --metric",
		counted(figures, "figure"), needed)
}

// comparison builds the result of comparing the subjects.
func (f *compareFlags) comparison(subjects []changes.Subject, warnings []results.Warning) results.Comparison {
	head := results.New(tool(), nil, nil, 0)
	c := results.Comparison{Schema: head.Schema, Kind: results.KindComparison, ID: head.ID + "compare", Started: head.Started, Tool: head.Tool, Host: head.Host,
		Base: results.Side{Runs: []results.Run{}}, New: results.Side{Runs: []results.Run{}}, Warnings: append([]results.Warning{}, warnings...)}
	for _, s := range subjects {
		c.Base.Runs, c.New.Runs = append(c.Base.Runs, s.Base...), append(c.New.Runs, s.New...)
		c.Quantiles = append(c.Quantiles, changes.Quantiles(s)...)
	}
	c.Warnings = append(append(c.Warnings, changes.Doubted("OLD", c.Base.Runs)...), changes.Doubted("NEW", c.New.Runs)...)
	c.Changes = changes.Rules{Minimum: f.effect}.Changes(subjects)
	c.Warnings = append(c.Warnings, changes.Underpowered(c.Changes, len(c.Base.Runs)/max(1, len(subjects)), "runs on each side")...)
	_, c.Needed = changes.Needed(subjects)
	c.Means, c.Verdict = changes.Means(c.Changes), changes.Verdict(c.Changes)
	return c
}
