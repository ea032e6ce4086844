package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/pipeline"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/scenario"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/cost"
)

// defaultWarmup lets connections and caches get warm.
const defaultWarmup = 200 * time.Millisecond

// defaultHold is as short as it can be and yet keep others waiting.
const defaultHold = time.Millisecond

// defaultAbortRate has most transactions commit, and some abort.
const defaultAbortRate = 0.1

// A runFlags is what a person asked of stampede run.
type runFlags struct {
	choice
	hold, think      time.Duration
	duration, warmup time.Duration
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
	saving           saving
	gates            gateFlags
	file             string
	bin              time.Duration // of the herd's time line
	showing          showing
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
		return scenario.Names(), cobra.ShellCompDirectiveDefault // which are files
	}))
	return cmd
}

func (f *runFlags) register(a *app, cmd *cobra.Command) {
	f.choice.register(a, cmd, []string{"native:"}, []int{2, 8, 32, 128})
	flags := cmd.Flags()
	flags.DurationVar(&f.hold, "hold", defaultHold, "how long a holder keeps what it got")
	flags.IntVar(&f.groups, "groups", 1, "how many locks, queues and so on there are, with as many of the clients each")
	f.registerFixed(cmd, 1800*time.Millisecond, results.KindRun)
	f.saving.register(cmd)
	f.gates.register(cmd)
}

// registerFixed adds the flags of what is the same at all levels of a sweep.
func (f *runFlags) registerFixed(cmd *cobra.Command, duration time.Duration, kind string) {
	flags := cmd.Flags()
	flags.DurationVar(&f.think, "think", 0, "how long a client rests between two rounds")
	flags.DurationVar(&f.duration, "duration", duration, "how long each run is measured")
	flags.DurationVar(&f.warmup, "warmup", defaultWarmup, "how long each run goes on before it is measured")
	flags.Int64Var(&f.rounds, "rounds", 0, "measure so many rounds instead of --duration")
	flags.IntVar(&f.revokeEvery, "revoke-every", workloads.DefaultRevokeEvery, "how many rounds of a revocable lock there are to each that begins by revoking it")
	flags.Float64Var(&f.abortRate, "abort-rate", defaultAbortRate, "the share of two-phase commits in which a site votes to abort, 0 to 1")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of every random choice (default: a new one, which is shown)")
	registerQueue(flags, &f.queue)
	f.mix.register(cmd)
	flags.StringVar(&f.background.text, "background", "", backgroundUsage)
	f.load.register(cmd)
	flags.DurationVar(&f.bin, "bin", metrics.DefaultBin, "how wide the bins of the herd's time line are, of which a result file has 100")
	registerOutput(cmd, &f.output, kind)
	registerMetrics(flags, &f.showing.addr)
}

func (f *runFlags) check() error {
	for name, d := range map[string]time.Duration{"hold": f.hold, "think": f.think, "warmup": f.warmup} {
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
	if !(f.abortRate >= 0 && f.abortRate <= 1) { // nor is NaN
		return usagef("--abort-rate %v: must be between 0 and 1", f.abortRate)
	}
	if err := checkQueue(f.queue); err != nil {
		return err
	}
	if err := f.load.check(f.think); err != nil {
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

// windowRounds is how many rounds end a run's window, 0 if they do not. In an
// open loop they are arrivals, which come in their time.
func (f *runFlags) windowRounds() int64 {
	if f.load.isOpen() {
		return 0
	}
	return f.rounds
}

// command is the line that does the same again, without what is secret.
func (f *runFlags) command(recipes []string) []string {
	line := append([]string{"stampede", "run"}, recipes...)
	line = append(line, f.targets.arguments()...)
	line = append(line, f.mix.words(f.reads)...)
	if f.background.text != "" {
		line = append(line, "--background", f.background.text)
	}
	if f.maxSessions != maxSessions {
		line = append(line, "--max-sessions", fmt.Sprint(f.maxSessions))
	}
	if len(f.form) > 0 {
		line = append(line, "--form", strings.Join(f.form, ","))
	}
	line = append(line, "--clients", strings.Trim(strings.ReplaceAll(fmt.Sprint(f.clients), " ", ","), "[]"),
		"--hold", f.hold.String())
	if f.groups != 1 {
		line = append(line, "--groups", fmt.Sprint(f.groups))
	}
	if f.readers != workloads.DefaultReaders {
		line = append(line, "--readers", fmt.Sprint(f.readers))
	}
	if f.revokeEvery != workloads.DefaultRevokeEvery {
		line = append(line, "--revoke-every", fmt.Sprint(f.revokeEvery))
	}
	if f.abortRate != defaultAbortRate {
		line = append(line, "--abort-rate", fmt.Sprint(f.abortRate))
	}
	line = append(line, queueWords(f.queue)...)
	line = append(line, f.load.words()...)
	if f.think > 0 {
		line = append(line, "--think", f.think.String())
	}
	if f.warmup != defaultWarmup {
		line = append(line, "--warmup", f.warmup.String())
	}
	if f.bin != metrics.DefaultBin {
		line = append(line, "--bin", f.bin.String())
	}
	if f.rounds > 0 {
		line = append(line, "--rounds", fmt.Sprint(f.rounds))
	} else {
		line = append(line, "--duration", f.duration.String())
	}
	line = append(line, f.gates.words()...)
	return append(line, "--seed", fmt.Sprint(f.seed))
}

// plan says how long all runs of so many forms take.
func (f *runFlags) plan(forms int) plan {
	runs := len(f.clients) * forms
	p := plan{rate: f.load.plan(), background: f.background.plan(), nodes: f.mix.nodes + f.background.Mix.Keys}
	switch {
	case f.rounds > 0:
		p.duration = fmt.Sprintf("%s of %s after %v", counted(runs, "run"), counted(int(f.rounds), "round"), f.warmup)
	default:
		each := f.warmup + f.duration
		p.duration = fmt.Sprintf("%s of %v: about %v", counted(runs, "run"), each, time.Duration(runs)*each)
	}
	return p
}

func (a *app) run(ctx context.Context, recipes []string, f runFlags) error {
	f.drawSeed()
	j, err := a.job(recipes, f)
	if err != nil {
		return err
	}
	asked, err := f.gates.resolve(rowsOf([]job{j}), nil)
	if err != nil {
		return err
	}
	about := chosenRecipes(j.chosen)
	return a.perform(ctx, f, results.New(tool(), j.flags.command(about), about, f.seed), []job{j}, asked)
}

func (f *runFlags) drawSeed() {
	if f.seed == 0 {
		f.seed = rand.Uint64N(1 << 32)
	}
}

// perform does the jobs one after the other, all into one file, and judges that.
// The flags say where it goes.
func (a *app) perform(ctx context.Context, f runFlags, file results.File, jobs []job, asked docket) error {
	outs, err := openOutputs(f.output, results.KindRun, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	hide, err := f.showing.start(ctx, a)
	if err != nil {
		return err
	}
	defer hide()
	for i, j := range jobs {
		jobs[i].flags.showing = f.showing
		j.flags.announce(a, j.sources, j.flags.plan(len(j.chosen)))
	}
	b := &bench{app: a, progress: newProgress(a.err, f.quiet), file: file, alarm: alarm{asked.aborts, nil}}
	began := time.Now()
	runErr := b.runAll(ctx, jobs)
	b.file.Took = time.Since(began)
	b.progress.clear()
	if runErr != nil && !errors.Is(runErr, workloads.ErrInterrupted) {
		return runErr
	}
	b.file.Interrupted = runErr != nil
	asked.judge(&b.file, b.alarm.went)
	saved, unsaved := f.saving.keep(b.file)
	if err := outs.write(b.file, saved); err != nil {
		return err
	}
	if unsaved != nil {
		fmt.Fprintf(a.err, "stampede: warning: %v\n", unsaved)
	}
	return a.conclude(asked, b.file, outs)
}

// A bench is one stampede run under way.
type bench struct {
	*app
	job      // under way
	progress *progress
	file     results.File
	alarm    alarm
}

func (b *bench) runAll(ctx context.Context, jobs []job) error {
	for _, b.job = range jobs {
		for _, s := range b.sources {
			if err := b.runOn(ctx, s); err != nil {
				return b.flags.explained(s, err)
			}
		}
	}
	return nil
}

func (b *bench) runOn(ctx context.Context, s source) (err error) {
	b.progress.note("opening %s", s.name)
	service, err := b.flags.dial(ctx, s)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() {
		if e := service.Close(); err == nil {
			err = e
		}
	}()
	forms, skipped, err := service.served(b.chosen)
	if err != nil {
		return err
	}
	b.file.Skipped = append(b.file.Skipped, skipped...)
	b.adviseClient(service.Info())
	for _, clients := range b.flags.clients {
		for _, form := range forms {
			if err := b.runForm(ctx, service.Service, form, clients); err != nil {
				return err
			}
		}
	}
	return nil
}

// manySessions is how many are better opened through the client that is made for
// that many.
const manySessions = 1000

// adviseClient says so, in one line for each backend.
func (b *bench) adviseClient(i drivers.Info) {
	if most := slices.Max(b.flags.clients); most > manySessions && i.Client == zookeeper.Client && !b.flags.quiet {
		fmt.Fprintf(b.err, "stampede: %s sessions through %s hold 3 MiB of buffers each: with ?client=%s in the backend's URL a few KiB\n",
			results.Count(int64(most)), i.Client, pipeline.Client)
	}
}

func (b *bench) runForm(ctx context.Context, s drivers.Service, form workloads.Form, clients int) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	row := results.Run{Scenario: b.scenario, Recipe: form.Recipe, Form: form.Name, Family: string(form.Family),
		Backend: results.Backend(s.Info()), Clients: clients}
	run, err := b.flags.measure(ctx, s, form, clients, func(p workloads.Progress) {
		b.progress.run(form, clients, b.flags, p)
		if b.alarm.heeds(underWay(row, p), len(b.file.Runs), figuresUnderWay(p)) {
			end()
		}
	})
	if run != nil {
		run.Scenario = b.scenario
		b.file.Runs = append(b.file.Runs, *run)
	}
	if err == nil && b.alarm.heeds(*run, len(b.file.Runs)-1, nil) {
		return workloads.ErrInterrupted
	}
	return err
}

// measure does one run. Of one that was interrupted it returns what was measured
// until then, nil if nothing was.
func (f *runFlags) measure(ctx context.Context, s drivers.Service, form workloads.Form, clients int, tell func(workloads.Progress)) (*results.Run, error) {
	p := workloads.Plan{
		Service: s, Form: form, Clients: clients, Groups: f.groups,
		Settings: workloads.Settings{Hold: f.hold, Think: f.think, Namespace: f.namespace,
			Readers: f.readers, RevokeEvery: f.revokeEvery, AbortRate: f.abortRate, Queue: f.queue,
			Mix: f.mix.MixSettings},
		Preload: f.mix.preload, Background: f.background.Background,
		Warmup: f.warmup, Duration: f.duration, Rounds: f.windowRounds(), Seed: f.seed, Open: f.load.open, Bin: f.bin,
		Progress: tell,
	}
	end := f.showing.watch(&p)
	record, err := workloads.Run(ctx, p)
	end(record)
	if record == nil {
		return nil, interrupted(ctx, err)
	}
	setting := results.Setting{
		Recipe: form.Recipe, Form: form.Name, Family: string(form.Family), Backend: s.Info(), Clients: clients, Groups: f.groups,
		Open: f.load.setting(), Hold: p.Settings.Hold, Think: p.Settings.Think, Warmup: p.Warmup,
		Reads: f.mix.Reads, Background: f.background.setting(), Expected: expected(form, p, record),
	}
	if form.Recipe == "mix" {
		setting.Mix = f.mix.setting()
	}
	if p := f.mix.preload; p.Nodes > 0 {
		setting.Preload = &results.Preload{Nodes: p.Nodes, Watches: p.Watches}
	}
	run := results.FromRecord(setting, record)
	return &run, err
}

// expected holds a run's counts against what is true of the form under any
// schedule. That is said of whole, undisturbed rounds: a lost reply costs a read
// more.
func expected(form workloads.Form, p workloads.Plan, r *metrics.Record) *results.Expected {
	model, ok := cost.Of(form.Recipe, form.Name)
	if !ok || r.Disturbed {
		return nil
	}
	e := &results.Expected{}
	if v, known := model.NotificationsPerRound(form.Recipe, p.Settings.Params(p.Clients/max(p.Groups, 1))); known {
		e.NotificationsPerRound = &v
	}
	for _, i := range model.Identities {
		left, right, holds := i.Check(r.Whole, r.WholeRounds)
		e.Identities = append(e.Identities, results.Identity{Formula: i.Formula, Left: left, Right: right, Holds: holds})
	}
	return e
}

// verdictOn is the error of runs that went through and found something although
// nothing was asked of them.
func verdictOn(runs []results.Run) error { return decided(gate.Found(runs), false) }

// interrupted makes an error that came because the context ended an interruption.
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
