package workloads

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/faults"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// A Plan is one run: one form on one service with a number of clients.
type Plan struct {
	Service drivers.Service
	Form    Form
	Clients int
	// Groups is how many instances of the recipe the clients are spread over, a
	// divisor of Clients; 0 means one.
	Groups   int
	Settings Settings
	// Ramp is how long the clients of a closed loop take to arrive, before the warm-up;
	// 0 means as long as their number calls for.
	Ramp   time.Duration
	Warmup time.Duration // driven like the rest, and thrown away
	// WarmupLimit is how long a closed loop without a background may warm up until its
	// throughput is steady; what is not above Warmup changes nothing.
	WarmupLimit time.Duration
	Cold        bool          // the server has done nothing yet
	Duration    time.Duration // of the measured window
	// LeastRounds lets the window of a closed loop last as often Duration as it takes
	// until so many rounds have ended, at most for DurationLimit.
	LeastRounds   int64
	DurationLimit time.Duration
	Rounds        int64  // ends the window after so many rounds instead; 0 for Duration
	Seed          uint64 // of the run's own random choices, such as when work arrives
	// Open is the rate at which work comes. Without one the loop is closed:
	// each client begins a round when it has ended its last one and has thought.
	Open pace.Options
	// Preload is there before the clients come, below the run's own node.
	Preload Preload
	// Background goes on beside the recipe, counted by itself.
	Background Background
	// Faults are done to the service and the clients in the window.
	Faults faults.Schedule
	// Bin is how wide the bins of the herd's time line are; 0 means
	// metrics.DefaultBin.
	Bin time.Duration
	// Progress, if set, is called a few times a second.
	Progress func(Progress)
	// Watch, if set, is handed the run when its window opens; see Live.
	Watch func(*Live)

	// rough: connections may break for long, on purpose.
	rough bool
}

// Progress is what a run can say while it goes.
type Progress struct {
	Measuring bool          // false while it warms up or ends
	Elapsed   time.Duration // of the window
	Rounds    int64
	Lap       metrics.Lap // of the first phase, in the last interval
	Errors    int64
	CPUCores  float64 // the generator's own
}

// ErrInterrupted is the error of a run whose context ended; its Record holds
// what was measured until then.
var ErrInterrupted = errors.New("interrupted")

// Run drives the plan and returns what it measured. With an error other than
// ErrInterrupted there is no Record.
func Run(ctx context.Context, p Plan) (_ *metrics.Record, err error) {
	if p.rough = len(p.Faults) > 0; p.rough {
		if err := p.Faults.Check(p.powers()); err != nil {
			return nil, err
		}
	}
	c := newCrew(p)
	if p.Bin > 0 {
		c.meter.SetBin(p.Bin)
	}
	defer func() {
		if e := c.dismiss(); err == nil {
			err = e
		}
	}()
	if err := c.muster(ctx, p); err != nil {
		return nil, err
	}
	r := newRunner(ctx, p, c)
	r.beside, err = p.Background.raise(ctx, p)
	defer func() {
		if e := r.beside.dismiss(); err == nil {
			err = e
		}
	}()
	if err != nil {
		return nil, err
	}
	record := r.run(ctx)
	verify(record)
	switch err := cmp.Or(r.failure, r.beside.broke()); {
	case err != nil:
		return nil, err
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
	r.openLoop()
	clients := r.startClients()
	r.beside.start(r)

	record := &metrics.Record{}
	ramp := r.gather(ctx)
	warmup := r.warmUp(ctx)
	server := r.serverCounts(ctx)
	self := metrics.StartSampler()
	meter.Begin()
	all.begin()
	r.crew.cycles.open()
	r.begin()
	r.beside.begin()
	r.crew.trouble.begin(r)
	opened, before := time.Now(), meter.Counts()
	live := r.goLive(opened, before, self)
	r.measure(ctx, live)
	record.Intervals = live.intervals
	live.end(record)
	r.crew.trouble.end()
	r.beside.end()
	r.drain(record)
	all.timed(record)
	live.close(record)
	record.Ramp, record.Warmup = ramp, warmup
	meter.End()
	record.Server = r.serverCounted(ctx, server)

	r.halt()
	record.Background = r.beside.finish()
	r.hurried = ctx.Err() != nil
	r.letEnd(clients, abandon, record)
	r.arrived(ctx)
	record.Whole, record.WholeRounds = meter.Counts().Sub(start), r.all.Load()
	record.Disturbed = record.Whole.Cuts > 0 || len(r.errors) > 0 || r.cut
	record.Herd = meter.Herd()
	record.Safety = all.verdict()
	record.Safety = r.beside.voids(record.Safety)
	record.Errors = r.errors
	r.crew.trouble.tell(record)
	r.warn(record)
	return record
}
