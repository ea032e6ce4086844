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

	window *metrics.Window // shared with the background
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
	p.window = metrics.NewWindow()
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
	meter := r.pool.Meter
	var abandon context.CancelFunc
	r.rounds, abandon = context.WithCancel(r.rounds)
	r.abandon = abandon
	defer abandon()
	start := meter.Counts()
	defer r.exchange(ctx)()
	r.meet(ctx, SessionsOpen)
	var server serverReading
	if r.plan.Open.Rate.Open() { // the window opens when it is due, however long the server takes to answer
		server = r.readServer(ctx)
	}
	r.openLoop(r.planWindow(ctx))
	r.agreeTurns()
	clients := r.startClients()
	r.background.start(r)
	watch, stopWatching := r.startMonitor()
	defer stopWatching()

	record := &metrics.Record{}
	ramp := r.gather(ctx)
	warmup := r.warmUp(ctx)
	if !r.plan.Open.Rate.Open() {
		server = r.readServer(ctx)
	}
	r.awaitWindow(ctx)
	self := metrics.StartSampler()
	for _, s := range r.pool.Slots {
		s.beginStates()
	}
	watch.begin()
	r.countTogether(ctx)
	r.background.begin()
	r.pool.faults.begin(r)
	live := r.observe(self)
	r.measure(ctx, live)
	watch.look(true)
	var sessions metrics.Sessions
	for _, s := range r.pool.Slots {
		s.addStates(&sessions)
	}
	record.Intervals = live.intervals
	r.background.end()
	live.end(record)
	record.Sessions = sessions
	r.pool.faults.end()
	r.drain(ctx, record)
	r.pool.instances.fill(record)
	live.close(record)
	record.Ramp, record.Warmup = ramp, warmup
	r.countServer(ctx, server, record)

	r.halt()
	record.Background = r.background.finish(ctx)
	r.interrupted = ctx.Err() != nil
	r.awaitEnd(clients, abandon, record)
	r.meet(ctx, RoundsEnded)
	r.awaitNotifications(ctx)
	record.Whole, record.WholeRounds = meter.Counts().Sub(start), r.all.Load()
	r.meet(ctx, NotificationsIn) // then other processes close their sessions, which may wake clients of this one
	record.Disturbed = record.Whole.Cuts > 0 || len(r.errors) > 0 || r.cut
	r.fillRounds(record)
	record.Herd = meter.Herd()
	record.Safety = r.pool.instances.verdict()
	record.Safety = r.background.addViolations(record.Safety)
	record.Errors = r.errors
	r.pool.faults.fill(record)
	stopWatching()
	r.warn(record)
	watch.warn(record)
	return record
}

// fillRounds fills in the rounds of the window and their times when all clients have ended: a client may
// have read the clock before the window closed and have recorded its turn after that.
func (r *runner) fillRounds(m *metrics.Record) {
	timed := r.pool.instances.fill(m)
	r.countArrivals(&m.Generator)
	m.Rounds = r.done()
	if n := len(m.Intervals); n > 0 {
		rest := m.Rounds
		for _, i := range m.Intervals[:n-1] {
			rest -= i.Rounds
		}
		m.Intervals[n-1].Rounds = rest
	}
	switch {
	case r.plan.Part != nil: // a round may end in one process and have its times in others
	case r.pacer != nil:
		m.Untimed = m.Generator.Completed - timed
	default:
		m.Untimed = m.Rounds - timed
	}
}
