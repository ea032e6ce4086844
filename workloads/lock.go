package workloads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Lock is one client's handle on a lock that several clients share.
type Lock interface {
	// Acquire blocks until this client holds the lock. The context it returns ends when the lock
	// may no longer be held because the session is lost, and when Release is called. If Acquire
	// fails, for instance because its context ended, it leaves nothing on the service.
	Acquire(ctx context.Context) (held context.Context, err error)
	// Token returns the fencing token of the current hold. It is greater than the token of every
	// earlier holder, so that a resource can refuse a holder that does not know yet that it has
	// lost the lock. Forms without tokens return drivers.NoSeq.
	Token() int64
	// Release releases the lock.
	Release(ctx context.Context) error
}

// Locks returns the workload constructor for a form of lock: every client acquires, holds,
// releases and thinks, in a closed loop. open creates one client's handle on the lock at a path,
// which is an existing node. The type S says which kind of session the form needs.
func Locks[S drivers.Conn, L Lock](open func(c S, path string) L) func(Settings) Workload {
	return turns(at[Lock](open), lockWords())
}

func lockWords() turnWords {
	return turnWords{
		recipe: "lock", acquire: "acquire", handoff: "handoff", release: "release",
		arrives: "arrives", holds: "holds", releases: "releases",
	}
}

// turns returns the workload constructor for a recipe in which one client at a time holds
// something that all want, whatever the recipe calls it.
func turns(open opener[Lock], words turnWords) func(Settings) Workload {
	return func(s Settings) Workload {
		return newLockWorkload(s, open, words, words.acquire)
	}
}

// newLockWorkload creates the workload of a lock with these steps before the release. Progress
// reports show the first step.
func newLockWorkload(s Settings, open opener[Lock], words turnWords, steps ...string) *lockWorkload {
	w := &lockWorkload{holdTime: s.hold(), think: s.think(), polls: s.Polls, open: open, words: words,
		handoff: s.latency(words.handoff), release: s.latency(words.release)}
	for _, step := range steps {
		w.steps = append(w.steps, s.latency(step))
	}
	return w
}

// turnWords are the terms of a recipe.
type turnWords struct {
	recipe                    string
	acquire, handoff, release string // its phases
	arrives, holds, releases  string // what a client does when it arrives, holds, and releases
}

type lockWorkload struct {
	holdTime, think time.Duration
	polls           int
	open            opener[Lock]
	words           turnWords
	path            string

	court            exclusion
	recalled         recollection
	queue            *metrics.Queue // which clients asked, and which were granted
	steps            []*metrics.Latency
	handoff, release *metrics.Latency
	force            atomic.Int64 // number of holders that clients have deposed by force
}

func (w *lockWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.path = base + "/" + w.words.recipe
	w.queue = metrics.NewQueue(clients)
	return makeNode(ctx, c, w.path, nil, 0)
}

func (w *lockWorkload) Join(s *Seat) (Client, error) { return w.join(s) }

func (w *lockWorkload) join(s *Seat) (*lockClient, error) {
	l, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	return &lockClient{lockWorkload: w, seat: s, lock: l, acquired: w.steps[0]}, nil
}

func (w *lockWorkload) Together() bool { return false }

func (w *lockWorkload) Begin() {
	for _, l := range w.phases() {
		l.Reset()
	}
	w.queue.Reset()
}

func (w *lockWorkload) phases() []*metrics.Latency {
	return append(slices.Clone(w.steps), w.handoff, w.release)
}

func (w *lockWorkload) Lap() metrics.Lap { return w.steps[0].Lap() }

func (w *lockWorkload) End(r *metrics.Record) {
	r.Phases = phases(w.phases())
	r.Rounds = r.Phases[len(r.Phases)-1].Service.TotalCount()
	fairness := w.queue.Fairness()
	r.Fairness = &fairness
}

// Holder returns the client that was granted the lock last, if it still holds it.
func (w *lockWorkload) Holder() (index int, holds bool) { return w.court.holder() }

func (w *lockWorkload) Verdict() metrics.Safety {
	return w.recalled.locks(w.court.verdict(w.force.Load()))
}

// Settle lets all clients arrive, one at a time, and then release, one at a time. Forms that poll
// look Polls times during each hold, the last time just after its release.
func (w *lockWorkload) Settle(ctx context.Context, st *Stage) error {
	clients := make([]*lockClient, len(st.Seats))
	for i, seat := range st.Seats {
		c, err := w.join(seat)
		if err != nil {
			return err
		}
		clients[i] = c
		if err := c.arrive(ctx, st, w.words.arrives); err != nil {
			return err
		}
	}
	return w.releaseAll(ctx, st, clients)
}

// arrive lets the client request the lock and waits until everything is at rest.
func (c *lockClient) arrive(ctx context.Context, st *Stage, title string) error {
	st.Do(ctx, c.seat.Index, title, c.words.holds, func(ctx context.Context) error {
		_, err := c.acquireLock(ctx)
		return err
	})
	return st.Rest(ctx)
}

// releaseAll lets the current holder release the lock, one client at a time, until every client
// has held it.
func (w *lockWorkload) releaseAll(ctx context.Context, st *Stage, clients []*lockClient) error {
	for range clients {
		holder := slices.IndexFunc(clients, (*lockClient).holds)
		if holder < 0 {
			return fmt.Errorf("nobody has the %s and everybody sleeps", w.words.recipe)
		}
		for range w.polls - 1 {
			st.Tick()
			if err := st.Rest(ctx); err != nil {
				return err
			}
		}
		st.Do(ctx, holder, w.words.releases, "", clients[holder].releaseLock)
		if err := st.Rest(ctx); err != nil {
			return err
		}
		st.Tick()
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A lockClient is one client that performs rounds.
type lockClient struct {
	*lockWorkload
	seat     *Seat
	lock     Lock
	shared   bool             // the lock is of a kind that several clients can share
	shares   bool             // the next hold is shared
	acquired *metrics.Latency // the step in which the client acquires
	due      time.Time        // when the client's work was due; zero means when it asks
	hold     *hold            // the current hold; nil if there is none
	// deposable: other clients may end its hold by force.
	deposable bool
}

func (c *lockClient) holds() bool { return c.hold != nil }

func (c *lockClient) Turn(ctx context.Context) (rounds int64, err error) {
	if !c.arrives(ctx) {
		return 0, nil
	}
	held, err := c.acquireLock(ctx)
	if err != nil {
		return 0, err
	}
	c.seat.keep(held, c.holdTime)
	if err := c.releaseLock(ctx); err != nil {
		return 0, err
	}
	return 1, nil
}

// arrives waits until the client wants the lock, and reports whether it does before the run stops.
func (c *lockClient) arrives(ctx context.Context) (ok bool) {
	c.due, ok = c.seat.Arrive(ctx, c.think)
	return ok
}

func (c *lockClient) acquireLock(ctx context.Context) (held context.Context, err error) {
	asked := time.Now()
	if c.due.IsZero() {
		c.due = asked
	}
	h := &hold{seat: c.seat, shares: c.shares, calm: c.seat.Disturbances()}
	c.ask()
	if c.recalls() {
		h.grant = c.recalled.asks(c.seat.Index)
	}
	c.seat.Marks.PhaseBegin()
	held, err = c.lock.Acquire(ctx)
	now := time.Now()
	c.seat.Marks.PhaseEnd()
	if err != nil {
		c.queue.GaveUp(c.seat.Index)
		return nil, fmt.Errorf("%s: %w", c.words.acquire, err)
	}
	c.queue.Granted(c.seat.Index)
	c.seat.harm.served(now)
	h.token = c.lock.Token()
	if handoff, ok := c.court.granted(h, now); ok {
		c.handoff.Record(handoff, handoff)
	}
	c.recalled.granted(h.grant, h.token)
	c.acquired.Record(now.Sub(asked), now.Sub(c.due))
	c.hold = h
	return held, nil
}

// recalls reports whether the client's holds are recorded for the history check: in a run with
// faults, for a lock that one client holds at a time until it releases it.
func (c *lockClient) recalls() bool { return c.seat.harm != nil && !c.shared && !c.deposable }

func (c *lockClient) ask() {
	if c.shares {
		c.queue.AskedToShare(c.seat.Index)
		return
	}
	c.queue.Asked(c.seat.Index)
}

func (c *lockClient) releaseLock(ctx context.Context) error {
	h := c.hold
	c.hold = nil
	began := time.Now()
	c.court.releasing(h, c.queue.Waiting(), began)
	release := c.recalled.releases(h.grant)
	err := c.lock.Release(ctx)
	took := time.Since(began)
	c.recalled.released(h.grant, release, err == nil && !h.disturbed())
	if c.deposable && errors.Is(err, drivers.ErrNoNode) {
		h.deposed, err = true, nil
	}
	c.court.ended(h)
	if err != nil {
		return fmt.Errorf("%s: %w", c.words.release, err)
	}
	c.release.Record(took, took)
	return nil
}

// keep waits for d within a round; a frozen client continues only when it is thawed. While clients
// still arrive, keep first waits until all have arrived, since each release may wake all clients
// that are already there.
func (s *Seat) keep(ctx context.Context, d time.Duration) {
	if s.gathered != nil {
		select {
		case <-s.gathered:
		case <-s.Stopping:
		case <-ctx.Done():
		}
	}
	keep(ctx, d)
	s.harm.stand()
}

// keep waits for d, or until ctx ends.
func keep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
