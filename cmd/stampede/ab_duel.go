package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/effect"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/changes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// defaultPaired is how long each run of a pair is measured: many short runs give more information
// than a few long ones.
const defaultPaired = time.Second

// A duel runs two sides in interleaved pairs.
type duel struct {
	*app
	flags    pairFlags
	sides    [2]side
	progress *progress
	services map[string]reached // by sharedBy: sides with the same key share a service
	hide     func()             // stops showing the runs as metrics and on the page
}

// duel checks everything that can be checked before anything is started.
func (a *app) duel(asked *pflag.FlagSet, words []string, f pairFlags) (*duel, error) {
	d := &duel{app: a, flags: f, progress: newProgress(a.err, f.quiet), services: map[string]reached{}}
	for i, name := range []string{"BASE", "NEW"} {
		var err error
		if d.sides[i], err = a.side(name, words[i], asked); err != nil {
			return nil, err
		}
	}
	base, other := d.sides[0], d.sides[1]
	if err := checkUsed(asked, []catalog.Choice{base.form, other.form}); err != nil {
		return nil, err
	}
	if len(base.flags.clients) != len(other.flags.clients) {
		return nil, usagef("BASE has %s and NEW %s of clients: there must be as many, since they are compared one by one",
			counted(len(base.flags.clients), "number"), counted(len(other.flags.clients), "number"))
	}
	if (base.binary == "") != (other.binary == "") {
		return nil, usagef("one side is a program of its own and the other is not: name both, since a run that starts its server anew is not like one that does not")
	}
	return d, nil
}

func (d *duel) levels() int { return len(d.sides[0].flags.clients) }

// phases returns the phases that both sides time.
func (d *duel) phases() []string {
	others := d.sides[1].form.Phases()
	return slices.DeleteFunc(d.sides[0].form.Phases(), func(p string) bool { return !slices.Contains(others, p) })
}

// subject names what is compared at a level. It returns "" if there is only one level.
func (d *duel) subject(level int) string {
	base, other := d.sides[0].flags.clients[level], d.sides[1].flags.clients[level]
	switch {
	case d.levels() == 1:
		return ""
	case base != other:
		return fmt.Sprintf("%d → %d clients", base, other)
	}
	return counted(base, "client")
}

// runs returns the number of runs in a set of pairs.
func (d *duel) runs() int { return 2 * d.flags.pairs * d.levels() }

// open opens the services of both sides, only one if they can share it, and starts to show the runs
// as metrics and on the page if flags ask for that.
func (d *duel) open(ctx context.Context) (err error) {
	if d.hide, err = d.showRuns(ctx, &d.flags.runFlags); err != nil {
		return err
	}
	for _, s := range d.sides {
		if _, there := d.services[s.sharedBy()]; there || s.binary != "" {
			continue
		}
		d.progress.note("opening %s", s.source.name)
		service, err := s.flags.dial(ctx, s.source)
		if err != nil {
			return interrupted(ctx, s.flags.explained(s.source, err))
		}
		d.services[s.sharedBy()] = service
	}
	for _, s := range d.sides {
		if s.binary != "" {
			continue
		}
		if why := d.services[s.sharedBy()].lacks(s.form.Form); why != "" {
			return usagef("%s", why)
		}
	}
	return nil
}

func (d *duel) close() (err error) {
	if d.hide != nil {
		d.hide()
	}
	for _, s := range d.services {
		if e := s.Close(); err == nil {
			err = e
		}
	}
	return err
}

// orders reports for each pair of a set, whose levels alternate, whether the new side runs first.
// Each set has its own seeds.
func (d *duel) orders(nth int) []bool {
	each := d.flags.pairs * d.levels()
	return effect.Orders(runSeed(d.flags.seed, nth*each), each)
}

// set runs a set of pairs. If it is interrupted, it returns the complete pairs. The two runs of a
// pair share a seed, and so have the same arrivals; different pairs have different seeds.
func (d *duel) set(ctx context.Context, nth int) ([]changes.Subject, error) {
	subjects := make([]changes.Subject, d.levels())
	for level := range subjects {
		subjects[level].Name = d.subject(level)
	}
	orders := d.orders(nth)
	for i, newFirst := range orders {
		level, seed := i%d.levels(), runSeed(d.flags.seed, nth*len(orders)+i)
		order := [2]int{0, 1}
		if newFirst {
			order = [2]int{1, 0}
		}
		var runs [2]results.Run
		for place, side := range order {
			run, err := d.measure(ctx, d.sides[side], level, seed)
			if err != nil {
				return subjects, err
			}
			run.Order = 2*(nth*len(orders)+i) + place + 1
			runs[side] = *run
			d.progress.done(1)
		}
		subjects[level].Base = append(subjects[level].Base, runs[0])
		subjects[level].New = append(subjects[level].New, runs[1])
	}
	return subjects, nil
}

// measure does one run of a side. It returns no run if the run is interrupted.
func (d *duel) measure(ctx context.Context, s side, level int, seed uint64) (*results.Run, error) {
	f := s.at(level, seed)
	if s.binary != "" {
		d.progress.note("%s%s", d.progress.ahead(), s.label)
		return s.runBinary(ctx, f)
	}
	clients := f.clients[0]
	run, err := d.runOnce(ctx, &f, d.services[s.sharedBy()].Service, s.form.Form, clients, 0,
		func(p workloads.Progress) { d.progress.run(s.form.Form, clients, f, p) })
	if err != nil {
		return nil, s.flags.explained(s.source, err)
	}
	return run, nil
}

// alone opens the services, runs one set of pairs and closes the services.
func (d *duel) alone(ctx context.Context) (subjects []changes.Subject, err error) {
	defer func() {
		if e := d.close(); err == nil {
			err = e
		}
	}()
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	d.progress.of(d.runs(), 0)
	return d.set(ctx, 0)
}

// takes says about how long a set takes. It returns "" if that is unknown.
func (d *duel) takes() string {
	var all time.Duration
	for _, s := range d.sides {
		if s.flags.windowRounds() > 0 {
			return ""
		}
		all += time.Duration(d.flags.pairs*d.levels()) * (s.flags.warmup + s.flags.duration)
	}
	return fmt.Sprintf(": about %v", all.Round(time.Second))
}

// announceServices prints what the runs will do to services that were given by address.
func (d *duel) announceServices() {
	told := map[string]bool{}
	for _, s := range d.sides {
		if !told[s.sharedBy()] {
			s.flags.announce(d.app, []source{s.source}, s.flags.plan(d.flags.pairs))
		}
		told[s.sharedBy()] = true
	}
}
