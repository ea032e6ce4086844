package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A RevocableLock is one client's handle on a shared lock that its holders can
// be asked to give up.
type RevocableLock interface {
	SharedLock
	// Revoked is for the holder: it blocks until somebody wants the lock back.
	// Giving it up is then for the holder to do. ErrNoNode: it has been deposed.
	Revoked(ctx context.Context) error
	// Revoke asks those who hold the lock, whoever they are, to give it up.
	Revoke(ctx context.Context) error
}

// A Deposer is a RevocableLock whose Revoke takes the lock by force from those
// who do not give it up. Release and Acquire of who was deposed are ErrNoNode.
type Deposer interface {
	// Deposed is how many clients this one may have deposed so far.
	Deposed() int64
}

// RevocableLocks makes the workload of a revocable lock's form: the shared
// lock's, but some rounds begin by revoking the lock, and most holders who are
// asked to give it up do so at once. open makes one client's handle on the
// revocable lock at a path, a node that exists.
func RevocableLocks[S drivers.Conn, L RevocableLock](open func(c S, path string) L) func(Settings) Workload {
	return func(s Settings) Workload {
		return &revocableWorkload{s.revokeEvery(), newSharedWorkload(s, at[SharedLock](open), "read", "write", "revoke")}
	}
}

// DefaultRevokeEvery is how many rounds there are to each that revokes the lock:
// revoking is for whoever cannot wait, and that is seldom.
const DefaultRevokeEvery = 10

// deafEvery is how many holds there are to each whose holder does not listen:
// consent is the holder's, and a form without force has to live with that.
const deafEvery = 4

type revocableWorkload struct {
	revokeEvery int
	*sharedWorkload
}

func (w *revocableWorkload) Join(s *Seat) (Client, error) { return w.join(s) }

func (w *revocableWorkload) join(s *Seat) (*revocableClient, error) {
	c, err := w.sharedWorkload.join(s)
	if err != nil {
		return nil, err
	}
	lock := c.lock.(*side).SharedLock.(RevocableLock)
	_, c.deposable = lock.(Deposer)
	return &revocableClient{sharedClient: c, revocable: lock, revokeEvery: w.revokeEvery}, nil
}

// Settle lets all arrive to write, one at a time. The first releases; then
// whoever has just let go revokes the lock of the next, who gives way, with
// whatever force the form has used before.
func (w *revocableWorkload) Settle(ctx context.Context, st *Stage) error {
	clients := make([]*revocableClient, len(st.Seats))
	for i, seat := range st.Seats {
		c, err := w.join(seat)
		if err != nil {
			return err
		}
		c.take(false)
		clients[i] = c
		if err := c.arrive(ctx, st, "arrives"); err != nil {
			return err
		}
	}
	for i, c := range clients {
		if !c.holds() {
			return fmt.Errorf("client %d does not hold the lock and everybody sleeps", i+1)
		}
		if i == 0 {
			st.Do(ctx, i, "releases", "", c.releaseLock)
		} else if err := w.settleRevocation(ctx, st, clients[i-1], c); err != nil {
			return err
		}
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settleRevocation lets a client revoke the lock, and the holder begin to give way.
func (w *revocableWorkload) settleRevocation(ctx context.Context, st *Stage, by, holder *revocableClient) error {
	st.Do(ctx, by.seat.Index, "revokes", "", by.revokeLock)
	if err := st.Rest(ctx); err != nil {
		return err
	}
	st.Tick()
	if err := st.Rest(ctx); err != nil {
		return err
	}
	st.Do(ctx, holder.seat.Index, "gives way", "", func(ctx context.Context) error {
		if err := holder.revocable.Revoked(ctx); err != nil && !holder.wasDeposed(err) {
			return err
		}
		return holder.releaseLock(ctx)
	})
	return nil
}

// A revocableClient is one client that goes through rounds.
type revocableClient struct {
	*sharedClient
	revocable   RevocableLock
	revokeEvery int
	force       int64 // how many it had deposed when that was last looked at
}

// Turn takes a turn on either side. It is no round where the client was deposed
// before it knew that it held the lock.
func (c *revocableClient) Turn(ctx context.Context) (rounds int64, err error) {
	if !c.arrives(ctx) {
		return 0, nil
	}
	c.draw()
	if c.seat.Rand.IntN(c.revokeEvery) == 0 {
		if err := c.revokeLock(ctx); err != nil {
			return 0, err
		}
	}
	held, err := c.acquireLock(ctx)
	if c.wasDeposed(err) {
		c.seat.fails()
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := c.keepUntilAsked(held); err != nil {
		return 0, err
	}
	if err := c.releaseLock(ctx); err != nil {
		return 0, err
	}
	return 1, nil
}

func (c *revocableClient) wasDeposed(err error) bool {
	return c.deposable && errors.Is(err, drivers.ErrNoNode)
}

// revokeLock revokes the lock and notes what force it took.
func (c *revocableClient) revokeLock(ctx context.Context) error {
	began := time.Now()
	err := c.revocable.Revoke(ctx)
	if d, ok := c.revocable.(Deposer); ok {
		deposed := d.Deposed()
		c.lockWorkload.force.Add(deposed - c.force)
		c.force = deposed
	}
	if err != nil {
		return fmt.Errorf("revoke: %w", err)
	}
	took := time.Since(began)
	c.steps[2].Record(took, took)
	return nil
}

// keepUntilAsked holds the lock for its time, or until somebody wants it back,
// if the holder listens at all.
func (c *revocableClient) keepUntilAsked(held context.Context) error {
	if c.seat.Rand.IntN(deafEvery) == 0 {
		c.seat.keep(held, c.holdTime)
		return nil
	}
	listening, cancel := context.WithTimeout(held, c.holdTime)
	defer cancel()
	err := c.revocable.Revoked(listening)
	if err == nil || listening.Err() != nil || c.wasDeposed(err) {
		return nil // the release tells how it went
	}
	return err
}
