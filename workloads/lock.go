package workloads

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Lock is one client's handle on a lock that several clients share.
type Lock interface {
	// Acquire blocks until this client holds the lock. The context it returns
	// ends when the hold can no longer be counted on, because the session is
	// lost, and when Release is called. If Acquire fails, for instance because
	// its context ended, nothing of it is left on the service.
	Acquire(ctx context.Context) (held context.Context, err error)
	// Token is the current hold's fencing token: it is above that of every
	// earlier holder, so that a resource can refuse a holder that does not
	// know yet that it was deposed. Forms without tokens say drivers.NoSeq.
	Token() int64
	// Release gives the lock up.
	Release(ctx context.Context) error
}

// A NewLock makes one client's handle on the lock at path, a node that exists.
type NewLock func(c drivers.Conn, path string) (Lock, error)

// Locks makes the workload of a lock's form: every client acquires, holds,
// releases and thinks, in a closed loop.
func Locks(open NewLock) func(Settings) Workload {
	return turns(open, turnWords{
		recipe: "lock", acquire: "acquire", handoff: "handoff", release: "release",
		arrives: "arrives", holds: "holds", releases: "releases",
	})
}

// turns makes the workload of a recipe in which one client at a time has
// something that all want, whatever the recipe calls it.
func turns(open NewLock, words turnWords) func(Settings) Workload {
	return func(s Settings) Workload {
		return &lockWorkload{
			settings: s, open: open, words: words,
			acquire: metrics.NewLatency(words.acquire), handoff: metrics.NewLatency(words.handoff), release: metrics.NewLatency(words.release),
		}
	}
}

// turnWords are a recipe's own words.
type turnWords struct {
	recipe                    string
	acquire, handoff, release string // its phases
	arrives, holds, releases  string // what a client does when it comes, has it, and gives it back
}

type lockWorkload struct {
	settings Settings
	open     NewLock
	words    turnWords
	path     string

	court                     exclusion
	queue                     *metrics.Queue // who asked, and who was granted
	acquire, handoff, release *metrics.Latency
}

func (w *lockWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.path = base + "/" + w.words.recipe
	w.queue = metrics.NewQueue(clients)
	_, err := c.Create(ctx, w.path, nil, 0)
	return err
}

func (w *lockWorkload) Join(s *Seat) (Client, error) { return w.join(s) }

func (w *lockWorkload) join(s *Seat) (*lockClient, error) {
	l, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	return &lockClient{lockWorkload: w, seat: s, lock: l}, nil
}

func (w *lockWorkload) Together() bool { return false }

func (w *lockWorkload) Begin() {
	for _, l := range []*metrics.Latency{w.acquire, w.handoff, w.release} {
		l.Reset()
	}
	w.queue.Reset()
}

func (w *lockWorkload) Lap() (p50, p99 time.Duration) { return w.acquire.Lap() }

func (w *lockWorkload) End(r *metrics.Record) {
	r.Phases = []metrics.Phase{w.acquire.Phase(), w.handoff.Phase(), w.release.Phase()}
	r.Rounds = r.Phases[2].Service.TotalCount()
	fairness := w.queue.Fairness()
	r.Fairness = &fairness
}

func (w *lockWorkload) Verdict() metrics.Safety { return w.court.verdict() }

// Settle lets all arrive, one at a time, and then all release, one at a time.
// Forms that poll look Polls times during each hold, the last time just after
// its release.
func (w *lockWorkload) Settle(ctx context.Context, st *Stage) error {
	clients, holds := make([]*lockClient, len(st.Seats)), make([]*hold, len(st.Seats))
	for i, seat := range st.Seats {
		c, err := w.join(seat)
		if err != nil {
			return err
		}
		clients[i] = c
		st.Do(ctx, i, w.words.arrives, w.words.holds, func(ctx context.Context) (err error) {
			holds[i], _, err = c.acquireLock(ctx)
			return err
		})
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	for range clients {
		holder := slices.IndexFunc(holds, func(h *hold) bool { return h != nil })
		if holder < 0 {
			return fmt.Errorf("nobody has the %s and everybody sleeps", w.words.recipe)
		}
		for range w.settings.Polls - 1 {
			st.Tick()
			if err := st.Rest(ctx); err != nil {
				return err
			}
		}
		h := holds[holder]
		holds[holder] = nil
		st.Do(ctx, holder, w.words.releases, "", func(ctx context.Context) error { return clients[holder].releaseLock(ctx, h) })
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

// A lockClient is one client that goes through rounds.
type lockClient struct {
	*lockWorkload
	seat *Seat
	lock Lock
	due  time.Time // when the next round is due; zero for at once
}

func (c *lockClient) Turn(ctx context.Context) (rounds int64, err error) {
	h, held, err := c.acquireLock(ctx)
	if err != nil {
		return 0, err
	}
	keep(held, c.settings.Hold)
	if err := c.releaseLock(ctx, h); err != nil {
		return 0, err
	}
	c.think(ctx)
	return 1, nil
}

func (c *lockClient) acquireLock(ctx context.Context) (*hold, context.Context, error) {
	asked := time.Now()
	if c.due.IsZero() {
		c.due = asked
	}
	h := &hold{seat: c.seat, calm: c.seat.Disturbances()}
	c.queue.Asked(c.seat.Index)
	c.seat.Marks.PhaseBegin()
	held, err := c.lock.Acquire(ctx)
	now := time.Now()
	c.seat.Marks.PhaseEnd()
	if err != nil {
		c.queue.GaveUp(c.seat.Index)
		return nil, nil, fmt.Errorf("%s: %w", c.words.acquire, err)
	}
	c.queue.Granted(c.seat.Index)
	h.token = c.lock.Token()
	if handoff, ok := c.court.granted(h, now); ok {
		c.handoff.Record(handoff, handoff)
	}
	c.acquire.Record(now.Sub(asked), now.Sub(c.due))
	return h, held, nil
}

func (c *lockClient) releaseLock(ctx context.Context, h *hold) error {
	began := time.Now()
	c.court.releasing(h, c.queue.Waiting(), began)
	err := c.lock.Release(ctx)
	took := time.Since(began)
	c.court.ended(h)
	if err != nil {
		return fmt.Errorf("%s: %w", c.words.release, err)
	}
	c.release.Record(took, took)
	return nil
}

func (c *lockClient) think(ctx context.Context) {
	c.due = time.Time{}
	if c.settings.Think > 0 {
		c.due = time.Now().Add(c.settings.Think)
		keep(ctx, c.settings.Think)
	}
}

// keep lets time pass, but not beyond the end of ctx.
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
