package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A countFlags holds the flags of stampede count.
type countFlags struct {
	spec.Selection
	polls  int
	items  int
	trace  bool
	output outputs.Flags
	saving spec.Saving
	given  []string // the flags that differ from their defaults, as words of a command line
}

func (a *app) countCommand() *cobra.Command {
	var f countFlags
	cmd := &cobra.Command{
		Use:   "count [RECIPE...]",
		Short: "Count exactly what each form costs at rest, and compare it with the cost model",
		Long: `Count runs each form one step at a time and lets every client settle in
between: all clients arrive one after the other, then all release one after the
other. The counts on the wire depend on the form alone, not on the machine, and must
equal the cost model; exit code 98 means that one differs.

Without --backend it uses a server inside this process, and takes no time.`,
		Example: `  stampede count
  stampede count lock --form all --clients 2,8,32
  stampede count lock --clients 3 --trace
  stampede count lock --backend zookeeper: --clients 8`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = spec.Changed(cmd.Flags())
			return a.count(cmd.Context(), args, f)
		},
	}
	f.Selection.Register(a.forms, cmd, nil, []int{4, 8, 16, 32})
	flags := cmd.Flags()
	flags.IntVar(&f.polls, "polls", 1, "number of times that each waiter of a polling form looks during one hold")
	flags.IntVar(&f.items, "items", 4, "number of items in a queue when the first client arrives")
	flags.BoolVar(&f.trace, "trace", false, "print each step: which client wrote, which clients it woke, and which of them proceeded or waited again")
	f.output.Register(cmd, results.KindCount)
	f.saving.Register(cmd)
	return cmd
}

func (f countFlags) settings() workloads.Settings {
	return workloads.Settings{Polls: f.polls, Readers: f.Readers, Namespace: f.Namespace, ConnectTimeout: f.ConnectTimeout,
		Queue: workloads.QueueSettings{Items: f.items}}
}

func (a *app) count(ctx context.Context, recipes []string, f countFlags) error {
	forms, sources, err := f.Selection.Resolve(a.forms, recipes)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(forms, func(c catalog.Choice) bool { return c.Family == workloads.Load }); i >= 0 {
		return cli.Usagef("%s is not a recipe and has no cost to count: use stampede run %[1]s", forms[i].Recipe)
	}
	if err := spec.CheckUsed(f.Security.Flags, forms); err != nil {
		return err
	}
	if f.polls < 1 {
		return cli.Flagf("polls", "%d: must be at least 1", f.polls)
	}
	if f.items < 0 {
		return cli.Flagf("items", "%d: must be 0 or more", f.items)
	}
	if err := f.saving.Check(); err != nil {
		return err
	}
	outs, err := f.output.Open(results.KindCount, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	if len(sources) == 0 {
		inProcess := func(context.Context) (drivers.Service, error) { return backends.InProcess() }
		sources = []spec.Source{{Name: "a server in this process", Open: inProcess}}
	}
	plan := spec.Announcement{
		Rate:     "one step at a time, at rest in between",
		Requests: f.Requests(forms, f.settings(), 1, true),
		Duration: cli.Counted(len(f.Clients)*len(forms), "short run"),
	}
	if f.DryRun {
		f.WritePlan(a.out, sources, plan)
		return a.dryRun()
	}
	f.Announce(a.err, sources, plan)
	command := slices.Concat([]string{"stampede", "count"}, recipes, f.given)
	t := counter{app: a, flags: f, report: results.CountReport{Head: results.NewHead(results.KindCount, tool(), command, []string{results.KindCount}, 0),
		Settled: []results.Settled{}}}
	t.progress = newProgress(a.err, false, &a.course)
	t.report.Marks = f.saving.Marks()
	var work []time.Duration // in proportion to the clients, which act one after the other
	for range sources {
		for _, clients := range f.Clients {
			work = append(work, slices.Repeat([]time.Duration{time.Duration(clients)}, len(forms))...)
		}
	}
	a.course.beginCounted(work)
	defer t.progress.clear()
	for _, s := range sources {
		if err := t.countOn(ctx, s, forms); err != nil {
			return interrupted(ctx, f.Explained(s, err))
		}
	}
	if f.trace {
		fmt.Fprintln(a.out)
	}
	if err := a.saveAndWrite(&f.saving, outs, t.report); err != nil {
		return err
	}
	return t.verdict()
}

// A counter is the state of one stampede count.
type counter struct {
	*app
	flags    countFlags
	report   results.CountReport
	progress *progress
}

func (t *counter) countOn(ctx context.Context, s spec.Source, forms []catalog.Choice) (err error) {
	service, err := dial(ctx, s, t.flags.ConnectTimeout)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, service.Close()) }()
	can, skipped, err := service.served(forms)
	if err != nil {
		return err
	}
	t.report.Skipped = append(t.report.Skipped, skipped...)
	t.course.leaveOut((len(forms) - len(can)) * len(t.flags.Clients))
	for _, clients := range t.flags.Clients {
		for _, form := range can {
			t.progress.note(fmt.Sprint(form), units.Clients(clients))
			if err := t.countForm(ctx, service.Service, form, clients); err != nil {
				return fmt.Errorf("%v with %d clients: %w", form, clients, err)
			}
		}
	}
	return nil
}

func (t *counter) countForm(ctx context.Context, s drivers.Service, form workloads.Form, clients int) error {
	s = form.ServiceFor(s)
	settings := t.flags.settings()
	settings.Joining = t.progress.joining(form, clients)
	run, err := settled.Run(ctx, s, form, clients, settings)
	if err != nil {
		return err
	}
	t.course.end(1)
	t.progress.clear()
	if t.flags.trace {
		t.printTrace(form, clients, run.Trace)
	}
	t.report.Settled = append(t.report.Settled, results.Settled{
		Recipe: form.Recipe, Form: form.Name, Family: string(form.Family),
		Backend: results.Backend(s.Info()), Clients: clients,
		Notifications: results.Exact{Counted: run.Counts.Notifications},
		Reads:         results.Exact{Counted: run.Counts.Reads},
		Writes:        results.Exact{Counted: run.Counts.Writes},
		FailedWrites:  results.Exact{Counted: run.Counts.FailedWrites},
		LargestFanout: results.Exact{Counted: run.Largest},
		Safety:        results.SafetyOf(run.Safety),
	})
	row := &t.report.Settled[len(t.report.Settled)-1]
	row.Rounds = run.Rounds
	t.expect(row, form, clients)
	if server := run.Server; server != nil {
		row.Notifications.Server, row.Reads.Server = &server.Notifications, &server.Reads
		row.Writes.Server = &server.Writes
		if server.LargestFanout >= run.Largest { // less proves nothing: it counts each kind of event separately
			row.LargestFanout.Server = &server.LargestFanout
		}
	}
	return nil
}

// expect adds the model's counts to the row.
func (t *counter) expect(row *results.Settled, form workloads.Form, clients int) {
	model, ok := costmodel.ModelOf(form.Recipe, form.Name)
	if !ok {
		return
	}
	params := t.flags.settings().Params(clients)
	e := model.Settled(params)
	most := e.Upper()
	set := func(x *results.Exact, term, most costmodel.Term) {
		x.Expected, x.Formula = &term.Value, term.Formula
		if most.Value != term.Value {
			x.Most, x.Formula = &most.Value, term.Formula+" to "+most.Formula
		}
	}
	set(&row.Notifications, e.Notifications, most.Notifications)
	set(&row.Reads, e.Reads, most.Reads)
	set(&row.Writes, e.Writes, most.Writes)
	set(&row.FailedWrites, e.FailedWrites, most.FailedWrites)
	set(&row.LargestFanout, e.LargestFanout, most.LargestFanout)
	for _, p := range costmodel.Parameters(form.Recipe, params) {
		if row.Names(p.Letter) {
			if row.Parameters == nil {
				row.Parameters = map[string]int64{}
			}
			row.Parameters[p.Letter] = p.Value
		}
	}
}

// printTrace prints the trace of a settled run, step by step, as on a whiteboard.
func (t *counter) printTrace(form workloads.Form, clients int, story []settled.TraceStep) {
	fmt.Fprintf(t.out, "\n  %v · %d clients · settled, step by step\n", form, clients)
	for _, step := range story {
		fmt.Fprintf(t.out, "\n  %d %s\n", step.Client+1, step.Title)
		for _, d := range step.Actions {
			fmt.Fprintf(t.out, "    %-7s %s\n", d.Who(), d.Did)
		}
	}
}

func (t *counter) verdict() error {
	for _, s := range t.report.Settled {
		if s.Safety.Violations > 0 {
			return cli.Finding(cli.ExitViolation, "safety violation")
		}
	}
	if slices.ContainsFunc(t.report.Settled, results.Settled.Differs) {
		return cli.Finding(cli.ExitRegression, "a count differs from the cost model")
	}
	return nil
}
