package settled

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// Result is the cost of one settled run of a form.
type Result struct {
	Rounds  int64 // of the recipe
	Counts  metrics.Counts
	Largest int64 // largest fan-out of one write
	// Server is the server's own count of the same run, without pings, flushes and syncs; nil where
	// the server keeps none.
	Server *drivers.Counters
	Safety metrics.Safety
	Trace  []TraceStep
}

// A Script is a workload that can be driven one step at a time.
type Script interface {
	workloads.Workload
	// Settle performs the steps of one settled run.
	Settle(ctx context.Context, s *Stepper) error
}

// Run performs one settled run: the clients take steps one at a time, and the whole system is
// at rest between any two. The counts depend on the form, the number of clients and the settings,
// and not on timing.
func Run(ctx context.Context, service drivers.Service, form workloads.Form, clients int, s workloads.Settings) (_ Result, err error) {
	w, ok := form.New(s).(Script)
	if !ok {
		return Result{}, fmt.Errorf("settled run of %v: %w: it is load, and its settings determine what it costs", form, drivers.ErrUnsupported)
	}
	c := workloads.NewSettledPool(service, form, w, s)
	tracers := make([]*tracer, workloads.SessionCount(w, clients))
	var steps sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel() // after an error, release the clients that still wait
		if e := c.Close(); err == nil {
			err = e
		}
		steps.Wait()
	}()
	if err := c.Prepare(ctx, clients); err != nil {
		return Result{}, err
	}
	if err := c.OpenSessions(ctx, clients, func(i int, p drivers.Probe) drivers.Probe {
		tracers[i] = &tracer{next: p}
		return tracers[i]
	}); err != nil {
		return Result{}, err
	}
	st := newStepper(c, tracers, &steps)
	if err := st.rest(ctx); err != nil {
		return Result{}, err
	}
	return st.measure(ctx, w)
}

// measure measures the workload's own script.
func (st *Stepper) measure(ctx context.Context, w Script) (Result, error) {
	meter := st.pool.Meter
	counting, before, err := st.resetServerCount(ctx)
	if err != nil {
		return Result{}, err
	}
	st.pool.Window.Open(time.Now())
	for _, t := range st.tracers {
		t.start()
	}
	if err := w.Settle(ctx, st); err != nil {
		return Result{}, err
	}
	st.pool.Window.Close(time.Now())
	var timed metrics.Record
	w.Fill(&timed)
	done := Result{Rounds: timed.Rounds, Counts: meter.Counts().Sub(before), Largest: meter.Herd().Largest, Safety: w.Verdict(), Trace: st.trace}
	if counting != nil {
		done.Server, err = st.serverCount(ctx, counting, before)
	}
	return done, err
}

// A Stepper moves the clients of a settled run, one step at a time, for a [Script].
type Stepper struct {
	Slots []*workloads.Slot

	pool    *workloads.Pool
	tracers []*tracer
	trace   []TraceStep
	owners  map[string]int // creators of the nodes with a sequential name, by path

	running *sync.WaitGroup // steps that have begun and not ended

	mu      sync.Mutex
	steps   []*activeStep // steps whose end the trace has not reported
	changes uint64        // counts the begins and ends of steps
	failed  error
}

// An activeStep is a step that has begun. A client may have several: it may follow a node and change it.
type activeStep struct {
	client   int
	spot     *drivers.Spot
	ended    bool
	outcome  string // what the trace says when the step has ended
	reported bool   // the trace has said that it sleeps
	changes  uint64 // the spot's moves when the trace said so
}

func newStepper(c *workloads.Pool, tracers []*tracer, steps *sync.WaitGroup) *Stepper {
	return &Stepper{running: steps, Slots: c.Slots, pool: c, tracers: tracers, owners: make(map[string]int)}
}

// Do begins a step of one client and rests. sets describes what the client begins to do ("arrives"),
// and ends the outcome when the step has ended ("holds"), or "" for none. The context of step parks
// on a spot of its own.
func (st *Stepper) Do(ctx context.Context, client int, sets, ends string, step func(context.Context) error) error {
	st.trace = append(st.trace, TraceStep{Client: client, Title: sets})
	a := &activeStep{client: client, spot: &drivers.Spot{Ticks: true}, outcome: ends}
	st.begin(a)
	st.running.Go(func() { st.end(a, step(drivers.WithSpot(ctx, a.spot))) })
	return st.rest(ctx)
}

func (st *Stepper) begin(a *activeStep) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.steps = append(st.steps, a)
	st.changes++
}

func (st *Stepper) end(a *activeStep, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	a.ended = true
	st.changes++
	if err != nil && st.failed == nil {
		st.failed = fmt.Errorf("client %d: %w", a.client+1, err)
	}
}

// Tick makes each client that polls look once and rests, as many times.
func (st *Stepper) Tick(ctx context.Context, times int) error {
	for range times {
		st.mu.Lock()
		for _, a := range st.steps {
			a.spot.Tick()
		}
		st.mu.Unlock()
		if err := st.rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// restTime bounds the wait for rest, which takes milliseconds on a service that answers.
const restTime = 30 * time.Second

// restInterval is how long rest waits before it checks again whether a client still moves.
const restInterval = 50 * time.Microsecond

// rest returns when everything is at rest, and proves it: every client is parked or idle, then
// each session is flushed, so that all notifications in transit have arrived, and nothing moved in
// the meantime.
func (st *Stepper) rest(ctx context.Context) error {
	deadline := time.Now().Add(restTime)
	for {
		before := st.observe()
		if before.busy < 0 {
			if err := st.pool.Flush(ctx); err != nil {
				return err
			}
			if st.observe() == before {
				st.traceStep()
				return st.failed
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not at rest after %v: client %d is still busy", restTime, before.busy+1)
		}
		time.Sleep(restInterval)
	}
}

// A snapshot is everything that changes when something happens. If two looks are equal, nothing
// happened between them.
type snapshot struct {
	busy    int // a client that is neither idle nor parked; −1 if there is none
	changes uint64
	counts  metrics.Counts
}

func (st *Stepper) observe() snapshot {
	st.mu.Lock()
	defer st.mu.Unlock()
	l := snapshot{busy: -1, changes: st.changes, counts: st.pool.Meter.Counts()}
	// Heartbeats come at any time, and the flushes are the stepper's own.
	l.counts.Pings, l.counts.Flushes, l.counts.BytesIn, l.counts.BytesOut = 0, 0, 0, 0
	for _, a := range st.steps {
		parked, moves := a.spot.Parked()
		l.changes += moves
		if !a.ended && !parked && !st.libraryWaits(a.client) {
			l.busy = a.client
		}
	}
	return l
}

// libraryWaits reports whether a client of a library form waits. Such a client does not park on a
// spot, but it waits if its last reply armed a watch that has not fired.
func (st *Stepper) libraryWaits(client int) bool {
	return st.pool.Form.Family == workloads.Library && st.Slots[client].Marks.Quiet()
}

// resetServerCount resets the server's own count and returns ours at that moment. counting is nil if the
// server keeps no count, or if this run did not start the server: other clients may use that
// server, and its statistics are not ours to reset.
func (st *Stepper) resetServerCount(ctx context.Context) (counting drivers.ServerStats, before metrics.Counts, err error) {
	counting, _ = st.pool.Service.(drivers.ServerStats)
	if counting == nil || st.pool.Service.Info().Started == "" {
		return nil, st.pool.Meter.Counts(), nil
	}
	err = st.whileQuiet(ctx, func() error {
		if counting.Reset(ctx) != nil {
			counting = nil
		}
		before = st.pool.Meter.Counts()
		return nil
	})
	return counting, before, err
}

// serverCount returns what the server has counted since resetServerCount, without heartbeats, watches armed
// again, flushes and syncs. It returns nil if the server does not count in our terms. With
// persistent watches no server does: ZooKeeper counts arming one as a read, and counts two
// notifications for the deletion of a watched node, one in each of its watch tables, though it
// sends one. Nor does one on which sessions were opened: the servers count that as a write.
func (st *Stepper) serverCount(ctx context.Context, counting drivers.ServerStats, before metrics.Counts) (*drivers.Counters, error) {
	var server drivers.Counters
	var ours metrics.Counts
	err := st.whileQuiet(ctx, func() error {
		ours = st.pool.Meter.Counts().Sub(before)
		all, err := counting.Counters(ctx)
		server = all.Sum()
		return err
	})
	if err != nil || !server.OurTerms || ours.Armings+ours.Opens > 0 {
		return nil, err
	}
	server.Reads -= unrequested(ours) + ours.Flushes + ours.Syncs
	return &server, nil
}

// unrequested returns the number of requests that a client library sends by itself: heartbeats, and
// requests that arm watches again. go-zookeeper also sends the latter some time after a first
// connection, if a watch is armed by then.
func unrequested(c metrics.Counts) int64 { return c.Pings + c.Rearms }

// whileQuiet calls look while no request of the client libraries is in transit: a request that only
// one side has counted would appear as a read. If one is sent in the meantime, quietly calls look
// again.
func (st *Stepper) whileQuiet(ctx context.Context, look func() error) error {
	for {
		if err := st.pool.Flush(ctx); err != nil {
			return err
		}
		before := unrequested(st.pool.Meter.Counts())
		if err := look(); err != nil {
			return err
		}
		if err := st.pool.Flush(ctx); err != nil {
			return err
		}
		if unrequested(st.pool.Meter.Counts()) == before {
			return nil
		}
	}
}
