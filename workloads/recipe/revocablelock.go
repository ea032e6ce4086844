package recipe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A RevocableLock is one client's handle on a shared lock whose holders can be asked to release
// it.
type RevocableLock interface {
	SharedLock
	// Revoked blocks until another client revokes the lock. Only the holder calls it, and it is up
	// to the holder to release the lock then. Revoked returns ErrNoNode if the holder has been
	// deposed.
	Revoked(ctx context.Context) error
	// Revoke asks all current holders to release the lock.
	Revoke(ctx context.Context) error
}

// A Deposer is a RevocableLock whose Revoke takes the lock by force from holders that do not
// release it. Release and Acquire of a deposed client return ErrNoNode.
type Deposer interface {
	// Deposed returns how many clients this one may have deposed so far.
	Deposed() int64
}

// RevocableLocks returns the workload constructor for a form of revocable lock. It is the workload
// of a shared lock, except that some rounds begin by revoking the lock, and most holders that are
// asked to release it do so immediately. open creates one client's handle on the revocable lock at
// a path, which is an existing node.
func RevocableLocks[S drivers.Conn, L RevocableLock](open func(c S, path string) L) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		return &revocableWorkload{s.RevocationPeriod(), newSharedWorkload(s, openerOf[SharedLock](open), "read", "write", "revoke")}
	}
}

// ignoreEvery sets how often a holder ignores requests: in one hold in ignoreEvery on average.
// Releasing is the holder's choice, and a form without force has to live with that.
const ignoreEvery = 4

type revocableWorkload struct {
	revokeEvery int
	*sharedWorkload
}

func (w *revocableWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *revocableWorkload) join(s *workloads.Slot) (*revocableClient, error) {
	c, err := w.sharedWorkload.join(s)
	if err != nil {
		return nil, err
	}
	lock := c.lock.(*sharedLockSide).SharedLock.(RevocableLock)
	return &revocableClient{tenant: newTenant(c, lock), revocable: lock, revokeEvery: w.revokeEvery}, nil
}

// Settle lets all clients arrive to write, one at a time. The first releases. After that, the
// client that has just released revokes the lock of the next holder, which then gives way, unless
// the form has already deposed it by force.
func (w *revocableWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, func(c *revocableClient) error {
		c.take(false)
		return c.arrive(ctx, st, "arrives")
	})
	if err != nil {
		return err
	}
	for i, c := range clients {
		if !c.holds() {
			return fmt.Errorf("client %d does not hold the lock and all clients wait", i+1)
		}
		var err error
		if i == 0 {
			err = st.Do(ctx, i, "releases", "", c.releaseLock)
		} else {
			err = w.settleRevocation(ctx, st, clients[i-1], c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settleRevocation lets a client revoke the lock, and lets the holder begin to give way.
func (w *revocableWorkload) settleRevocation(ctx context.Context, st *settled.Stepper, by, holder *revocableClient) error {
	if err := st.Do(ctx, by.slot.Index, "revokes", "", by.revokeLock); err != nil {
		return err
	}
	if err := st.Tick(ctx, 1); err != nil {
		return err
	}
	return st.Do(ctx, holder.slot.Index, "releases on request", "", func(ctx context.Context) error {
		if err := holder.revocable.Revoked(ctx); err != nil && !holder.wasDeposed(err) {
			return err
		}
		return holder.releaseLock(ctx)
	})
}

// A revocableClient is one client that performs rounds.
type revocableClient struct {
	*tenant
	revocable   RevocableLock
	revokeEvery int
}

// Turn takes a turn as a reader or a writer.
func (c *revocableClient) Turn(ctx context.Context) (rounds int64, err error) {
	if !c.arrives(ctx) {
		return 0, nil
	}
	c.draw()
	if c.slot.Rand.IntN(c.revokeEvery) == 0 {
		if err := c.revokeLock(ctx); err != nil {
			return 0, err
		}
	}
	return c.hold(ctx, c.acquireLock)
}

// revokeLock revokes the lock and records how many clients were deposed by force.
func (c *revocableClient) revokeLock(ctx context.Context) error {
	began := time.Now()
	err := c.revocable.Revoke(ctx)
	c.recordForce()
	if err != nil {
		return fmt.Errorf("revoke: %w", err)
	}
	took := time.Since(began)
	c.slot.Record(c.steps[2], took, took)
	return nil
}

// A tenant is a client of a shared lock that can be asked to release it, or be deposed.
type tenant struct {
	*sharedClient
	asked revoker
	force int64 // how many clients it had deposed at the last check
}

// A revoker is a lock that tells its holder that another client wants it.
type revoker interface {
	Revoked(ctx context.Context) error
}

func newTenant(c *sharedClient, lock revoker) *tenant {
	_, c.deposable = lock.(Deposer)
	return &tenant{sharedClient: c, asked: lock}
}

func (c *tenant) wasDeposed(err error) bool {
	return c.deposable && errors.Is(err, drivers.ErrNoNode)
}

// recordForce records how many clients this one has deposed since the last call.
func (c *tenant) recordForce() {
	d, ok := c.asked.(Deposer)
	if !ok {
		return
	}
	deposed := d.Deposed()
	if deposed > c.force {
		c.recorded.Record(check.Step{Kind: check.Deposing, Client: c.slot.Index, Value: deposed - c.force})
	}
	c.force = deposed
}

// hold acquires the lock, keeps it and releases it. If the client is deposed before it knows that it holds the lock, the
// turn is not a round.
func (c *tenant) hold(ctx context.Context, acquire func(context.Context) (held context.Context, err error)) (rounds int64, err error) {
	held, err := acquire(ctx)
	if c.wasDeposed(err) {
		c.slot.ArrivalFailed()
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := errors.Join(c.keepUntilAsked(held), c.releaseLock(ctx)); err != nil {
		return 0, err
	}
	return 1, nil
}

// keepUntilAsked holds the lock for the hold time, or until another client wants it, unless the
// holder ignores requests.
func (c *tenant) keepUntilAsked(held context.Context) error {
	if c.slot.Rand.IntN(ignoreEvery) == 0 {
		c.slot.Hold(held, c.holdTime)
		return nil
	}
	listening, cancel := context.WithTimeout(held, c.holdTime)
	defer cancel()
	err := c.asked.Revoked(listening)
	if err == nil || listening.Err() != nil || c.wasDeposed(err) {
		return nil // the release returns the outcome
	}
	return err
}

// A SharedLock is one client's handle on a lock that several readers can hold together and a
// writer holds alone.
type SharedLock interface {
	// AcquireRead and AcquireWrite work like [Lock.Acquire].
	AcquireRead(ctx context.Context) (held context.Context, err error)
	AcquireWrite(ctx context.Context) (held context.Context, err error)
	// Token returns the fencing token of the current hold. A writer's token is greater than that
	// of every earlier holder, a reader's greater than that of every earlier writer.
	Token() int64
	// Release releases the lock.
	Release(ctx context.Context) error
}

// SharedLocks returns the workload constructor for a form of shared lock. It is the workload of a
// lock, except that each client chooses at random in each round whether it reads or writes. open
// creates one client's handle on the shared lock at a path, which is an existing node.
func SharedLocks[S drivers.Conn, L SharedLock](open func(c S, path string) L) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		return newSharedWorkload(s, openerOf[SharedLock](open), "read", "write")
	}
}

// newSharedWorkload creates the workload of a shared lock with these steps. The first two acquire
// the lock, to read and to write.
func newSharedWorkload(s workloads.Settings, open opener[SharedLock], steps ...string) *sharedWorkload {
	oneSide := func(c drivers.Conn, path string) (Lock, error) {
		l, err := open(c, path)
		return &sharedLockSide{SharedLock: l}, err
	}
	return &sharedWorkload{s.ReadersPerWriter(), newLockWorkload(s, oneSide, defaultLockTerms(), steps...)}
}

// A sharedLockSide is a shared lock used as a lock, for reading or for writing.
type sharedLockSide struct {
	SharedLock
	reads bool
}

func (l *sharedLockSide) Acquire(ctx context.Context) (held context.Context, err error) {
	if l.reads {
		return l.AcquireRead(ctx)
	}
	return l.AcquireWrite(ctx)
}

type sharedWorkload struct {
	readers int // per writer
	*lockWorkload
}

func (w *sharedWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *sharedWorkload) join(s *workloads.Slot) (*sharedClient, error) {
	c, err := w.lockWorkload.join(s)
	if err == nil {
		c.shared = true
	}
	return &sharedClient{w.readers, c}, err
}

// Settle lets the writers arrive, one at a time, then the readers, and then all release, one at a
// time.
func (w *sharedWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients := make([]*lockClient, len(st.Slots))
	writers := workloads.Writers(len(st.Slots), w.readers)
	for i, slot := range st.Slots {
		c, err := w.join(slot)
		if err != nil {
			return err
		}
		title := "arrives to write"
		if c.take(i >= writers); c.shares {
			title = "arrives to read"
		}
		clients[i] = c.lockClient
		if err := c.arrive(ctx, st, title); err != nil {
			return err
		}
	}
	return w.releaseAll(ctx, st, clients)
}

// A sharedClient is one client that reads or writes in each round.
type sharedClient struct {
	readers int // per writer
	*lockClient
}

// Turn chooses reading or writing at random and takes a turn.
func (c *sharedClient) Turn(ctx context.Context) (rounds int64, err error) {
	c.draw()
	return c.lockClient.Turn(ctx)
}

// draw chooses at random whether the next acquisition is for reading.
func (c *sharedClient) draw() { c.take(c.slot.Rand.IntN(c.readers+1) > 0) }

// take sets whether the next acquisition is for reading.
func (c *sharedClient) take(reads bool) {
	c.shares, c.acquired = reads, c.steps[1]
	if reads {
		c.acquired = c.steps[0]
	}
	c.lock.(*sharedLockSide).reads = reads
}
