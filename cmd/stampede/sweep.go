package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// A sweepFlags holds the flags of stampede sweep. Among the embedded flags, those of the axes are
// set for each level.
type sweepFlags struct {
	spec.Flags
	axes    axes
	repeat  int
	worseBy float64
	slo     []string
	resume  string
	servers []int

	given []string // the flags as given, without secrets
}

func (a *app) sweepCommand() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep [RECIPE...]",
		Short: "Run forms at many levels of load and show how they scale",
		Long: `Sweep runs each of the chosen forms at every level of one or two axes, several
times and in a random order, and shows medians, how costs and throughput grow, at
which level the naive form becomes worse, and what limits each form. With --slo it
searches the highest level that meets an objective, with a margin, so that another
run at that level meets it too with 95 % confidence. If it was missed while the load
generator was short of CPU, or there are too few observations, the answer is
undecided and the exit code is 97.

The axes are --clients, --rate, --groups, --hold and --session-timeout, and of a mix
--reads and --size. Each takes one value, levels such as 2,8,32, or a range such as
2..256, whose levels double unless --levels says how many there are; those of --reads
are steps of a quarter.

With --servers 1,3,5 each backend is started once with each number of servers.

After an interruption it shows the levels that it has measured, and the --resume that
continues it.`,
		Example: `  stampede sweep lock --clients 2..256 --backend native
  stampede sweep lock --groups 64 --clients 64..1024 --hold 0
  stampede sweep lock --hold 0,1ms,8ms --repeat 6
  stampede sweep mix --clients 32 --reads 0..1
  stampede sweep mix --clients 32 --reads 0..1 --backend zookeeper: --servers 1,3,5
  stampede sweep lock --clients 64 --groups 16 --rate 100..10000 --slo 'acquire.response.p99<50ms'`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = spec.Changed(cmd.Flags())
			return a.sweep(cmd.Context(), args, f)
		},
	}
	f.registerAll(a, cmd)
	return cmd
}

func (f *sweepFlags) registerAll(a *app, cmd *cobra.Command) {
	f.Selection.RegisterOthers(a.forms, cmd, []string{"native:"})
	f.RegisterFixed(cmd, 2*time.Second, results.KindSweep)
	f.Saving.Register(cmd)
	f.axes.register(cmd)
	flags := cmd.Flags()
	spec.RegisterPercentiles(flags, &f.Percentiles)
	f.Agents.Register(cmd)
	flags.IntVar(&f.repeat, "repeat", 3, "number of runs at each level; with --slo, of runs that confirm the answer, at least 2")
	flags.Float64Var(&f.worseBy, "worse-by", 2, "how many times worse the naive form must be for a crossover")
	flags.StringArrayVar(&f.slo, "slo", nil, "search the highest --rate, or --clients, that meets an `OBJECTIVE` such as acquire.response.p99<50ms; repeatable, all must be met")
	flags.StringVar(&f.resume, "resume", "", "continue an interrupted sweep from the `FILE` that it named")
	flags.IntSliceVar(&f.servers, "servers", nil, "start each --backend once with each of these numbers of servers: `LIST` such as 1,3,5")
	cli.Complete(cmd, "slo", func() []string { return nil })
}

// size replaces every backend by one for each number of servers.
func (f *sweepFlags) size() error {
	if len(f.servers) == 0 {
		return nil
	}
	var all []string
	for _, url := range f.Backend {
		if strings.Contains(url, "//") || strings.Contains(url, "servers=") {
			return cli.Flagf("servers", ": %s has its own: give a service that is started, such as zookeeper:", url)
		}
		url, query, asked := strings.Cut(url, "?")
		if asked {
			query += "&"
		}
		for _, n := range f.servers {
			all = append(all, fmt.Sprintf("%s:?%sservers=%d", strings.TrimSuffix(url, ":"), query, n))
		}
	}
	f.Backend = all
	return nil
}

// command returns the command line that repeats the sweep.
func (f *sweepFlags) command(recipes []string) []string {
	line := append([]string{"stampede", "sweep"}, recipes...)
	return append(append(line, f.given...), "--seed", fmt.Sprint(f.Seed))
}

// check checks the flags that only a sweep has.
func (f *sweepFlags) check() error {
	if f.repeat < 1 {
		return cli.Flagf("repeat", "%d: must be at least 1", f.repeat)
	}
	if len(f.slo) > 0 && f.repeat < 2 {
		return cli.Flagf("repeat", "%d: must be at least 2 with --slo, to estimate how much runs vary", f.repeat)
	}
	if !(f.worseBy > 1) { // also rejects NaN
		return cli.Flagf("worse-by", "%v: must be more than 1", f.worseBy)
	}
	return nil
}

// plan describes the runs of the forms at the levels.
func (f *sweepFlags) plan(levels []sweeps.Level, forms []catalog.Choice) spec.Announcement {
	p := f.Flags.Announcement(forms, 1)
	if f.Load.IsOpen() {
		p.Rate = fmt.Sprintf("open loop: up to %v arrivals/s, %s", levels[len(levels)-1].Rate, f.Load.Arrival)
	}
	p.Duration = f.DurationOf(f.runs(levels, len(forms)))
	if len(f.slo) > 0 {
		p.Duration = "about " + p.Duration
	}
	return p
}

// runs returns the number of runs; for a search, an estimate.
func (f *sweepFlags) runs(levels []sweeps.Level, forms int) int {
	if len(f.slo) > 0 {
		grid := make([]float64, len(levels))
		for i, l := range levels {
			grid[i] = f.axes.value(l, f.axes.swept[0])
		}
		s := sweeps.Search{Grid: grid, Times: f.repeat}
		return forms * s.Most()
	}
	return forms * len(levels) * f.repeat
}

func (a *app) sweep(ctx context.Context, recipes []string, f sweepFlags) error {
	s, err := a.newSweep(recipes, f)
	if err != nil {
		return err
	}
	if err := f.Saving.Check(); err != nil {
		return err
	}
	outs, err := f.Output.Open(results.KindSweep, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	plan := s.flags.plan(s.levels, s.forms)
	if f.DryRun {
		s.flags.WritePlan(a.out, s.sources, plan)
		return a.dryRun()
	}
	hide, err := a.observeRuns(ctx, &s.flags.Flags)
	if err != nil {
		return err
	}
	defer hide()
	dismiss, err := a.gather(ctx, s.flags.Agents, s.flags.ConnectTimeout, s.progress)
	if err != nil {
		return err
	}
	s.flags.Announce(a.err, s.sources, plan)
	return s.finish(outs, errors.Join(s.openAndRun(ctx), dismiss()))
}

// newSweep checks everything that can be checked before anything is started.
func (a *app) newSweep(recipes []string, f sweepFlags) (_ *sweep, err error) {
	s := &sweep{app: a, progress: newProgress(a.err, f.Quiet, &a.course)}
	if s.levels, err = f.axes.levels(&f.Flags, len(f.slo) > 0); err != nil {
		return nil, err
	}
	if err := f.axes.checkMix(&f.Flags, a.forms, recipes); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.size(); err != nil {
		return nil, err
	}
	if err = s.takeSeed(&f); err != nil { // before the jobs, which copy it
		return nil, err
	}
	s.at = map[sweeps.Level]spec.Job{}
	for _, l := range s.levels {
		if s.at[l], err = spec.NewJob(a.forms, recipes, f.flagsAt(l)); err != nil {
			return nil, err
		}
	}
	first := s.at[s.levels[0]]
	if err := spec.CheckUsed(f.Security.Flags, first.Chosen); err != nil {
		return nil, err
	}
	if err := first.Flags.CheckAgents(slices.Collect(maps.Values(s.at))); err != nil {
		return nil, err
	}
	s.forms, s.sources, f.Flags = first.Chosen, first.Sources, first.Flags
	f.Clients = f.axes.clientsOf(s.levels)
	if s.objectives, err = f.objectives(s.forms, spec.RowsOf(slices.Collect(maps.Values(s.at)))); err != nil {
		return nil, err
	}
	s.flags = f
	return s, s.begin(spec.ChosenRecipes(s.forms))
}

// takeSeed uses the seed that is given, otherwise that of the sweep to resume, otherwise a new one.
func (s *sweep) takeSeed(f *sweepFlags) (err error) {
	if f.resume != "" {
		if s.resumed, err = readSaved(f.resume); err != nil {
			return cli.Flagf("resume", "%s", strings.TrimPrefix(err.Error(), "open "))
		}
		f.Seed = cmp.Or(f.Seed, s.resumed.Seed)
	}
	f.DrawSeed()
	return nil
}

// begin sets the head of the result file, or continues the file of an interrupted sweep.
func (s *sweep) begin(recipes []string) (err error) {
	f, saved := &s.flags, s.resumed
	command := f.command(recipes)
	if f.resume != "" && !slices.Equal(command, saved.Command) {
		return cli.Flagf("resume", "%s: it belongs to another sweep: %s", f.resume, strings.Join(saved.Command, " "))
	}
	s.file = results.Sweep{File: results.New(tool(), command, recipes, f.Seed), Axes: f.axes.swept, Repeat: f.repeat, WorseBy: f.worseBy}
	s.file.Kind = results.KindSweep
	if s.file.Percentiles, err = spec.ParsePercentiles(f.Percentiles); err != nil {
		return err
	}
	s.file.Marks = f.Saving.Marks()
	if len(f.slo) > 0 {
		s.file.Objective = s.objectives.String()
	}
	if f.resume != "" {
		s.file.ID, s.file.Started = saved.ID, saved.Started
	}
	return nil
}
