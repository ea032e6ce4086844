package recipe

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/settled"
)

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
func SharedLocks[S drivers.Conn, L SharedLock](open func(c S, path string) L) func(workloads.Settings) workloads.Workload {
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
