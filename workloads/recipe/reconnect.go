package recipe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Reconnector is the policy by which a client comes back after an outage.
type Reconnector interface {
	// Reconnect calls connect, which makes one attempt to open a session and to register the client,
	// until it succeeds or ctx ends. It calls it again after ErrConnectionLoss and ErrSessionLost, and
	// returns any other error.
	Reconnect(ctx context.Context, connect func(context.Context) error) error
}

// Reconnects returns the workload constructor for a form of reconnect. In each round all clients lose
// their sessions, and for the length of the outage the service refuses connections. The round is over
// when all clients have come back: each has opened a session and registered itself with an ephemeral
// node. The outage is made by the leader, which is not a client: its session is not hit. open creates
// the policy of one client, which draws from random.
func Reconnects[R Reconnector](open func(random *rand.Rand) R) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		w := &reconnectWorkload{think: s.ThinkTime(), outage: s.OutageTime(), back: s.Latency(backPhase), over: s.Latency("over"),
			open: func(random *rand.Rand) Reconnector { return open(random) }}
		w.gathering = gather(s, 1, w.back, w.over)
		return w
	}
}

// The points of a round in which clients come back.
const (
	lostPoint     = "lost"     // each client has lost its session
	brokenPoint   = "broken"   // the outage begins, and all clients try to come back
	restoredPoint = "restored" // the service accepts connections again
	backPoint     = "back"     // each client is back
	listedPoint   = "listed"   // the registrations are known
	backPhase     = "back"
)

// refusalTime is how long it takes until a client learns that its connection is refused: a round trip in a
// data center. It bounds how often a client can try in a second.
const refusalTime = time.Millisecond

type reconnectWorkload struct {
	gathering
	think  time.Duration // from the end of a round until the next outage
	outage time.Duration
	open   func(random *rand.Rand) Reconnector
	rounds workloads.Rounds
	judge  *check.RoundJudge[check.Returns]

	back *metrics.Latency // from the end of the outage until one client is back
	over *metrics.Latency // until all clients are back

	outages, attempts, second, tenth atomic.Int64 // see metrics.Reconnects

	mu    sync.Mutex
	burst map[*workloads.Round]*metrics.Burst // of the attempts in the rounds that the leader has begun
}

func (w *reconnectWorkload) Attach(admin drivers.Conn, base string, clients int) {
	w.clients = clients
	w.rounds = workloads.Rounds{Admin: admin, PathPrefix: base + "/outage-", Slots: clients + 1,
		Create: func(ctx context.Context, c drivers.Conn, path string) error {
			return namespace.CreateNode(ctx, c, path, nil, 0)
		},
		Exchange: w.exchange, Steps: w.recorded}
	w.burst = map[*workloads.Round]*metrics.Burst{}
	w.judge = newReturnsJudge(clients)
	w.recorded.JudgeBy(w.judge.Take)
}

func (w *reconnectWorkload) Setup(ctx context.Context, _ drivers.Conn) error {
	return w.rounds.CreateFirst(ctx)
}

// Leads returns true: the leader makes the outage.
func (w *reconnectWorkload) Leads() bool { return true }

func (w *reconnectWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	if s.Index == w.clients {
		return &outageMaker{w, s}, nil
	}
	return w.client(s), nil
}

func (w *reconnectWorkload) client(s *workloads.Slot) *reconnectClient {
	return &reconnectClient{reconnectWorkload: w, slot: s, policy: w.open(s.Rand)}
}

func (w *reconnectWorkload) Fill(r *metrics.Record) {
	w.gathering.Fill(r)
	all := cmp.Or(r.Reconnects, new(metrics.Reconnects)) // of the instances before
	outages := w.outages.Load()
	r.Reconnects = &metrics.Reconnects{Outage: w.outage, Outages: all.Outages + outages, Returns: all.Returns + outages*int64(w.clients),
		Attempts: all.Attempts + w.attempts.Load(), Second: all.Second + w.second.Load(), Tenth: all.Tenth + w.tenth.Load()}
}

func (w *reconnectWorkload) Verdict() metrics.Safety {
	w.rounds.End()
	return w.judge.Verdict()
}

// Judge judges the returns, and says how long each outage lasted after its end: until the last client was back.
func (w *reconnectWorkload) Judge(g divided.Gathered) divided.Findings {
	safety := newReturnsJudge(g.Clients).TakeAll(g.Steps)
	return divided.Findings{Safety: &safety, Times: divided.UntilAll(g, restoredPoint, "over")}
}

// newReturnsJudge returns the judge of outages. In Passed, Name is the name of the client's registration; in Decided it
// has the names of all, each after a slash. Saw says whether the client's session was disturbed.
func newReturnsJudge(clients int) *check.RoundJudge[check.Returns] {
	return &check.RoundJudge[check.Returns]{
		Slots: clients + 1,
		Share: func() *check.Returns { return check.NewReturns(clients) },
		Apply: func(returns *check.Returns, _ check.Client, s check.TimedStep) {
			switch {
			case s.Kind == check.Passed:
				returns.Back(s.Client, s.Name)
			case s.Kind == check.GaveUp:
				returns.GaveUp(s.Client)
			case s.Kind == check.Saw && s.Disturbed:
				returns.Disturbed(s.Client)
			case s.Kind == check.Decided:
				returns.Registered(strings.Split(s.Name, "/")[1:])
			}
		},
		Judge: func(s *metrics.Safety, returns *check.Returns, _ func(check.Client) bool) { returns.Judge(s) },
	}
}

// Settle makes an outage of no length: the clients lose their sessions and come back one at a time. A client that waits
// before its attempt loses its session after the wait, since only open sessions come to rest.
func (w *reconnectWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	leader := &outageMaker{w, st.Slots[w.clients]}
	r, err := w.rounds.Join(ctx, leader.slot)
	if err != nil {
		return err
	}
	leader.breakOff(r)
	leader.restore(r)
	for i, slot := range st.Slots[:w.clients] {
		c := w.client(slot)
		r, err := w.rounds.Join(ctx, slot)
		if err != nil {
			return err
		}
		if err := st.Do(ctx, i, "comes back", "is back", func(ctx context.Context) error {
			return c.policy.Reconnect(ctx, func(ctx context.Context) error {
				if err := c.slot.Conn.Close(); err != nil {
					return err
				}
				return c.connect(ctx, r)
			})
		}); err != nil {
			return err
		}
		if err := st.Tick(ctx, 1); err != nil {
			return err
		}
		w.rounds.Record(w.back, r, slot, time.Now(), time.Since(leader.restored(r)))
		w.rounds.Arrive(r, slot, backPoint)
		if _, err := w.rounds.Finish(ctx, slot); err != nil {
			return err
		}
	}
	return leader.end(ctx, r)
}

// A reconnectClient loses its session in each round and comes back.
type reconnectClient struct {
	*reconnectWorkload
	slot   *workloads.Slot
	policy Reconnector

	returned bool           // in this round
	before   int64          // the slot's disturbances when it had connected
	extra    []drivers.Conn // earlier sessions of a client that came back more than once
}

func (c *reconnectClient) Turn(ctx context.Context) (_ int64, err error) {
	r, err := c.rounds.Join(ctx, c.slot)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil { // it comes to the same round again, in another session
			c.rounds.Note(r, c.slot, time.Now(), check.Step{Kind: check.Saw, Disturbed: true})
		}
	}()
	c.returned = false
	_ = c.slot.Conn.Close() // if the service cannot be told, it will expire
	c.rounds.Arrive(r, c.slot, lostPoint)
	if err := c.rounds.Wait(ctx, r, brokenPoint, 1); err != nil {
		return 0, err
	}
	if err := c.policy.Reconnect(ctx, func(ctx context.Context) error { return c.connect(ctx, r) }); err != nil {
		if ctx.Err() == nil {
			c.rounds.Note(r, c.slot, time.Now(), check.Step{Kind: check.GaveUp})
		}
		return 0, err
	}
	now := time.Now()
	if restored, here := c.rounds.Started(r); here {
		c.rounds.Record(c.back, r, c.slot, now, now.Sub(restored))
	} else { // a leader of another process has ended the outage
		c.rounds.Note(r, c.slot, now, check.Step{Kind: check.Reached, Name: backPhase})
	}
	c.slot.Served(now)
	c.rounds.Arrive(r, c.slot, backPoint)
	if err := c.rounds.Wait(ctx, r, listedPoint, 1); err != nil {
		return 0, err
	}
	// A client may learn late that its session was lost before the registrations were listed.
	disturbed := c.returned && (drivers.Flush(ctx, c.slot.Conn) != nil || c.slot.Disturbances() != c.before)
	c.rounds.Note(r, c.slot, time.Now(), check.Step{Kind: check.Saw, Disturbed: disturbed})
	for _, conn := range c.extra {
		_ = conn.Close()
	}
	c.extra = nil
	return c.rounds.Finish(ctx, c.slot)
}

// connect makes one attempt to come back.
func (c *reconnectClient) connect(ctx context.Context, r *workloads.Round) error {
	c.tried(r, time.Now())
	if !c.rounds.AllArrived(r, restoredPoint, 1) {
		workloads.Sleep(ctx, refusalTime)
		return fmt.Errorf("%w: the service refuses connections", drivers.ErrConnectionLoss)
	}
	if c.returned {
		c.extra = append(c.extra, c.slot.Conn)
	}
	if err := c.slot.Open(ctx); err != nil {
		return failedAttempt(err)
	}
	c.before = c.slot.Disturbances()
	node := protected.NewPlace(c.slot.Conn, r.Path, fmt.Sprintf("client-%d-", c.slot.Number()))
	if err := node.Create(ctx); err != nil {
		_ = c.slot.Conn.Close() // its node, if there is one, ends with the session
		return failedAttempt(err)
	}
	c.returned = true
	c.rounds.Note(r, c.slot, time.Now(), check.Step{Kind: check.Passed, Name: path.Base(node.Path())})
	return nil
}

// failedAttempt returns the error of an attempt: that the service does not answer, unless it has refused the client.
func failedAttempt(err error) error {
	if errors.Is(err, drivers.ErrRefused) || errors.Is(err, drivers.ErrSessionLost) {
		return err
	}
	return fmt.Errorf("%w: %w", drivers.ErrConnectionLoss, err)
}

// tried counts an attempt, in the process of the leader.
func (w *reconnectWorkload) tried(r *workloads.Round, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := w.burst[r]; b != nil {
		b.Add(at, 1)
	}
}

// An outageMaker breaks off the service for the clients of each round, and restores it.
type outageMaker struct {
	*reconnectWorkload
	slot *workloads.Slot
}

func (m *outageMaker) Turn(ctx context.Context) (int64, error) {
	workloads.Sleep(ctx, m.think)
	r, err := m.rounds.Join(ctx, m.slot)
	if err != nil {
		return 0, err
	}
	if err := m.rounds.Wait(ctx, r, lostPoint, m.clients); err != nil {
		return 0, err
	}
	m.breakOff(r)
	workloads.Sleep(ctx, m.outage)
	m.restore(r)
	if err := m.rounds.Wait(ctx, r, backPoint, m.clients); err != nil {
		return 0, err
	}
	if err := m.end(ctx, r); err != nil {
		return 0, err
	}
	return m.rounds.Finish(ctx, m.slot)
}

// breakOff begins the outage.
func (m *outageMaker) breakOff(r *workloads.Round) {
	m.mu.Lock()
	m.burst[r] = &metrics.Burst{From: time.Now()}
	m.mu.Unlock()
	m.rounds.Arrive(r, m.slot, brokenPoint)
}

// restore ends the outage.
func (m *outageMaker) restore(r *workloads.Round) {
	now := time.Now()
	m.rounds.Start(r, now)
	m.rounds.Note(r, m.slot, now, check.Step{Kind: check.Began, Name: backPhase, Lag: m.rounds.Lag(r, now)})
	m.rounds.Arrive(r, m.slot, restoredPoint)
}

func (m *outageMaker) restored(r *workloads.Round) time.Time {
	at, _ := m.rounds.Started(r)
	return at
}

// end ends the round when all clients are back: it lists the registrations, in a session that is not counted.
func (m *outageMaker) end(ctx context.Context, r *workloads.Round) error {
	now := time.Now()
	admin := drivers.Steady(m.rounds.Admin)
	if err := admin.Sync(ctx, r.Path); err != nil {
		return err
	}
	registered, err := admin.Children(ctx, r.Path, nil)
	if err != nil {
		return err
	}
	names := ""
	for _, name := range protected.Names(registered) {
		names += "/" + name
	}
	elsewhere := m.clients - m.rounds.Here(r, backPoint)
	m.rounds.Note(r, m.slot, now, check.Step{Kind: check.Decided, Name: names, Value: int64(elsewhere)})
	m.count(r)
	if elsewhere <= 0 { // else the steps of all processes show how long it took
		m.rounds.Record(m.over, r, m.slot, now, now.Sub(m.restored(r)))
	}
	m.rounds.Arrive(r, m.slot, listedPoint)
	return nil
}

// count counts the attempts of the round, if it counts.
func (m *outageMaker) count(r *workloads.Round) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.burst[r]
	delete(m.burst, r)
	for counter, n := range map[*atomic.Int64]int64{&m.outages: 1, &m.attempts: b.Total, &m.second: b.Second, &m.tenth: b.Tenth} {
		r.Times.Count(counter, n)
	}
}
