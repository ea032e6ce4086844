package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/dashboards/live"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

func (a *app) runCommand() *cobra.Command {
	var f spec.Flags
	cmd := &cobra.Command{
		Use:   "run [RECIPE... | -f SCENARIO]",
		Short: "Run recipes under load and show what each form costs",
		Long: `Run runs a recipe with many clients, in each of the chosen forms one after the other,
shows them side by side, and checks safety in the same run. Without arguments it runs
the lock in its herd-avoiding and its naive form on a server that it starts, in about
20 seconds.

A mix is a load of plain reads and writes. By itself (run mix) it measures the
service; as a background of a recipe (--background) it shows what a herd does to
clients that take no part in it.

With -f it runs a scenario file, your own or one that comes with stampede, and writes
one result. Flags on the command line take precedence over the file.`,
		Example: `  stampede run
  stampede run lock --form all --clients 2,8,64 --hold 0
  stampede run lock --backend native: --backend zookeeper:
  stampede run mix --reads 0.5 --size 100 --clients 8,64
  stampede run lock --background reads=0.9,rate=1000
  stampede run lock --backend zookeeper://zk1:2181,zk2:2181/bench -o table -o json=lock.json
  stampede run -f quick`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.File != "" {
				return a.runFile(cmd, args, f)
			}
			return a.run(cmd.Context(), args, f)
		},
	}
	f.Register(a.forms, cmd)
	cmd.Flags().StringVarP(&f.File, "file", "f", "", "scenario `FILE`, or the name of one in stampede list")
	cli.Must(cmd.RegisterFlagCompletionFunc("file", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return scenario.Names(), cobra.ShellCompDirectiveDefault // scenario files are files too
	}))
	return cmd
}

func (a *app) run(ctx context.Context, recipes []string, f spec.Flags) error {
	f.DrawSeed()
	j, err := spec.NewJob(a.forms, recipes, f)
	if err != nil {
		return err
	}
	if err := spec.CheckUsed(f.Security.Flags, j.Chosen); err != nil {
		return err
	}
	asked, err := f.Judging.Resolve(spec.RowsOf([]spec.Job{j}), nil)
	if err != nil {
		return err
	}
	about := spec.ChosenRecipes(j.Chosen)
	return a.perform(ctx, f, results.New(tool(), j.Flags.Command(about), about, f.Seed), []spec.Job{j}, asked)
}

func (a *app) completeRecipes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append(catalog.Recipes(a.forms), catalog.All), cobra.ShellCompDirectiveNoFileComp
}

// runOnce measures one run with the flags, the nth of its command, counted from 0. The run has its
// own seed. If the run is interrupted, runOnce returns what was measured until then, or nil if
// nothing was.
func (a *app) runOnce(ctx context.Context, f *spec.Flags, s drivers.Service, form workloads.Form, clients, nth int, observers ...observer) (*results.Run, error) {
	p := f.Plan(s, form, clients, nth)
	a.warm(&p)
	setting := f.Recorded(p)
	setting.Ceiling = noise.File(spec.SavedNoise).Ceiling(results.ThisHost(), setting.Backend.Client)
	measure := a.runHere
	if a.fleet != nil {
		measure = a.runOnAgents
	}
	run, err := measure(ctx, p, setting, observers)
	a.reportRemaining(ctx, run, err)
	if run == nil {
		return nil, interrupted(ctx, err)
	}
	return run, err
}

// runHere measures one run whose clients this process has.
func (a *app) runHere(ctx context.Context, p workloads.Plan, s results.Setting, observers []observer) (*results.Run, error) {
	record, err := a.drive(ctx, observedRun{p, s}, observers)
	if record == nil {
		return nil, err
	}
	s.Expected = spec.Expected(p.Form, p, record)
	run := results.FromRecord(s, record)
	return &run, err
}

// reportRemaining says that nodes may remain, unless the error of the command will.
func (a *app) reportRemaining(ctx context.Context, run *results.Run, err error) {
	text := ""
	if left := new(namespace.RemainError); run == nil && ctx.Err() != nil && errors.As(err, &left) {
		text = left.Error()
	}
	for _, w := range remaining(run) {
		text = w.Text
	}
	if text != "" {
		newProgress(a.err, false, &a.course).clear()
		fmt.Fprintf(a.err, "stampede: warning: %s\n", text)
	}
}

// remaining returns the warnings that nodes of the run, which may be nil, remain.
func remaining(run *results.Run) (all []results.Warning) {
	if run == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(run.Warnings), func(w results.Warning) bool { return w.Code != metrics.NodesRemain })
}

const (
	// warmUpRuns bounds the warm-up to this many times --warmup while throughput is not steady.
	warmUpRuns = 5
	// coldLimit is the same bound for the first run on a server that the command has just started.
	coldLimit = 15 * time.Second
)

// warm sets how long a run may warm up until its throughput is steady. The first run on a server
// that has just been started may take longer, except on the native server, which is compiled ahead
// of time and has less to warm up.
func (a *app) warm(p *workloads.Plan) {
	i := p.Service.Info()
	p.WarmupLimit = warmUpRuns * p.Warmup
	if p.Cold = !a.used[p.Service] && i.Started != "" && i.Name != "native"; p.Cold && p.Warmup > 0 {
		p.WarmupLimit = max(p.WarmupLimit, coldLimit)
	}
	if a.used == nil {
		a.used = make(map[drivers.Service]bool)
	}
	a.used[p.Service] = true
}

// openPage shows the runs on a page, if there is an address, until the returned function is called.
func (a *app) openPage(addr string) (close func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	page := live.New(a.interrupt)
	e, err := live.Serve(addr, page)
	if err != nil {
		page.Close()
		return nil, cli.Usagef("--%s %s: cannot show a page there: %w", spec.ListenFlag, addr, cli.WithoutAddress(err))
	}
	fmt.Fprintf(a.err, "stampede: live page: %s\n", e.URL)
	if !e.Local {
		fmt.Fprintf(a.err, "stampede: warning: --%s %s: anyone who can reach it can watch the runs and stop them\n", spec.ListenFlag, addr)
	}
	a.page, a.observers = page, append(a.observers, showing(page, &a.course))
	return e.Close, nil
}
