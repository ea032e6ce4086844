package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/scenario"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// defaultWarmup is long enough to warm up connections and caches.
const defaultWarmup = 200 * time.Millisecond

// defaultHold is as short as possible while still making other clients wait.
const defaultHold = time.Millisecond

// defaultAbortRate makes most transactions commit, and some abort.
const defaultAbortRate = 0.1

// A runFlags holds the flags of stampede run.
type runFlags struct {
	choice
	hold, think      time.Duration
	duration, warmup time.Duration
	ramp             time.Duration // 0: chosen from the number of clients
	rounds           int64
	groups           int
	revokeEvery      int
	abortRate        float64
	seed             uint64
	queue            workloads.QueueSettings
	output           []string
	load             load
	mix              mixFlags
	background       backgroundFlag
	faults           faultFlags
	saving           saving
	gates            gateFlags
	file             string
	bin              time.Duration // the width of a bin of the herd's time line
	percentiles      string
	repeat           int
	metricsAddr      string
	listen           string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [RECIPE... | -f SCENARIO]",
		Short: "Run recipes under load and show what each form costs",
		Long: `Run drives clients through a recipe in each of the chosen forms, one run after
the other, and shows them side by side. It checks in the same run that the form
kept its promise. Without arguments: the lock, its herd-avoiding and its naive
form, on a server of its own, in less than 20 seconds.

A mix is no recipe but raw operations, of which none waits for another client: by
itself (run mix) it shows what the service can do, and beside a recipe
(--background) what a herd does to clients that have nothing to do with it.

With -f it does what a scenario file says, or one that comes with stampede, and
puts it all in one result. Flags that are given win over the file.`,
		Example: `  stampede run
  stampede run lock --form all --clients 2,8,64 --hold 0
  stampede run lock --backend native: --backend zookeeper:
  stampede run mix --reads 0.5 --size 100 --clients 8,64
  stampede run lock --background reads=0.9,rate=1000
  stampede run lock --backend zookeeper://zk1:2181,zk2:2181/bench -o table -o json=lock.json
  stampede run -f quick`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			if f.file != "" {
				return a.runFile(cmd, args, f)
			}
			return a.run(cmd.Context(), args, f)
		},
	}
	f.register(a, cmd)
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "scenario `FILE`, or the name of one that stampede list shows")
	must(cmd.RegisterFlagCompletionFunc("file", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return scenario.Names(), cobra.ShellCompDirectiveDefault // scenario files are files too
	}))
	return cmd
}

func (f *runFlags) register(a *app, cmd *cobra.Command) {
	f.choice.register(a, cmd, []string{"native:"}, []int{2, 8, 32, 128})
	flags := cmd.Flags()
	flags.DurationVar(&f.hold, "hold", defaultHold, "how long a holder keeps what it got")
	flags.IntVar(&f.groups, "groups", 1, "how many locks, queues and so on there are, with as many of the clients each")
	f.registerFixed(cmd, 1800*time.Millisecond, results.KindRun)
	registerPercentiles(flags, &f.percentiles)
	flags.IntVar(&f.repeat, "repeat", 1, "how many times all runs are done; from 6 on every figure has a 95 % interval")
	f.saving.register(cmd)
	f.gates.register(cmd)
}

// registerFixed adds the flags whose values are the same at all levels of a sweep.
func (f *runFlags) registerFixed(cmd *cobra.Command, duration time.Duration, kind string) {
	flags := cmd.Flags()
	flags.DurationVar(&f.think, "think", 0, "how long a client rests between two rounds")
	flags.DurationVar(&f.duration, "duration", duration, "how long each run is measured, at least; a closed loop until 30 rounds have ended, at most 10 times as long and no longer than 30s")
	flags.DurationVar(&f.warmup, "warmup", defaultWarmup, "how long each run is driven before it is measured, at least; a closed loop until its throughput is steady, at most 5 times as long (15s in the first run on a started ZooKeeper or etcd)")
	flags.DurationVar(&f.ramp, "ramp", 0, "how long the clients of a closed loop take to arrive, one after the other, before the warm-up (default: as long as their number calls for)")
	flags.Int64Var(&f.rounds, "rounds", 0, "measure so many rounds instead of --duration")
	flags.IntVar(&f.revokeEvery, "revoke-every", workloads.DefaultRevokeEvery, "how many rounds of a revocable lock there are to each that begins by revoking it")
	flags.Float64Var(&f.abortRate, "abort-rate", defaultAbortRate, "the share of two-phase commits in which a site votes to abort, 0 to 1")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every random choice (default: a new one, which is shown)")
	registerQueue(flags, &f.queue)
	f.mix.register(cmd)
	flags.StringVar(&f.background.text, "background", "", backgroundUsage)
	f.load.register(cmd)
	f.faults.register(flags)
	flags.DurationVar(&f.bin, "bin", metrics.DefaultBin, "how wide the bins of the herd's time line are, of which a result file has 100")
	registerOutput(cmd, &f.output, kind)
	registerMetrics(flags, &f.metricsAddr)
	registerLive(flags, &f.listen)
}

func (f *runFlags) check() error {
	for name, d := range map[string]time.Duration{"hold": f.hold, "think": f.think, "ramp": f.ramp, "warmup": f.warmup} {
		if err := checkDuration(name, d, 0); err != nil {
			return err
		}
	}
	if f.rounds < 0 {
		return usagef("--rounds %d: must be positive, or 0 to go by --duration", f.rounds)
	}
	if err := checkGroups(f.groups, f.clients); err != nil {
		return err
	}
	if f.revokeEvery < 1 {
		return usagef("--revoke-every %d: must be at least 1", f.revokeEvery)
	}
	if !(f.abortRate >= 0 && f.abortRate <= 1) { // also rejects NaN
		return usagef("--abort-rate %v: must be between 0 and 1", f.abortRate)
	}
	if err := checkQueue(f.queue); err != nil {
		return err
	}
	if err := f.load.check(f.think, f.ramp); err != nil {
		return err
	}
	if f.bin < metrics.ShortestBin || f.bin > metrics.LongestBin {
		return usagef("--bin %v: must be from %v to %v", f.bin, metrics.ShortestBin, metrics.LongestBin)
	}
	if f.load.isOpen() && f.rounds > 0 {
		f.duration = f.load.windowOf(f.rounds)
	}
	return checkDuration("duration", f.duration, 10*time.Millisecond)
}

// windowRounds returns the number of rounds after which a run's window ends, or 0 if rounds do not
// end it. In an open loop, rounds are arrivals, and their number determines the window's length.
func (f *runFlags) windowRounds() int64 {
	if f.load.isOpen() {
		return 0
	}
	return f.rounds
}

func (a *app) run(ctx context.Context, recipes []string, f runFlags) error {
	f.drawSeed()
	j, err := a.job(recipes, f)
	if err != nil {
		return err
	}
	if err := checkUsed(f.security.flags, j.chosen); err != nil {
		return err
	}
	asked, err := f.gates.resolve(rowsOf([]job{j}), nil)
	if err != nil {
		return err
	}
	about := chosenRecipes(j.chosen)
	return a.perform(ctx, f, results.New(tool(), j.flags.command(about), about, f.seed), []job{j}, asked)
}

// verdictOn returns the error for runs that completed with a finding although no checks were
// requested.
func verdictOn(runs []results.Run) error { return decided(gate.Found(runs), false) }

// interrupted returns workloads.ErrInterrupted instead of err if the context has ended.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return workloads.ErrInterrupted
	}
	return err
}

func chosenRecipes(forms []catalog.Choice) []string {
	var names []string
	for _, f := range forms {
		if !slices.Contains(names, f.Recipe) {
			names = append(names, f.Recipe)
		}
	}
	return names
}
