package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// perform does the jobs one after the other, writes all their runs into one result and judges it.
// The flags say where the result goes.
func (a *app) perform(ctx context.Context, f runFlags, file results.File, jobs []job, asked docket) error {
	if err := f.saving.check(); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.flags.repeat < 1 {
			return usagef("--repeat %d: must be at least 1", j.flags.repeat)
		}
	}
	var err error
	if file.Percentiles, err = parsePercentiles(f.percentiles); err != nil {
		return err
	}
	outs, err := openOutputs(f.output, results.KindRun, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	hide, err := a.showRuns(ctx, &f)
	if err != nil {
		return err
	}
	defer hide()
	for _, j := range jobs {
		j.flags.announce(a, j.sources, j.flags.plan(len(j.chosen)))
	}
	b := &bench{app: a, progress: newProgress(a.err, f.quiet), file: file, alarm: alarm{asked.aborts, nil}}
	began := time.Now()
	runErr := b.runAll(ctx, jobs)
	b.file.Took = time.Since(began)
	b.progress.clear()
	broken := runErr != nil && !errors.Is(runErr, workloads.ErrInterrupted)
	if broken && len(b.file.Runs) == 0 {
		return runErr
	}
	b.file.Interrupted = runErr != nil
	b.file.Summarize()
	asked.judge(&b.file, b.alarm.went)
	saved, unsaved := f.saving.keep(b.file)
	if err := outs.write(b.file, saved); err != nil {
		return err
	}
	if unsaved != nil {
		fmt.Fprintf(a.err, "stampede: warning: %v\n", unsaved)
	}
	if broken { // the runs before the failure have been written
		return runErr
	}
	return a.conclude(asked, b.file, outs)
}

// A bench is the state of one stampede run.
type bench struct {
	*app
	job            // the job in progress
	repetition int // the repetition in progress, counted from 0
	progress   *progress
	file       results.File
	alarm      alarm
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
	for b.repetition = range b.flags.repeat {
		for _, clients := range b.flags.clients {
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
func (b *bench) adviseClient(i drivers.Info) {
	if most := slices.Max(b.flags.clients); most > manySessions && i.Client == zookeeper.Client && !b.flags.quiet {
		fmt.Fprintf(b.err, "stampede: %s sessions through %s hold 3 MiB of buffers each: with ?client=%s in the backend's URL a few KiB\n",
			results.Count(int64(most)), i.Client, lean.Client)
	}
}

// runForm does a run and gives it the nth place in the file.
func (b *bench) runForm(ctx context.Context, s drivers.Service, form workloads.Form, clients, nth int) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	row := results.Run{Scenario: b.scenario, Recipe: form.Recipe, Form: form.Name, Family: string(form.Family),
		Backend: results.Backend(s.Info()), Clients: clients}
	run, err := b.runOnce(ctx, &b.flags, s, form, clients, nth, func(p workloads.Progress) {
		b.progress.run(form, clients, b.flags, p)
		if b.alarm.heeds(underWay(row, p), len(b.file.Runs), figuresUnderWay(p)) {
			end()
		}
	})
	if run != nil {
		run.Scenario, run.Order = b.scenario, len(b.file.Runs)+1
		if b.flags.repeat > 1 {
			run.Repetition = b.repetition + 1
		}
		b.file.Runs = append(b.file.Runs, *run)
	}
	if err == nil && b.alarm.heeds(*run, len(b.file.Runs)-1, nil) {
		return workloads.ErrInterrupted
	}
	return err
}
