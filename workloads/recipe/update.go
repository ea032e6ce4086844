package recipe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A gathering is the part of the workloads whose rounds each take all clients.
type gathering struct {
	metrics.Timings
	counted   int  // the index of the phase whose times show how many rounds ended
	perClient bool // a round has as many times of that phase as clients, not one
	clients   int
	exchange  *exchange.Exchange
	recorded  *check.Steps
}

func gather(s workloads.Settings, counted int, phases ...*metrics.Latency) gathering {
	return gathering{Timings: phases, counted: counted, exchange: s.Exchange(), recorded: s.Steps()}
}

func (g *gathering) Together() bool { return true }

// Taker returns the first client: its process starts the rounds.
func (g *gathering) Taker(int64) int { return 0 }

func (g *gathering) Fill(r *metrics.Record) {
	g.Timings.Fill(r)
	r.Rounds = r.Phases[g.counted].Service.TotalCount()
	if g.perClient {
		r.Rounds /= int64(g.clients)
	}
}

// recordTime makes a change of a round that was due, and records how long it took.
func recordTime(
	s *workloads.Slot, round *metrics.Times, l *metrics.Latency, due time.Time, change func() error,
) error {
	asked := time.Now()
	if err := change(); err != nil {
		return err
	}
	now := time.Now()
	s.RecordIn(round, l, now.Sub(asked), now.Sub(due))
	return nil
}

// joinAll lets the clients of all slots join a settled run, one at a time, and each make its first step, if any, before
// the next one joins.
func joinAll[C any](st *settled.Stepper, join func(*workloads.Slot) (C, error), first func(C) error) (clients []C, err error) {
	for _, slot := range st.Slots {
		c, err := join(slot)
		if err == nil && first != nil {
			err = first(c)
		}
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

// updating is the part of the workloads in which the first client makes updates that all must see.
type updating struct {
	gathering
	think       time.Duration
	updateCount int64 // of a settled run
	path        string
	updates     *updates

	converge *metrics.Latency // from the request for an update until one client sees it
	update   *metrics.Latency // from the request for an update until it is acknowledged
}

// newUpdating returns that part of a workload whose rounds begin with these phases.
func newUpdating(s workloads.Settings, phases ...*metrics.Latency) updating {
	w := updating{think: s.ThinkTime(), updateCount: s.UpdateCount(), converge: s.Latency("converge"), update: s.Latency("update")}
	w.gathering = gather(s, len(phases)+1, append(phases, w.converge, w.update)...)
	return w
}

func (w *updating) attach(path string, clients int) {
	w.path, w.updates = path, newUpdates(clients, w.exchange, w.recorded, w.converge)
}

// begin begins the slot's part of a round. The first client makes the update, whose number change gets.
func (w *updating) begin(
	ctx context.Context, slot *workloads.Slot, change func(ctx context.Context, round *metrics.Times, number int64, due time.Time) error,
) (*update, error) {
	slot.Marks.PhaseBegin()
	s := w.updates.join(slot)
	if slot.Index > 0 {
		return s, nil
	}
	number := slot.TurnsTaken() + 1
	if err := s.make(ctx, slot, w.think, func(due time.Time) error { return change(ctx, &s.times, number, due) }); err != nil {
		return nil, fmt.Errorf("update: %w", err)
	}
	return s, nil
}

// Judge adds to what the processes found by themselves the updates that were seen before they were made.
func (w *updating) Judge(g divided.Gathered) divided.Findings {
	var judge check.UpdateJudge
	for _, s := range check.Ordered(g.Steps) {
		judge.Take(s)
	}
	return divided.Findings{Added: judge.Verdict()}
}

// updates manages the rounds of a workload in which one client makes an update that all must see.
// A round begins when all clients are ready for it, so that no client misses the update before,
// and it is over when all have seen its update.
type updates struct {
	clients  int
	exchange *exchange.Exchange
	recorded *check.Steps
	converge *metrics.Latency // from the request for an update until one client sees it

	mu     sync.Mutex
	active map[int64]*update // by turn
}

// A update is one update that is being distributed to all clients, as this process knows it.
type update struct {
	*updates
	turn  int64
	ready map[*workloads.Slot]bool
	seen  int // how many clients of this process have finished their part
	times metrics.Times

	mu      sync.Mutex
	arrival *openloop.Ticket // holds the update's arrival; nil in a closed loop, and in other processes
	due     time.Time        // when the update was first due
	asked   time.Time        // when it was first requested; zero if that was not in this process
}

func newUpdates(clients int, e *exchange.Exchange, recorded *check.Steps, converge *metrics.Latency) *updates {
	return &updates{clients: clients, exchange: e, recorded: recorded, converge: converge, active: make(map[int64]*update)}
}

// The topics of an update, by turn.
const (
	readyTopic = "ready" // a client is ready for it
	madeTopic  = "made"  // the service has acknowledged it
	seenTopic  = "seen"  // a client has seen it
)

// join records that the slot is ready for the update of its turn. Joining again with a new session
// changes nothing.
func (s *updates) join(slot *workloads.Slot) *update {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.active[slot.TurnsTaken()]
	if p == nil {
		p = &update{updates: s, turn: slot.TurnsTaken(), ready: make(map[*workloads.Slot]bool)}
		s.active[slot.TurnsTaken()] = p
	}
	if !p.ready[slot] {
		p.ready[slot] = true
		s.exchange.Announce(readyTopic, p.turn)
	}
	return p
}

// leave records that the slot has seen the update. It returns how many rounds ended with it: 1 for
// the last slot of a round, of the process that made the update.
func (s *updates) leave(ctx context.Context, slot *workloads.Slot) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.active[slot.TurnsTaken()]
	if slot.OpenLoop() {
		s.exchange.Announce(seenTopic, p.turn)
	}
	_, here := s.exchange.Sessions(s.clients)
	if p.seen++; p.seen < here {
		return 0
	}
	delete(s.active, slot.TurnsTaken())
	slot.EndRound(&p.times, p.arrival, time.Time{})
	return p.end(ctx)
}

// end returns 1 if this process made the update. It ends the update's arrival when all clients of all
// processes have seen the update.
func (p *update) end(ctx context.Context) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked.IsZero() {
		return 0
	}
	if p.arrival != nil {
		_ = p.exchange.CallWhen(ctx, seenTopic, p.turn, p.clients, func() error { p.arrival.Finish(); return nil })
	}
	return 1
}

// awaitMade waits until the service has acknowledged the update.
func (p *update) awaitMade(ctx context.Context) error {
	return p.exchange.Await(ctx, madeTopic, p.turn, 1)
}

// make waits until all are ready and the update is due, and makes it. Only one client calls it,
// from its slot.
func (p *update) make(ctx context.Context, slot *workloads.Slot, think time.Duration, update func(due time.Time) error) error {
	if err := p.exchange.Await(ctx, readyTopic, p.turn, p.clients); err != nil {
		return err
	}
	due := p.arrive(ctx, slot, think)
	if err := update(due); err != nil {
		return err
	}
	if !p.acknowledged() {
		p.exchange.Announce(madeTopic, p.turn)
	}
	return nil
}

// arrive waits until the update is due. The update is due once, however many attempts it takes to
// make it. When no more rounds begin arrive still returns, since the other clients wait for the
// update.
func (p *update) arrive(ctx context.Context, slot *workloads.Slot, think time.Duration) (due time.Time) {
	p.mu.Lock()
	again := !p.asked.IsZero()
	if !again {
		p.arrival = slot.NewArrival()
	}
	p.mu.Unlock()
	if again {
		return p.due
	}
	if p.arrival != nil {
		due, _ = slot.AwaitArrival(ctx, p.arrival)
	} else {
		due, _ = slot.Arrive(ctx, think)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due, p.asked = due, time.Now()
	p.recorded.RecordAt(p.asked, check.Step{Kind: check.Began, Name: p.converge.Name(), Client: slot.Index, Turn: p.turn, Lag: p.asked.Sub(due)})
	return due
}

// converged records how long after its request, and after it was due, the client saw the update. What it saw
// before the request is not the update: the client is not notified of that.
func (p *update) converged(slot *workloads.Slot, seen time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.asked.IsZero(): // a client of another process has made the request
		p.recorded.RecordAt(seen, check.Step{Kind: check.Reached, Name: p.converge.Name(), Client: slot.Index, Turn: p.turn})
	case !seen.Before(p.asked):
		slot.RecordIn(&p.times, p.converge, seen.Sub(p.asked), seen.Sub(p.due))
	}
}

// acknowledged reports whether the service has acknowledged the update. A client that does not see it
// now never will.
func (p *update) acknowledged() bool { return p.exchange.Announced(madeTopic, p.turn) > 0 }

// Judge finds nothing: each process knows all members.
func (w *groupWorkload) Judge(divided.Gathered) divided.Findings { return divided.Findings{} }

// Taker returns the client whose membership changes.
func (w *groupWorkload) Taker(turn int64) int {
	who, _ := w.changes(turn)
	return who
}
