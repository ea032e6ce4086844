package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// defaultPaired is how long each run of a pair is measured: many short runs give more information
// than a few long ones.
const defaultPaired = time.Second

// A pairedRuns holds base and candidate, and runs them in interleaved pairs.
type pairedRuns struct {
	*app
	flags    pairFlags
	variants [2]variant
	progress *progress
	services map[string]reachedService // by sharedBy: variants with the same key share a service
	hide     func()                    // stops showing the runs as metrics and on the page
	dismiss  func() error              // the agents
}

// newPairedRuns checks everything that can be checked before anything is started.
func (a *app) newPairedRuns(asked *pflag.FlagSet, words []string, f pairFlags) (*pairedRuns, error) {
	d := &pairedRuns{app: a, flags: f, progress: newProgress(a.err, f.Quiet, &a.course), services: map[string]reachedService{}}
	for i, name := range []string{"BASE", "CANDIDATE"} {
		var err error
		if d.variants[i], err = a.variant(name, words[i], asked); err != nil {
			return nil, err
		}
	}
	base, other := d.variants[0], d.variants[1]
	if err := spec.CheckUsed(asked, []catalog.Choice{base.form, other.form}); err != nil {
		return nil, err
	}
	if len(base.flags.Clients) != len(other.flags.Clients) {
		return nil, cli.Usagef("BASE has %s and CANDIDATE %s of clients: both need the same number, since they are compared one by one",
			cli.Counted(len(base.flags.Clients), "number"), cli.Counted(len(other.flags.Clients), "number"))
	}
	if (base.binary == "") != (other.binary == "") {
		return nil, cli.Usagef("only one of BASE and CANDIDATE is another program: name a program for both, since each of its runs starts a server")
	}
	return d, nil
}

func (d *pairedRuns) levels() int { return len(d.variants[0].flags.Clients) }

// phases returns the phases that both base and candidate time.
func (d *pairedRuns) phases() []string {
	others := d.variants[1].form.Phases()
	return slices.DeleteFunc(d.variants[0].form.Phases(), func(p string) bool { return !slices.Contains(others, p) })
}

// plans returns what decides which figures the runs of base and candidate have.
func (d *pairedRuns) plans() (all []figure.Plan) {
	for i := range d.variants {
		v := &d.variants[i]
		for _, clients := range v.flags.Clients {
			all = append(all, v.flags.Figures(v.form.Form, v.source, clients))
		}
	}
	return all
}

// subject names what is compared at a level. It returns "" if there is only one level.
func (d *pairedRuns) subject(level int) string {
	base, other := d.variants[0].flags.Clients[level], d.variants[1].flags.Clients[level]
	switch {
	case d.levels() == 1:
		return ""
	case base != other:
		return fmt.Sprintf("%d → %d clients", base, other)
	}
	return cli.Counted(base, "client")
}

// runs returns the number of runs in a set of pairs.
func (d *pairedRuns) runs() int { return 2 * d.flags.pairs * d.levels() }

// checkAgents checks that the runs can be divided among agents, if they are to be.
func (d *pairedRuns) checkAgents() error {
	base, other := d.variants[0], d.variants[1]
	switch {
	case d.flags.Agents.Count == 0:
	case base.binary != "":
		return cli.Flagf("agents", "and %s: give one of them, since runs of other programs are not divided among agents", base.binary)
	}
	return d.flags.CheckAgents([]spec.Job{base.job(), other.job()})
}

// open opens the services of base and candidate, only one if they can share it, and starts to show the runs
// as metrics and on the page if flags ask for that. It waits for the agents first, if there are to be any.
func (d *pairedRuns) open(ctx context.Context) (err error) {
	if d.hide, err = d.observeRuns(ctx, &d.flags.Flags); err != nil {
		return err
	}
	if d.dismiss, err = d.gather(ctx, d.flags.Agents, d.flags.ConnectTimeout, d.progress); err != nil {
		return err
	}
	for _, s := range d.variants {
		if _, there := d.services[s.sharedBy()]; there || s.binary != "" {
			continue
		}
		d.progress.note("opening %s", s.source.Name)
		service, err := dial(ctx, s.source, s.flags.ConnectTimeout)
		if err != nil {
			return interrupted(ctx, s.flags.Explained(s.source, err))
		}
		d.services[s.sharedBy()] = service
	}
	for _, s := range d.variants {
		if s.binary != "" {
			continue
		}
		if why := d.services[s.sharedBy()].lacks(s.form.Form); why != "" {
			return cli.Usagef("%s", why)
		}
	}
	return nil
}

func (d *pairedRuns) close() (err error) {
	if d.hide != nil {
		d.hide()
	}
	for _, s := range d.services {
		err = cmp.Or(err, s.Close())
	}
	if d.dismiss != nil {
		err = errors.Join(err, d.dismiss())
	}
	return err
}

// orders reports for each pair of a set, whose levels alternate, whether the candidate runs first.
// Each set has its own seeds.
func (d *pairedRuns) orders(nth int) []bool {
	each := d.flags.pairs * d.levels()
	return stats.Orders(spec.RunSeed(d.flags.Seed, nth*each), each)
}

// set runs a set of pairs. If it is interrupted, it returns the complete pairs.
func (d *pairedRuns) set(ctx context.Context, nth int) ([]compare.Subject, error) {
	subjects := d.subjects()
	return subjects, d.extend(ctx, nth, subjects, d.flags.pairs, time.Time{})
}

// subjects returns the subjects, one for each level, without runs.
func (d *pairedRuns) subjects() []compare.Subject {
	subjects := make([]compare.Subject, d.levels())
	for level := range subjects {
		subjects[level].Name = d.subject(level)
	}
	return subjects
}

// extend runs pairs of the nth set until each subject has that number. It begins none after the deadline,
// unless that is zero. The two runs of a pair share a seed, and so have the same arrivals; different
// pairs have different seeds.
func (d *pairedRuns) extend(ctx context.Context, nth int, subjects []compare.Subject, pairs int, deadline time.Time) error {
	orders := d.orders(nth)
	for i := len(subjects[0].Base) * d.levels(); i < pairs*d.levels(); i++ {
		level, seed := i%d.levels(), spec.RunSeed(d.flags.Seed, nth*len(orders)+i)
		if level == 0 && !deadline.IsZero() && time.Now().After(deadline) {
			return nil
		}
		runs, err := d.pair(ctx, level, seed, orders[i], nth*len(orders)+i)
		if err != nil {
			return err
		}
		subjects[level].Base = append(subjects[level].Base, runs[0])
		subjects[level].New = append(subjects[level].New, runs[1])
	}
	return nil
}

// pair does the two runs of a pair, which is the nth of all, counted from 0.
func (d *pairedRuns) pair(ctx context.Context, level int, seed uint64, newFirst bool, nth int) (runs [2]results.Run, err error) {
	order := [2]int{0, 1}
	if newFirst {
		order = [2]int{1, 0}
	}
	for place, variant := range order {
		run, err := d.measure(ctx, d.variants[variant], level, seed)
		if err != nil {
			return runs, err
		}
		run.Order = 2*nth + place + 1
		runs[variant] = *run
		d.course.end(1)
	}
	return runs, nil
}

// measure does one run of a variant. It returns no run if the run is interrupted.
func (d *pairedRuns) measure(ctx context.Context, s variant, level int, seed uint64) (*results.Run, error) {
	f := s.flagsAt(level, seed)
	if s.binary != "" {
		d.progress.note(s.label)
		return s.runBinary(ctx, f)
	}
	clients := f.Clients[0]
	run, err := d.runOnce(ctx, &f, d.services[s.sharedBy()].Service, s.form.Form, clients, 0, d.progress.following(s.form.Form, clients, f))
	if err != nil {
		return nil, s.flags.Explained(s.source, err)
	}
	return run, nil
}

// runSet opens the services, runs one set of pairs and closes the services.
func (d *pairedRuns) runSet(ctx context.Context) (subjects []compare.Subject, err error) {
	defer func() { err = cmp.Or(err, d.close()) }()
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	d.course.begin(d.work(), 0)
	return d.set(ctx, 0)
}

// work returns how long each run of a set is asked to take.
func (d *pairedRuns) work() []time.Duration {
	var pair []time.Duration
	for _, s := range d.variants {
		pair = append(pair, workOf(&s.flags))
	}
	return slices.Repeat(pair, d.runs()/2)
}

// takes says about how long a set takes. It returns "" if that is unknown.
func (d *pairedRuns) takes() string {
	work := d.work()
	if slices.Contains(work, 0) {
		return ""
	}
	return fmt.Sprintf(": about %v", sum(work).Round(time.Second))
}

// describeServices prints what the runs do to each service, in one of the two forms that spec.Selection has.
func (d *pairedRuns) describeServices(w io.Writer, print func(*spec.Selection, io.Writer, []spec.Source, spec.Announcement)) {
	described := map[string]bool{}
	for _, s := range d.variants {
		if described[s.sharedBy()] {
			continue
		}
		described[s.sharedBy()] = true
		var forms []catalog.Choice
		for _, other := range d.variants {
			if other.sharedBy() == s.sharedBy() {
				forms = append(forms, other.form)
			}
		}
		print(&s.flags.Selection, w, []spec.Source{s.source}, s.flags.Announcement(forms, d.flags.pairs))
	}
}
