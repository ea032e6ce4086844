package workloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// A Plan describes one run: one form on one service with a number of clients.
type Plan struct {
	Service drivers.Service
	Form    Form
	Clients int
	// Groups is the number of instances of the recipe among which the clients are divided. It must
	// divide Clients; 0 means one.
	Groups   int
	Settings Settings
	// Ramp is how long the clients of a closed loop take to arrive, before the warm-up; 0 means a
	// time that depends on their number.
	Ramp   time.Duration
	Warmup time.Duration // driven like the window; its measurements are discarded
	// WarmupLimit bounds the warm-up of a closed loop without a background, which lasts until
	// throughput is steady. A limit that is not above Warmup has no effect.
	WarmupLimit time.Duration
	Cold        bool          // the server has done no work yet
	Duration    time.Duration // of the measured window
	// LeastRounds extends the window of a closed loop by one Duration at a time until at least
	// this many rounds have ended. DurationLimit bounds the extended window.
	LeastRounds   int64
	DurationLimit time.Duration
	Rounds        int64  // ends the window after this many rounds instead of after Duration; 0: after Duration
	Seed          uint64 // of the run's own random choices, such as arrival times
	// Open sets the arrival rate. Without a rate the loop is closed: each client begins a round
	// when its last one has ended and it has thought.
	Open openloop.Options
	// Preload exists on the service before the clients arrive, below the run's own node.
	Preload Preload
	// Background runs beside the recipe and is counted separately.
	Background Background
	// Faults are injected into the service and the clients during the window.
	Faults faults.Schedule
	// Bin is the bin width of the herd's timeline; 0 means metrics.DefaultBin.
	Bin time.Duration
	// AwaitWindow, if set, is called after the warm-up, while the clients go on. The window opens when it
	// returns.
	AwaitWindow func(context.Context)
	// Part, if set, makes this run one part of a run that several processes share. Clients is then
	// their number in all processes.
	Part *Part
	// Progress, if set, is called a few times a second.
	Progress func(Progress)
	// Watch, if set, is called with the running run when its window opens; see Live.
	Watch func(*Live)

	// faulty: faults are injected, so connections may be broken for a long time.
	faulty bool
	// serversFail: some of them concern servers, or may do so.
	serversFail bool
}

// Progress is the state of a run in progress.
type Progress struct {
	Measuring bool          // false during the warm-up and while the run ends
	Elapsed   time.Duration // of the window
	Rounds    int64
	Lap       metrics.Lap // of the first phase, in the last interval
	Errors    int64
	CPUCores  float64 // the generator's own
}

// ErrInterrupted is the error of a run whose context ended. Its Record holds the measurements up
// to then.
var ErrInterrupted = errors.New("interrupted")

// Run executes the plan and returns its measurements. With an error other than ErrInterrupted and
// ServiceLost it returns no Record.
func Run(ctx context.Context, p Plan) (_ *metrics.Record, err error) {
	if err := p.checkFaults(); err != nil {
		return nil, err
	}
	c := newPool(p)
	if p.Bin > 0 {
		c.Meter.SetBin(p.Bin)
	}
	defer func() {
		if e := c.Close(); err == nil {
			err = e
		}
	}()
	if err := c.open(ctx, p); err != nil {
		return nil, err
	}
	r := newRunner(ctx, p, c)
	r.background, err = p.Background.open(ctx, p)
	defer func() {
		if e := r.background.close(); err == nil {
			err = e
		}
	}()
	if err != nil {
		return nil, err
	}
	record := r.run(ctx)
	return r.outcome(ctx, record)
}

// outcome returns the record, or the error that voids it. A record that breaks an identity is a
// defect of stampede, so nothing follows from its figures.
func (r *runner) outcome(ctx context.Context, record *metrics.Record) (*metrics.Record, error) {
	switch err := cmp.Or(r.failure, r.background.err(), record.Identities()); {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return record, ErrInterrupted
	case r.lost != nil:
		return record, fmt.Errorf("%v: %w", r.plan.Form, r.lost)
	}
	return record, nil
}

// run executes the phases of the run: warm up, measure, and wait until every round has ended.
func (r *runner) run(ctx context.Context) *metrics.Record {
	meter, all := r.pool.Meter, r.pool.instances
	var abandon context.CancelFunc
	r.rounds, abandon = context.WithCancel(r.rounds)
	r.abandon = abandon
	defer abandon()
	start := meter.Counts()
	defer r.exchange(ctx)()
	r.meet(ctx, SessionsOpen)
	r.openLoop(ctx)
	r.agreeTurns()
	clients := r.startClients()
	r.background.start(r)
	watch, stopWatching := r.startMonitor()
	defer stopWatching()

	record := &metrics.Record{}
	ramp := r.gather(ctx)
	warmup := r.warmUp(ctx)
	r.awaitWindow(ctx)
	server := r.readServer(ctx)
	self := metrics.StartSampler()
	meter.Begin()
	all.begin()
	r.pool.turns.open()
	r.begin()
	watch.begin()
	r.countTogether(ctx)
	r.background.begin()
	r.pool.faults.begin(r)
	opened, before := time.Now(), meter.Counts()
	live := r.observe(opened, before, self)
	r.measure(ctx, live)
	watch.look(true)
	var sessions metrics.Sessions
	for _, s := range r.pool.Slots {
		s.addStates(&sessions)
	}
	record.Intervals = live.intervals
	live.end(record)
	record.Sessions = sessions
	r.pool.faults.end()
	r.background.end()
	r.drain(record)
	all.fillTimes(record)
	live.close(record)
	record.Ramp, record.Warmup = ramp, warmup
	meter.End()
	r.countServer(ctx, server, record)

	r.halt()
	record.Background = r.background.finish()
	r.interrupted = ctx.Err() != nil
	r.awaitEnd(clients, abandon, record)
	r.meet(ctx, RoundsEnded)
	r.awaitNotifications(ctx)
	record.Whole, record.WholeRounds = meter.Counts().Sub(start), r.all.Load()
	r.meet(ctx, NotificationsIn) // then other processes close their sessions, which may wake clients of this one
	record.Disturbed = record.Whole.Cuts > 0 || len(r.errors) > 0 || r.cut
	record.Herd = meter.Herd()
	record.Safety = all.verdict()
	record.Safety = r.background.addViolations(record.Safety)
	record.Errors = r.errors
	r.pool.faults.fill(record)
	stopWatching()
	r.warn(record)
	watch.warn(record)
	return record
}
