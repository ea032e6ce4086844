package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A ServiceLost is the error of a run that ended because its service was gone for longer than the
// sessions live. Its Record holds the measurements up to then.
type ServiceLost struct {
	Answered time.Duration // when the service last answered, from the opening of the window; negative: before that
	Gone     time.Duration // how long no client had had a session then
}

func (e *ServiceLost) Error() string {
	when := fmt.Sprintf("%.1f s after the window opened", e.Answered.Seconds())
	if e.Answered < 0 {
		when = "before the window opened"
	}
	return fmt.Sprintf("the service is gone: it last answered %s, and all sessions have ended since", when)
}

const (
	// lookInterval is the interval at which a monitor looks at what has ended: the error of its gaps.
	lookInterval = 50 * time.Millisecond
	// goneTime is how long no client may be able to open a session after all sessions have ended.
	goneTime = time.Second
	// silentTime is for how long a service may leave requests unanswered while no round ends until a run that is
	// interrupted no longer waits for it.
	silentTime = time.Second
)

// A monitor watches a run: whether rounds and operations end, and whether its service answers.
type monitor struct {
	r     *runner
	ended sync.WaitGroup

	mu       sync.Mutex
	open     bool           // the window is open, and the paces have begun
	paces    []metrics.Pace // of the rounds, then of each phase
	bytes    int64          // that the clients have received
	answered time.Time      // when the service had last sent some
	without  time.Time      // since when no client has a session; zero if one has
	lost     *ServiceLost
	silent   metrics.Silence
}

// timed is a workload that says how often each of its phases has ended.
type timed interface{ Latencies() []*metrics.Latency }

// startMonitor watches the run until stop is called.
func (r *runner) startMonitor(run context.Context) (_ *monitor, stop func()) {
	m := &monitor{r: r, paces: []metrics.Pace{{Counted: r.all}}, answered: time.Now(), silent: metrics.NewSilence(len(r.pool.Slots))}
	if w, ok := r.pool.instances[0].(timed); ok && !r.pool.instances[0].Together() {
		for _, l := range w.Latencies() {
			m.paces = append(m.paces, metrics.Pace{Phase: l.Name(), Counted: l.Ended})
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.ended.Go(func() { m.watch(ctx, run) })
	return m, func() {
		cancel()
		m.ended.Wait()
	}
}

// watch looks until ctx ends. run ends when the run is interrupted.
func (m *monitor) watch(ctx, run context.Context) {
	ticks := time.NewTicker(lookInterval)
	defer ticks.Stop()
	const often = lapTime / lookInterval
	for i := 1; ; i++ {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		m.look(false)
		if i%int(often) != 0 {
			continue
		}
		if m.serviceGone() {
			m.r.leaveService(m.lost)
			return
		}
		silence := m.silence(time.Now())
		m.r.silence.Store(int64(silence))
		if run.Err() != nil && silence >= silentTime {
			m.r.leaveService(nil)
			return
		}
	}
}

// look looks at what has ended since the last look.
func (m *monitor) look(closing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open {
		return
	}
	now := time.Now()
	for i := range m.paces {
		m.paces[i].Look(now, closing)
	}
	m.open = !closing
}

// begin opens the window.
func (m *monitor) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = true
	now := time.Now()
	for i := range m.paces {
		m.paces[i].Begin(now)
	}
}

// serviceGone reports whether every session has ended, one of them because the service did not answer
// for as long as it lives and no fault explains that, and no client has been able to open another since.
func (m *monitor) serviceGone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if bytes := m.r.pool.Meter.Counts().BytesIn; bytes != m.bytes {
		m.bytes, m.answered = bytes, now
	}
	givenUp := false
	for _, s := range m.r.pool.Slots {
		switch drivers.State(s.state.Load()) {
		case drivers.SessionGivenUp:
			givenUp = givenUp || !m.r.pool.faults.explain(s, now.Sub(m.answered))
		case drivers.SessionLost, drivers.SessionClosed:
		default:
			if m.r.pool.faults.freeze(s) {
				continue
			}
			m.without = time.Time{}
			return false
		}
	}
	if m.without.IsZero() {
		m.without = now
	}
	if !givenUp || now.Sub(m.without) < goneTime {
		return false
	}
	m.lost = &ServiceLost{Answered: -1, Gone: now.Sub(m.answered)}
	if w := m.r.window; w.IsOpen() {
		m.lost.Answered = m.answered.Sub(w.Opens())
	}
	return true
}

// silence returns for how long no round has ended although a client waits for an answer or for a connection.
func (m *monitor) silence(now time.Time) time.Duration {
	rounds := m.r.all()
	if b := m.r.background; b != nil {
		rounds += b.all()
	}
	m.silent.Look(now, rounds)
	for i, s := range m.r.pool.Slots {
		answers, outstanding := s.Marks.Answers()
		state := drivers.State(s.state.Load())
		connected, closed := state == drivers.Connected, state == drivers.SessionClosed
		m.silent.Client(i, !closed && (outstanding || !connected) && !m.r.pool.faults.freeze(s), connected, answers)
	}
	return m.silent.Length()
}

// leaveService ends the run, because its service is gone if why is not nil: no client can end its round, and nothing that
// follows waits for the service.
func (r *runner) leaveService(why *ServiceLost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil && r.rounds.Err() == nil {
		r.lost, r.cut = why, true
		r.abandon()
	}
	r.background.leaveService()
	r.pool.leave()
	r.halt()
}

// warn records what a reader must know of how evenly the run went, and of its sessions. Faults explain
// that, and storms the former.
func (m *monitor) warn(record *metrics.Record) {
	if lost := m.r.lost; lost != nil {
		record.Doubt(metrics.Warning{Code: metrics.ServiceLost, Numbers: metrics.Numbers{
			"answered_ns": float64(lost.Answered), "gone_ns": float64(lost.Gone), "sessions": float64(len(m.r.pool.Slots))}})
	}
	if m.r.plan.faulty {
		return
	}
	if s := record.Sessions; s.Disconnected > 0 {
		record.Warn(metrics.Warning{Code: metrics.Disconnected, Numbers: metrics.Numbers{"sessions": float64(s.Disconnected),
			"times": float64(s.Disconnections), "lost": float64(s.Lost), "given_up": float64(s.GivenUp)}})
	}
	if record.Storm != nil {
		return
	}
	pause := m.r.plan.Settings.Hold + m.r.plan.Settings.Think
	clients := 0 // where one change serves all clients, the ends of a phase come in bursts
	for i := range m.paces {
		if longest, typical, is := m.paces[i].Stall(record.Duration, pause, clients); is {
			w := metrics.Warning{Code: metrics.Stalled, Numbers: metrics.Numbers{"longest_ns": float64(longest), "typical_ns": float64(typical)}}
			if i > 0 {
				w.Names = metrics.Names{"phase": m.paces[i].Phase}
			}
			record.Warn(w)
			if i == 0 {
				return // its phases stalled as well
			}
		}
		if record.Mix == nil {
			clients = m.r.plan.Clients
		}
	}
}
