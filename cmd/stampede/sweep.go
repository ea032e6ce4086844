package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/sweeps"
)

// A sweepFlags holds the flags of stampede sweep. Among the embedded flags, those of the axes are
// set for each level.
type sweepFlags struct {
	runFlags
	axes    axes
	repeat  int
	worseBy float64
	slo     string
	resume  string
	servers []int

	given []string // the flags as given, without secrets
}

func (a *app) sweepCommand() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep [RECIPE...]",
		Short: "Run forms at many levels and show how they scale and where they part",
		Long: `Sweep runs each of the chosen forms at every level of one or two axes, several
times and in a random order, and shows medians, how costs and throughput grow,
from where on the naive form is worse, and what limits each form. With --slo it
searches the highest level that meets an objective instead: with a margin, so that
the answer's next run meets it too with 95 % confidence. Where runs cannot decide,
since the generator was short of CPU or they have too few observations, the answer
is undecided, and the exit code is 97.

The axes are --clients, --rate, --groups and --hold, and of a mix --reads and
--size. Each takes one value, levels such as 2,8,32, or a range such as 2..256,
whose levels double unless --levels says how many there are; those of --reads are
steps of a quarter.

With --servers 1,3,5 each backend is started with as many, side by side.

Interrupted it shows what it has, and says how to go on with --resume.`,
		Example: `  stampede sweep lock --clients 2..256 --backend native
  stampede sweep lock --groups 64 --clients 64..1024 --hold 0
  stampede sweep lock --hold 0,1ms,8ms --repeat 6
  stampede sweep mix --clients 32 --reads 0..1
  stampede sweep mix --clients 32 --reads 0..1 --backend zookeeper: --servers 1,3,5
  stampede sweep lock --clients 64 --groups 16 --rate 100..10000 --slo 'acquire.response.p99<50ms'`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			f.given = changed(cmd.Flags())
			return a.sweep(cmd.Context(), args, f)
		},
	}
	f.registerAll(a, cmd)
	return cmd
}

func (f *sweepFlags) registerAll(a *app, cmd *cobra.Command) {
	f.choice.registerOthers(a, cmd, []string{"native:"})
	f.registerFixed(cmd, 2*time.Second, results.KindSweep)
	f.axes.register(cmd)
	flags := cmd.Flags()
	registerPercentiles(flags, &f.percentiles)
	flags.IntVar(&f.repeat, "repeat", 3, "how many runs each level has, or confirm the answer of --slo, then at least 2")
	flags.Float64Var(&f.worseBy, "worse-by", 2, "how many times worse the naive form is to be for a crossover")
	flags.StringVar(&f.slo, "slo", "", "search the highest --rate, or --clients, that meets an `OBJECTIVE` such as acquire.response.p99<50ms")
	flags.StringVar(&f.resume, "resume", "", "go on with an interrupted sweep from the `FILE` that it named")
	flags.IntSliceVar(&f.servers, "servers", nil, "start each --backend with so many servers, one `NUMBER` after the other")
	complete(cmd, "slo", func() []string { return nil })
}

// changed returns the flags that differ from their defaults, as words of a command line, without
// those that say what happens to the results.
func changed(flags *pflag.FlagSet) (words []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if slices.Contains([]string{metricsAddr, listen, "output", "quiet", "resume", "seed"}, f.Name) || f.Value.String() == f.DefValue {
			return
		}
		words = append(words, flagWords(f)...)
	})
	return words
}

// size replaces every backend by one for each number of servers.
func (f *sweepFlags) size() error {
	if len(f.servers) == 0 {
		return nil
	}
	var all []string
	for _, url := range f.backend {
		if strings.Contains(url, "//") || strings.Contains(url, "servers=") {
			return usagef("--servers: %s has its own: give a service that is started, such as zookeeper:", url)
		}
		url, query, asked := strings.Cut(url, "?")
		if asked {
			query += "&"
		}
		for _, n := range f.servers {
			all = append(all, fmt.Sprintf("%s:?%sservers=%d", strings.TrimSuffix(url, ":"), query, n))
		}
	}
	f.backend = all
	return nil
}

// command returns the command line that repeats the sweep.
func (f *sweepFlags) command(recipes []string) []string {
	line := append([]string{"stampede", "sweep"}, recipes...)
	return append(append(line, f.given...), "--seed", fmt.Sprint(f.seed))
}

// check checks the flags that only a sweep has.
func (f *sweepFlags) check() error {
	if f.repeat < 1 {
		return usagef("--repeat %d: must be at least 1", f.repeat)
	}
	if f.slo != "" && f.repeat < 2 {
		return usagef("--repeat %d: must be at least 2 with --slo, to tell how much runs scatter", f.repeat)
	}
	if !(f.worseBy > 1) { // also rejects NaN
		return usagef("--worse-by %v: must be more than 1", f.worseBy)
	}
	return nil
}

// plan describes how long the runs of this number of forms take at the levels.
func (f *sweepFlags) plan(levels []sweeps.Level, forms int) plan {
	p := f.runFlags.plan(forms)
	if f.load.isOpen() {
		p.rate = fmt.Sprintf("open loop: up to %v arrivals/s, %s", levels[len(levels)-1].Rate, f.load.arrival)
	}
	each := f.warmup + f.duration
	p.duration = fmt.Sprintf("%s of %v", counted(f.runs(levels, forms), "run"), each)
	if f.slo != "" {
		p.duration = "about " + p.duration
	}
	return p
}

// runs returns the number of runs; for a search, an estimate.
func (f *sweepFlags) runs(levels []sweeps.Level, forms int) int {
	if f.slo != "" {
		grid := make([]float64, len(levels))
		for i, l := range levels {
			grid[i] = f.axes.of(l, f.axes.swept[0])
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
	outs, err := openOutputs(f.output, results.KindSweep, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	hide, err := a.showRuns(ctx, &s.flags.runFlags)
	if err != nil {
		return err
	}
	defer hide()
	s.flags.announce(a, s.sources, s.flags.plan(s.levels, len(s.forms)))
	return s.finish(outs, s.on(ctx))
}

// newSweep checks everything that can be checked before anything is started.
func (a *app) newSweep(recipes []string, f sweepFlags) (_ *sweep, err error) {
	s := &sweep{app: a, progress: newProgress(a.err, f.quiet)}
	if s.levels, err = f.axes.levels(&f.runFlags, f.slo != ""); err != nil {
		return nil, err
	}
	if err := f.axes.checkMix(&f.runFlags, a.forms, recipes); err != nil {
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
	s.at = map[sweeps.Level]job{}
	for _, l := range s.levels {
		if s.at[l], err = a.job(recipes, f.at(l)); err != nil {
			return nil, err
		}
	}
	first := s.at[s.levels[0]]
	if err := checkUsed(f.security.flags, first.chosen); err != nil {
		return nil, err
	}
	s.forms, s.sources, f.runFlags = first.chosen, first.sources, first.flags
	f.clients = f.axes.clientsOf(s.levels)
	if s.objective, err = f.objective(s.forms); err != nil {
		return nil, err
	}
	s.flags = f
	return s, s.begin(chosenRecipes(s.forms))
}

// takeSeed uses the seed that is given, otherwise that of the sweep to resume, otherwise a new one.
func (s *sweep) takeSeed(f *sweepFlags) (err error) {
	if f.resume != "" {
		if s.resumed, err = readSaved(f.resume); err != nil {
			return usagef("--resume %s: %v", f.resume, err)
		}
		f.seed = cmp.Or(f.seed, s.resumed.Seed)
	}
	f.drawSeed()
	return nil
}

// begin sets the head of the result file, or continues the file of an interrupted sweep.
func (s *sweep) begin(recipes []string) (err error) {
	f, saved := &s.flags, s.resumed
	command := f.command(recipes)
	if f.resume != "" && !slices.Equal(command, saved.Command) {
		return usagef("--resume %s: it is of another sweep: %s", f.resume, strings.Join(saved.Command, " "))
	}
	s.file = results.Sweep{Kind: results.KindSweep, File: results.New(tool(), command, recipes, f.seed),
		Axes: f.axes.swept, Repeat: f.repeat, WorseBy: f.worseBy}
	if s.file.Percentiles, err = parsePercentiles(f.percentiles); err != nil {
		return err
	}
	if f.slo != "" {
		s.file.Objective = s.objective.String()
	}
	if f.resume != "" {
		s.file.ID, s.file.Started = saved.ID, saved.Started
	}
	return nil
}
