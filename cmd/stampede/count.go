package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/cost"
)

// A countFlags holds the flags of stampede count.
type countFlags struct {
	choice
	polls  int
	items  int
	trace  bool
	output []string
}

func (a *app) countCommand() *cobra.Command {
	var f countFlags
	cmd := &cobra.Command{
		Use:   "count [RECIPE...]",
		Short: "Count exactly what each form costs, at rest, and hold it against the model",
		Long: `Count plays each form one step at a time and lets everything come to rest in
between: all clients arrive one after the other, then all release one after the
other. What it counts on the wire depends on the form alone, not on the machine,
and must equal the cost model. Exit code 98 says that it does not.

Without --backend it runs against a server inside this process and needs neither
network nor time.`,
		Example: `  stampede count
  stampede count lock --form all --clients 2,8,32
  stampede count lock --clients 3 --trace
  stampede count lock --backend zookeeper: --clients 8`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.count(cmd.Context(), args, f)
		},
	}
	f.choice.register(a, cmd, nil, []int{4, 8, 16, 32})
	flags := cmd.Flags()
	flags.IntVar(&f.polls, "polls", 1, "how often each waiter of a polling form looks during one hold")
	flags.IntVar(&f.items, "items", 4, "how many items a queue holds when the first client comes")
	flags.BoolVar(&f.trace, "trace", false, "tell every step: who wrote, who was woken, who went on and who went back to sleep")
	registerOutput(cmd, &f.output, results.KindCount)
	return cmd
}

func (f countFlags) settings() workloads.Settings {
	return workloads.Settings{Polls: f.polls, Readers: f.readers, Namespace: f.namespace,
		Queue: workloads.QueueSettings{Items: f.items}}
}

func (a *app) count(ctx context.Context, recipes []string, f countFlags) error {
	forms, sources, err := f.choice.resolve(a.forms, recipes)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(forms, func(c catalog.Choice) bool { return c.Family == workloads.Load }); i >= 0 {
		return usagef("%s is no recipe: it costs what is asked of it, so there is nothing to count: stampede run %[1]s", forms[i].Recipe)
	}
	if err := checkUsed(f.security.flags, forms); err != nil {
		return err
	}
	if f.polls < 1 {
		return usagef("--polls %d: must be at least 1", f.polls)
	}
	if f.items < 0 {
		return usagef("--items %d: must be 0 or more", f.items)
	}
	outs, err := openOutputs(f.output, results.KindCount, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	if len(sources) == 0 {
		inProcess := func(context.Context) (drivers.Service, error) { return backends.InProcess() }
		sources = []source{{name: "a server in this process", open: inProcess}}
	}
	f.announce(a, sources, plan{
		rate:     "one step at a time, at rest in between",
		duration: counted(len(f.clients)*len(forms), "short run"),
	})
	t := tally{app: a, flags: f, report: results.NewCount(tool())}
	for _, s := range sources {
		if err := t.countOn(ctx, s, forms); err != nil {
			return interrupted(ctx, f.explained(s, err))
		}
	}
	if err := outs.write(t.report, ""); err != nil {
		return err
	}
	return t.verdict()
}

// A tally is the state of one stampede count.
type tally struct {
	*app
	flags  countFlags
	report results.CountReport
}

func (t *tally) countOn(ctx context.Context, s source, forms []catalog.Choice) (err error) {
	service, err := t.flags.dial(ctx, s)
	if err != nil {
		return err
	}
	defer func() {
		if e := service.Close(); err == nil {
			err = e
		}
	}()
	can, skipped, err := service.served(forms)
	if err != nil {
		return err
	}
	t.report.Skipped = append(t.report.Skipped, skipped...)
	for _, clients := range t.flags.clients {
		for _, form := range can {
			if err := t.countForm(ctx, service.Service, form, clients); err != nil {
				return fmt.Errorf("%v with %d clients: %w", form, clients, err)
			}
		}
	}
	return nil
}

func (t *tally) countForm(ctx context.Context, s drivers.Service, form workloads.Form, clients int) error {
	settled, err := workloads.Settle(ctx, s, form, clients, t.flags.settings())
	if err != nil {
		return err
	}
	if t.flags.trace {
		t.tell(form, clients, settled.Story)
	}
	t.report.Settled = append(t.report.Settled, results.Settled{
		Recipe: form.Recipe, Form: form.Name, Family: string(form.Family),
		Backend: results.Backend(s.Info()), Clients: clients,
		Notifications: results.Exact{Counted: settled.Counts.Notifications},
		Reads:         results.Exact{Counted: settled.Counts.Reads},
		Writes:        results.Exact{Counted: settled.Counts.Writes},
		FailedWrites:  results.Exact{Counted: settled.Counts.FailedWrites},
		LargestFanout: results.Exact{Counted: settled.Largest},
		Safety:        results.SafetyOf(settled.Safety),
	})
	row := &t.report.Settled[len(t.report.Settled)-1]
	row.Rounds = settled.Rounds
	t.expect(row, form, clients)
	if server := settled.Server; server != nil {
		row.Notifications.Server, row.Reads.Server = &server.Notifications, &server.Reads
		row.Writes.Server = &server.Writes
		if server.LargestFanout >= settled.Largest { // less proves nothing: it counts each kind of event separately
			row.LargestFanout.Server = &server.LargestFanout
		}
	}
	return nil
}

// expect adds the model's counts to the row.
func (t *tally) expect(row *results.Settled, form workloads.Form, clients int) {
	model, ok := cost.Of(form.Recipe, form.Name)
	if !ok {
		return
	}
	params := t.flags.settings().Params(clients)
	e := model.Settled(params)
	most := e.Upper()
	set := func(x *results.Exact, term, most cost.Term) {
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
	for _, p := range cost.Parameters(form.Recipe, params) {
		if row.Names(p.Letter) {
			if row.Parameters == nil {
				row.Parameters = map[string]int64{}
			}
			row.Parameters[p.Letter] = p.Value
		}
	}
}

// tell prints the trace of a settled run, step by step, as on a whiteboard.
func (t *tally) tell(form workloads.Form, clients int, story []workloads.Step) {
	fmt.Fprintf(t.out, "\n  %v · %d clients · settled, step by step\n", form, clients)
	for _, step := range story {
		fmt.Fprintf(t.out, "\n  %d %s\n", step.Client+1, step.Title)
		for _, d := range step.Deeds {
			fmt.Fprintf(t.out, "    %-7s %s\n", d.Who(), d.Did)
		}
	}
}

func (t *tally) verdict() error {
	for _, s := range t.report.Settled {
		if s.Safety.Violations > 0 {
			return verdict(exitViolation, "a form broke its promise")
		}
	}
	if slices.ContainsFunc(t.report.Settled, results.Settled.Differs) {
		return verdict(exitRegression, "a count is not what the model says")
	}
	return nil
}
