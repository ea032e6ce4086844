package workloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/traffic/owner"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/preload"
)

// A Plan describes one run: one form on one service with a number of clients.
type Plan struct {
	Service drivers.Service
	Form    Form
	Clients int // in all processes
	// Groups is the number of instances of the recipe among which the clients are divided. It must
	// divide Clients; 0 means one.
	Groups   int
	Settings Settings
	// SessionTimeout is the session time-out that clients ask for; 0 means that of the service.
	SessionTimeout time.Duration
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
	Preload preload.Data
	// Background runs beside the recipe and is counted separately.
	Background Background
	// Faults are injected into the service and the clients during the window.
	Faults faults.Schedule
	// Bin is the bin width of the herd's timeline; 0 means metrics.DefaultBin.
	Bin time.Duration
	// Progress, if set, is called a few times a second.
	Progress func(Progress)
	// Watch, if set, is called with the running run when its window opens; see Live.
	Watch func(*Live)

	window *metrics.Window // shared with the background
	// faulty: faults are injected, so connections may be broken for a long time.
	faulty bool
}

// Progress is the state of a run in progress.
type Progress struct {
	Measuring bool          // false during the warm-up and while the run ends
	Elapsed   time.Duration // of the window
	Rounds    int64
	Lap       metrics.Lap // of the first phase, in the last interval; zero behind the last one
	Errors    int64       // also those before and after the window
	CPUCores  float64     // the generator's own
	// Unanswered is how long no round has ended although a client waits for its service.
	Unanswered time.Duration
}

// ErrInterrupted is the error of a run whose context ended. Its Record holds the measurements up
// to then.
var ErrInterrupted = errors.New("interrupted")

// Run executes the plan in this process and returns its measurements. With the error of a form,
// ErrInterrupted and ServiceLost it returns a Record, if something was measured. An error of a form after a safety violation is no error of Run: the
// Record has both.
func Run(ctx context.Context, p Plan) (*metrics.Record, error) {
	s, err := NewSite(p)
	if err != nil {
		return nil, err
	}
	return s.run(ctx)
}

func (s *Site) run(ctx context.Context) (m *metrics.Record, err error) {
	defer func() { err = s.Conclude(m, err) }()
	if err := s.pool.create(ctx, s.plan); err != nil {
		return nil, err
	}
	if err := s.pool.open(ctx, s.plan); err != nil {
		return nil, err
	}
	r := newRunner(ctx, s.plan, s.pool)
	if s.background != nil {
		if err := s.background.create(ctx, s.mix); err != nil {
			return nil, err
		}
		if err := s.background.open(ctx, s.mix); err != nil {
			return nil, err
		}
		r.background = newBackground(ctx, s.mix, s.background)
	}
	record := r.run(ctx)
	r.complete(record)
	return r.outcome(ctx, record)
}

// formError returns the error of a form that ended the run.
func (r *runner) formError() error { return cmp.Or(r.failure, r.background.err()) }

// EndedEarly records that an error of a form has ended the run, and returns the run's error. It is nil if a safety
// violation was found, which the error may come from: then that is what the run has found.
func EndedEarly(m *metrics.Record, by error) error {
	if m.Safety.Violations > 0 {
		m.Safety.Details = append(m.Safety.Details, metrics.EndedEarly+by.Error())
		return nil
	}
	m.Doubt(metrics.Warning{Code: metrics.FormFailed, Names: metrics.Names{"why": by.Error()}})
	return by
}

// A FormError is the error of a part whose form failed. Its Record holds the measurements up to then.
type FormError struct{ error }

func (e FormError) Unwrap() error { return e.error }

// RunPart executes a part of the plan, as Run executes all of it. The caller has made a Site, and merges the
// records of all parts. With a FormError it returns a Record, too.
func RunPart(ctx context.Context, p Plan, part *Part) (_ *metrics.Record, err error) {
	p.window = metrics.NewWindow()
	if err := p.checkFaults(part.Faults); err != nil {
		return nil, err
	}
	var pools []*Pool
	defer func() {
		for _, c := range slices.Backward(pools) {
			if e := c.Close(); err == nil {
				err = e
			}
		}
	}()
	open := func(p Plan, part *Part) (*Pool, error) {
		c := newPool(p, part)
		pools = append(pools, c)
		if err := c.attach(ctx, p.Clients); err != nil {
			return nil, err
		}
		return c, c.open(ctx, p)
	}
	c, err := open(p, part)
	if err != nil {
		return nil, err
	}
	r := newRunner(ctx, p, c)
	if part.Background != nil {
		mix := p.Background.plan(p)
		c, err := open(mix, part.Background)
		if err != nil {
			return nil, err
		}
		r.background = newBackground(ctx, mix, c)
	}
	record := r.run(ctx)
	if err := r.formError(); err != nil { // with the records of the other parts it may prove a violation
		return record, FormError{err}
	}
	return r.outcome(ctx, record)
}

// complete fills in what is known only of all parts together.
func (r *runner) complete(m *metrics.Record) {
	r.pool.faults.fill(m)
	r.addUp(m)
	if b := m.Background; b != nil {
		r.background.addUp(b)
	}
	m.Safety = WithBackground(m.Safety, m.Background)
	m.Warn(r.plan.MissedRate(m)...)
}

// addUp fills in what rounds and arrivals add up to.
func (r *runner) addUp(m *metrics.Record) {
	timed := r.pool.instances.fill(new(metrics.Record))
	if r.pacer == nil {
		m.Untimed = m.Rounds - timed
		return
	}
	m.Untimed = m.Generator.Completed - timed
	if r.window.IsOpen() {
		m.Generator.Planned, m.Generator.PlannedError = r.pacer.Expected()
	}
}

// outcome returns the record, or the error that voids it. A record that breaks an identity is a
// defect of stampede, so nothing follows from its figures.
func (r *runner) outcome(ctx context.Context, record *metrics.Record) (*metrics.Record, error) {
	failed, broken := r.formError(), record.Identities()
	switch {
	case failed != nil && record.Safety.Violations == 0 && (broken != nil || record.Duration == 0):
		return nil, failed
	case failed != nil:
		return record, EndedEarly(record, failed)
	case broken != nil:
		return nil, broken
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
	start := r.pool.counts()
	defer r.exchange(ctx)()
	r.meet(ctx, SessionsOpen)
	serves := owner.ServiceOf(os.Getpid())
	var server serverReading
	if r.plan.Open.Rate.Open() { // the window opens when it is due, however long the server takes to answer
		server = r.readServer()
	}
	r.openLoop(r.planWindow(ctx))
	r.agreeTurns()
	clients := r.startClients()
	r.background.start(r)
	watch, stopWatching := r.startMonitor(ctx)
	defer stopWatching()

	record := &metrics.Record{}
	ramp := r.gather(ctx)
	warmup := r.warmUp(ctx)
	if !r.plan.Open.Rate.Open() {
		server = r.readServer()
	}
	r.awaitWindow(ctx)
	self := metrics.StartSampler(serves)
	for _, s := range r.pool.Slots {
		s.beginStates()
	}
	watch.begin()
	r.awaitRounds()
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
	if err := r.pool.faults.missing(r.window.Elapsed(time.Now())); err != nil && ctx.Err() == nil && r.lost == nil && !r.failed() {
		r.fail(err)
	}
	r.drain(ctx, record)
	r.pool.instances.fill(record)
	live.close(record)
	record.Ramp, record.Warmup = ramp, warmup
	r.countServer(server, record)

	r.halt()
	record.Background = r.background.finish(ctx)
	r.interrupted = ctx.Err() != nil
	r.awaitEnd(clients, abandon, record)
	r.meet(ctx, RoundsEnded)
	r.awaitNotifications()
	whole := r.pool.counts()
	record.Whole, record.WholeRounds = whole.clients.Sub(start.clients), r.all()
	record.Upkeep, record.WholeUpkeep = r.met.upkeep.Sub(r.before.upkeep), whole.upkeep.Sub(start.upkeep)
	r.meet(ctx, NotificationsIn) // then other processes close their sessions, which may wake clients of this one
	if r.allErrs > 0 {           // some may have come after the last report
		r.reportProgress(record.Duration, metrics.Lap{}, record.Generator.CPUCores)
	}
	record.Disturbed = record.Whole.Cuts > 0 || r.allErrs > 0 || r.cut || r.failed()
	r.fillRounds(record)
	record.Herd = meter.Herd()
	record.Safety = r.pool.instances.verdict().WithDelivery(meter.Delivery())
	record.Errors = r.errors
	stopWatching()
	r.warn(record)
	watch.warn(record)
	return record
}

// fillRounds fills in the rounds of the window and their times when all clients have ended: a client may
// have read the clock before the window closed and have recorded its turn after that.
func (r *runner) fillRounds(m *metrics.Record) {
	r.pool.instances.fill(m)
	r.countArrivals(&m.Generator)
	m.Rounds = r.done()
	if n := len(m.Intervals); n > 0 {
		rest := m.Rounds
		for _, i := range m.Intervals[:n-1] {
			rest -= i.Rounds
		}
		m.Intervals[n-1].Rounds = rest
	}
}
