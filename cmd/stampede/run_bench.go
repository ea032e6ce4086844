package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/workloads"
)

// perform does the jobs one after the other, writes all their runs into one result and judges it.
// The flags say where the result goes.
func (a *app) perform(ctx context.Context, f spec.Flags, file results.File, jobs []spec.Job, asked spec.Checks) error {
	if err := f.Saving.Check(); err != nil {
		return err
	}
	if err := f.CheckAgents(jobs); err != nil {
		return err
	}
	if err := asked.CheckFollowed(&f, jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.Flags.Repeat < 1 {
			return cli.Flagf("repeat", "%d: must be at least 1", j.Flags.Repeat)
		}
	}
	var err error
	if file.Percentiles, err = spec.ParsePercentiles(f.Percentiles); err != nil {
		return err
	}
	file.Marks = f.Saving.Marks()
	outs, err := f.Output.Open(results.KindRun, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	if f.DryRun {
		for _, j := range jobs {
			j.Flags.WritePlan(a.out, j.Sources, j.Announcement())
		}
		return a.dryRun()
	}
	hide, err := a.observeRuns(ctx, &f)
	if err != nil {
		return err
	}
	defer hide()
	b := &bench{app: a, progress: newProgress(a.err, f.Quiet, &a.course), file: file, abort: abortConditions{conditions: asked.Aborts}}
	dismiss, err := a.gather(ctx, f.Agents, f.ConnectTimeout, b.progress)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		j.Flags.Announce(a.err, j.Sources, j.Announcement())
	}
	a.course.begin(workOfAll(jobs), 0)
	began := time.Now()
	runErr := errors.Join(b.runAll(ctx, jobs), dismiss())
	b.file.Took = time.Since(began)
	b.progress.clear()
	broken := runErr != nil && !errors.Is(runErr, workloads.ErrInterrupted)
	if broken && len(b.file.Runs) == 0 {
		return runErr
	}
	b.file.Interrupted = runErr != nil
	levels.Summarize(&b.file)
	asked.Judge(&b.file, b.abort.fired)
	if err := a.saveAndWrite(&f.Saving, outs, b.file); err != nil {
		return err
	}
	if broken { // the runs before the failure have been written
		return runErr
	}
	return a.conclude(asked, b.file, outs)
}

// dryRun ends a command that has printed its plan.
func (a *app) dryRun() error {
	fmt.Fprintln(a.out, spec.NothingStarted)
	return nil
}

// A bench is the state of one stampede run.
type bench struct {
	*app
	spec.Job       // the job in progress
	repetition int // the repetition in progress, counted from 0
	progress   *progress
	file       results.File
	abort      abortConditions
}

func (b *bench) runAll(ctx context.Context, jobs []spec.Job) error {
	for _, b.Job = range jobs {
		for _, s := range b.Sources {
			if err := b.runOn(ctx, s); err != nil {
				return b.Flags.Explained(s, err)
			}
		}
	}
	return nil
}

// workOfAll returns how long each run of the jobs is asked to take, in the order of runAll.
func workOfAll(jobs []spec.Job) (work []time.Duration) {
	for _, j := range jobs {
		runs := len(j.Sources) * j.Flags.Repeat * len(j.Flags.Clients) * len(j.Chosen)
		work = append(work, slices.Repeat([]time.Duration{workOf(&j.Flags)}, runs)...)
	}
	return work
}

func (b *bench) runOn(ctx context.Context, s spec.Source) (err error) {
	b.progress.note("opening " + s.Name)
	service, err := dial(ctx, s, b.Flags.ConnectTimeout)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = cmp.Or(err, service.Close()) }()
	forms, skipped, err := service.served(b.Chosen)
	if err != nil {
		return err
	}
	b.file.Skipped = append(b.file.Skipped, skipped...)
	b.course.leaveOut((len(b.Chosen) - len(forms)) * b.Flags.Repeat * len(b.Flags.Clients))
	b.adviseClient(service.Service, forms)
	for b.repetition = range b.Flags.Repeat {
		for _, clients := range b.Flags.Clients {
			b.expect(service.Info(), forms, clients)
			if err := b.runLevel(ctx, service.Service, forms, clients); err != nil {
				return err
			}
		}
	}
	return nil
}

// manySessions is the number of sessions above which stampede recommends the lean client.
const manySessions = 1000

// adviseClient recommends the lean client, in one line for each backend.
func (b *bench) adviseClient(s drivers.Service, forms []workloads.Form) {
	most := slices.Max(b.Flags.Clients)
	heavy := func(f workloads.Form) bool { return f.ServiceFor(s).Info().Client == zookeeper.Client }
	if most > manySessions && !b.Flags.Quiet && slices.ContainsFunc(forms, heavy) {
		fmt.Fprintf(b.err, "stampede: %s sessions through %s hold 3 MiB of buffers each, and through %s a few KiB\n",
			units.Count(int64(most)), zookeeper.Client, lean.Client)
	}
}

// runForm does a run and gives it the nth place in the file.
func (b *bench) runForm(ctx context.Context, s drivers.Service, form workloads.Form, clients, nth int) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s = form.ServiceFor(s)
	row := results.Run{Scenario: b.Scenario, Recipe: form.Recipe, Form: form.Name, Family: string(form.Family),
		Backend: results.Backend(s.Info()), Clients: clients}
	aborting := b.abort.following(row, len(b.file.Runs), end)
	run, err := b.runOnce(ctx, &b.Flags, s, form, clients, nth, b.progress.following(form, clients, b.Flags), aborting)
	b.course.end(1)
	if run != nil {
		run.Scenario, run.Order = b.Scenario, len(b.file.Runs)+1
		if b.Flags.Repeat > 1 {
			run.Repetition = b.repetition + 1
		}
		b.file.Runs = append(b.file.Runs, *run)
	}
	if err == nil && b.abort.ended(*run, len(b.file.Runs)-1) {
		return workloads.ErrInterrupted
	}
	return err
}

// expect announces the next runs to the observers.
func (b *bench) expect(on drivers.Info, forms []workloads.Form, clients int) {
	var next []results.Setting
	for _, form := range forms {
		next = append(next, results.Setting{Recipe: form.Recipe, Form: form.Name, Family: string(form.Family),
			Backend: on, Clients: clients, Groups: b.Flags.Run.Groups})
	}
	for _, o := range b.observers {
		if o.expect != nil && len(next) > 0 {
			o.expect(next)
		}
	}
}

// runLevel runs the forms with a number of clients in an order drawn from the seed, so that it is
// not always the same form that meets the coldest server. The file lists the runs in the order of
// the forms.
func (b *bench) runLevel(ctx context.Context, s drivers.Service, forms []workloads.Form, clients int) error {
	from := len(b.file.Runs)
	place := make(map[int]int) // the form's place, by the run's order
	for _, i := range orderOf(len(forms), b.Flags.Seed, from) {
		place[len(b.file.Runs)+1] = i
		if err := b.runForm(ctx, s, forms[i], clients, from+i); err != nil {
			b.sortRuns(from, place)
			return err
		}
	}
	b.sortRuns(from, place)
	return nil
}

// orderOf returns an order of n forms whose runs begin at the given place in the file.
func orderOf(n int, seed uint64, from int) []int {
	return rand.New(rand.NewPCG(seed, ^uint64(from))).Perm(n)
}

// sortRuns sorts the runs after the given place by the place of their form. Abort conditions that
// fired for a run follow it to its new place.
func (b *bench) sortRuns(from int, place map[int]int) {
	level := b.file.Runs[from:]
	slices.SortFunc(level, func(x, y results.Run) int { return place[x.Order] - place[y.Order] })
	for i, g := range b.abort.fired {
		if at := slices.IndexFunc(level, func(r results.Run) bool { return r.Order == g.Run+1 }); at >= 0 {
			b.abort.fired[i].Run = from + at
		}
	}
}
