package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Plan is one run: one form on one service with a number of clients, in a
// closed loop.
type Plan struct {
	Service drivers.Service
	Form    Form
	Clients int
	// Groups is how many instances of the recipe the clients are spread over, a
	// divisor of Clients; 0 means one.
	Groups   int
	Settings Settings
	Warmup   time.Duration // driven like the rest, and thrown away
	Duration time.Duration // of the measured window
	Rounds   int64         // ends the window after so many rounds instead; 0 for Duration
	Seed     uint64
	// Progress, if set, is called a few times a second.
	Progress func(Progress)
}

// Progress is what a run can say while it goes.
type Progress struct {
	Measuring bool          // false while it warms up or ends
	Elapsed   time.Duration // of the window
	Rounds    int64
	P99       time.Duration // of the first phase, in the last interval; 0 if unknown
	Errors    int64
	CPUCores  float64 // the generator's own
}

// ErrInterrupted is the error of a run whose context ended; its Record holds
// what was measured until then.
var ErrInterrupted = errors.New("interrupted")

// Run drives the plan and returns what it measured. With an error other than
// ErrInterrupted there is no Record.
func Run(ctx context.Context, p Plan) (_ *metrics.Record, err error) {
	c := &crew{service: p.Service, form: p.Form, instances: newInstances(p.Groups, p.Form, p.Settings),
		meter: metrics.NewMeter(), place: p.Settings.namespace(), seed: p.Seed}
	defer func() {
		if e := c.dismiss(); err == nil {
			err = e
		}
	}()
	same := func(_ int, probe drivers.Probe) drivers.Probe { return probe }
	if err := c.muster(ctx, p.Clients, same); err != nil {
		return nil, err
	}
	r := newRunner(ctx, p, c)
	record := r.run(ctx)
	switch {
	case r.failure != nil:
		return nil, r.failure
	case ctx.Err() != nil:
		return record, ErrInterrupted
	}
	return record, nil
}

// run goes through the phases: warm up, measure, let every round end.
func (r *runner) run(ctx context.Context) *metrics.Record {
	meter, all := r.crew.meter, r.crew.instances
	var abandon context.CancelFunc
	r.rounds, abandon = context.WithCancel(r.rounds)
	defer abandon()
	start := meter.Counts()
	clients := r.startClients()

	record := &metrics.Record{}
	r.wait(ctx, r.plan.Warmup)
	server := r.serverCounts(ctx)
	self := metrics.StartSampler()
	meter.Begin()
	all.begin()
	r.begun.Store(true)
	opened, before := time.Now(), meter.Counts()
	record.Intervals = r.measure(ctx, opened, before, self)
	record.Duration = time.Since(opened)
	record.Counts = meter.Counts().Sub(before)
	all.end(record)
	meter.End()
	record.Generator = self.Stop()
	record.Server = r.serverCounted(ctx, server)

	r.halt()
	r.letEnd(clients, abandon)
	r.arrived(ctx)
	record.Whole, record.WholeRounds = meter.Counts().Sub(start), r.all.Load()
	record.Disturbed = record.Whole.Cuts > 0 || len(r.errors) > 0 || r.cut
	record.Herd = meter.Herd()
	record.Safety = all.verdict()
	record.Errors = r.errors
	record.Warnings = r.warnings(record)
	return record
}

// saturated is the share of the machine's processors from which on the
// generator may be what was measured.
const saturated = 0.85

func (r *runner) warnings(m *metrics.Record) []string {
	var w []string
	if r.cut {
		w = append(w, fmt.Sprintf("rounds did not end within %v and were abandoned: counts are not of whole rounds", endTime))
	}
	if cores := metrics.Cores(); m.Generator.CPUCores > saturated*float64(cores) {
		w = append(w, fmt.Sprintf("client-bound: the generator used %.1f of %d cores; the service may be faster than this",
			m.Generator.CPUCores, cores))
	}
	return w
}
