package workloads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Plan is one run: one form on one service with a number of clients, in a
// closed loop.
type Plan struct {
	Service  drivers.Service
	Form     Form
	Clients  int
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
	w := p.Form.New(p.Settings)
	c := &crew{service: p.Service, form: p.Form, workload: w, meter: metrics.NewMeter(), seed: p.Seed}
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

// A runner is a run that goes on.
type runner struct {
	plan Plan
	crew *crew

	rounds   context.Context // what rounds run under: it outlives the stop, so that they can end
	stopping atomic.Bool     // no round begins any more
	stop     chan struct{}   // closed with stopping
	stopOnce sync.Once
	begun    atomic.Bool  // the window is open
	done     atomic.Int64 // rounds that ended in it
	all      atomic.Int64 // rounds that ended at all

	mu      sync.Mutex
	turns   int64 // where a round takes all clients: how many turns somebody has begun
	errors  map[string]int64
	failure error
	cut     bool // rounds had to be abandoned
}

func newRunner(ctx context.Context, p Plan, c *crew) *runner {
	return &runner{plan: p, crew: c, rounds: context.WithoutCancel(ctx),
		stop: make(chan struct{}), errors: make(map[string]int64)}
}

// run goes through the phases: warm up, measure, let every round end.
func (r *runner) run(ctx context.Context) *metrics.Record {
	meter, w := r.crew.meter, r.crew.workload
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
	w.Begin()
	r.begun.Store(true)
	opened, before := time.Now(), meter.Counts()
	record.Intervals = r.measure(ctx, opened, before, self)
	record.Duration = time.Since(opened)
	record.Counts = meter.Counts().Sub(before)
	w.End(record)
	meter.End()
	record.Generator = self.Stop()
	record.Server = r.serverCounted(ctx, server)

	r.halt()
	r.letEnd(clients, abandon)
	r.arrived(ctx)
	record.Whole, record.WholeRounds = meter.Counts().Sub(start), r.all.Load()
	record.Disturbed = record.Whole.Cuts > 0 || len(r.errors) > 0 || r.cut
	record.Herd = meter.Herd()
	record.Safety = w.Verdict()
	record.Errors = r.errors
	record.Warnings = r.warnings(record)
	return record
}

// serverCounts is the server's own account so far, nil where it keeps none.
func (r *runner) serverCounts(ctx context.Context) *drivers.Counters {
	w, ok := r.crew.service.(drivers.Witness)
	if !ok {
		return nil
	}
	c, err := w.Counters(context.WithoutCancel(ctx))
	if err != nil {
		return nil
	}
	return &c
}

// serverCounted is what the server counted since before.
func (r *runner) serverCounted(ctx context.Context, before *drivers.Counters) *drivers.Counters {
	now := r.serverCounts(ctx)
	if before == nil || now == nil {
		return nil
	}
	now.Notifications -= before.Notifications
	now.Reads -= before.Reads
	now.Writes -= before.Writes
	return now
}

// fenceTime bounds the wait for the last notifications.
const fenceTime = 5 * time.Second

// arrived waits for the notifications that are still on their way. Where it
// cannot be known that they arrived, the counts are not of whole rounds.
func (r *runner) arrived(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fenceTime)
	defer cancel()
	if r.crew.fence(ctx) != nil {
		r.cut = true
	}
}

// wait lets d pass unless the run ends before.
func (r *runner) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-r.stop:
	}
}

// lapTime is how long one interval of the result is, and how often progress is told.
const lapTime = 250 * time.Millisecond

// measure lets the window pass and cuts it into intervals.
func (r *runner) measure(ctx context.Context, opened time.Time, before metrics.Counts, self *metrics.Sampler) []metrics.Interval {
	laps := time.NewTicker(lapTime)
	defer laps.Stop()
	var end <-chan time.Time
	if r.plan.Rounds == 0 {
		t := time.NewTimer(r.plan.Duration)
		defer t.Stop()
		end = t.C
	}
	var intervals []metrics.Interval
	last, from, rounds := before, time.Duration(0), int64(0)
	lap := func() {
		now, elapsed, done := r.crew.meter.Counts(), time.Since(opened), r.done.Load()
		i, d := metrics.Interval{Start: from, Rounds: done - rounds}, now.Sub(last)
		i.P50, i.P99 = r.crew.workload.Lap()
		i.Notifications, i.Reads, i.Writes = d.Notifications, d.Reads, d.Writes
		intervals = append(intervals, i)
		last, from, rounds = now, elapsed, done
		r.tell(elapsed, i, self)
	}
	for {
		select {
		case <-laps.C:
			lap()
		case <-end:
			lap()
			return intervals
		case <-r.stop:
			lap()
			return intervals
		case <-ctx.Done():
			return intervals
		}
	}
}

func (r *runner) tell(elapsed time.Duration, i metrics.Interval, self *metrics.Sampler) {
	if r.plan.Progress == nil {
		return
	}
	p := Progress{Measuring: true, Elapsed: elapsed, Rounds: r.done.Load(), P99: i.P99, CPUCores: self.CPUCores()}
	r.mu.Lock()
	for _, n := range r.errors {
		p.Errors += n
	}
	r.mu.Unlock()
	r.plan.Progress(p)
}

// halt makes every client stop after its round.
func (r *runner) halt() {
	r.stopOnce.Do(func() {
		r.stopping.Store(true)
		close(r.stop)
	})
}

// endTime is how long the rounds that have begun may take to end.
const endTime = 15 * time.Second

// letEnd waits for the rounds that have begun. Those that do not end in time
// are abandoned.
func (r *runner) letEnd(clients *sync.WaitGroup, abandon context.CancelFunc) {
	if r.failed() {
		abandon() // there is nothing to keep whole
	}
	t := time.AfterFunc(endTime, func() {
		r.mu.Lock()
		r.cut = true
		r.mu.Unlock()
		abandon()
	})
	defer t.Stop()
	clients.Wait()
}

func (r *runner) startClients() *sync.WaitGroup {
	var clients sync.WaitGroup
	for _, s := range r.crew.seats {
		clients.Go(func() { r.client(s) })
	}
	return &clients
}

// client takes turns until the run stops, with a new session whenever one is
// lost.
func (r *runner) client(s *Seat) {
	s.Stopping = r.stop
	for r.again(s) {
		c, err := r.crew.workload.Join(s)
		for err == nil && r.again(s) {
			var rounds int64
			rounds, err = c.Turn(r.rounds)
			if err == nil {
				s.turns++
				r.ended(rounds)
			}
		}
		if err == nil {
			return
		}
		if r.noteError(s, err); r.failed() {
			return
		}
		if err := s.open(r.rounds, r.crew.service); err != nil {
			r.noteError(s, err)
		}
	}
}

// again tells whether the client takes another turn.
func (r *runner) again(s *Seat) bool {
	if !r.crew.workload.Together() {
		return !r.stopping.Load()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.failure != nil || r.cut:
		return false
	case s.turns < r.turns: // others are in it
		return true
	case r.stopping.Load():
		return false
	}
	r.turns = s.turns + 1
	return true
}

func (r *runner) ended(rounds int64) {
	r.all.Add(rounds)
	if !r.begun.Load() {
		return
	}
	if done := r.done.Add(rounds); r.plan.Rounds > 0 && done >= r.plan.Rounds {
		r.halt()
	}
}

func (r *runner) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure != nil
}

// noteError counts an error. A lost session is part of life; any other means
// that the run cannot go on.
func (r *runner) noteError(s *Seat, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(err, drivers.ErrSessionLost) {
		r.errors[drivers.ErrSessionLost.Error()]++
		return
	}
	if r.failure == nil && r.rounds.Err() == nil {
		r.failure = fmt.Errorf("client %d: %v: %w", s.Index+1, r.plan.Form, err)
	}
	r.halt()
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
