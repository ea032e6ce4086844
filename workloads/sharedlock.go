package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// A SharedLock is one client's handle on a lock that readers hold together and
// a writer holds alone.
type SharedLock interface {
	// AcquireRead and AcquireWrite are as [Lock.Acquire].
	AcquireRead(ctx context.Context) (held context.Context, err error)
	AcquireWrite(ctx context.Context) (held context.Context, err error)
	// Token is the current hold's fencing token: a writer's is above that of
	// every earlier holder, a reader's above that of every earlier writer.
	Token() int64
	// Release gives the lock up.
	Release(ctx context.Context) error
}

// SharedLocks makes the workload of a shared lock's form: the lock's, but for
// each round a client draws whether it reads or writes. open makes one client's
// handle on the shared lock at a path, a node that exists.
func SharedLocks[S drivers.Conn, L SharedLock](open func(c S, path string) L) func(Settings) Workload {
	return func(s Settings) Workload {
		return newSharedWorkload(s, at[SharedLock](open), "read", "write")
	}
}

// newSharedWorkload makes the workload of a shared lock with these steps, the
// first two of which acquire it, to read and to write.
func newSharedWorkload(s Settings, open opener[SharedLock], steps ...string) *sharedWorkload {
	oneSide := func(c drivers.Conn, path string) (Lock, error) {
		l, err := open(c, path)
		return &side{SharedLock: l}, err
	}
	return &sharedWorkload{s.readersToAWriter(), newLockWorkload(s, oneSide, lockWords(), steps...)}
}

// DefaultReaders is how many readers there are to a writer where nobody says: they
// dominate, as they do where a lock is worth sharing, and yet with as few as
// eight clients one writer stands behind another, which is where forms differ.
const DefaultReaders = 3

func (s Settings) readers() int {
	if s.Readers > 0 {
		return s.Readers
	}
	return DefaultReaders
}

// Writers is how many of so many clients are writers when each keeps to one
// side: at least one.
func (s Settings) Writers(clients int) int { return writers(clients, s.readers()) }

func writers(clients, readers int) int { return max(1, clients/(readers+1)) }

// A side is a shared lock as a lock, taken for reading or for writing.
type side struct {
	SharedLock
	reads bool
}

func (l *side) Acquire(ctx context.Context) (held context.Context, err error) {
	if l.reads {
		return l.AcquireRead(ctx)
	}
	return l.AcquireWrite(ctx)
}

type sharedWorkload struct {
	readers int // to each writer
	*lockWorkload
}

func (w *sharedWorkload) Join(s *Seat) (Client, error) { return w.join(s) }

func (w *sharedWorkload) join(s *Seat) (*sharedClient, error) {
	c, err := w.lockWorkload.join(s)
	if err == nil {
		c.shared = true
	}
	return &sharedClient{w.readers, c}, err
}

// Settle lets the writers arrive, one at a time, then the readers, and then all
// release, one at a time.
func (w *sharedWorkload) Settle(ctx context.Context, st *Stage) error {
	clients := make([]*lockClient, len(st.Seats))
	writers := writers(len(st.Seats), w.readers)
	for i, seat := range st.Seats {
		c, err := w.join(seat)
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

// A sharedClient is one client that goes through rounds on either side.
type sharedClient struct {
	readers int // to each writer
	*lockClient
}

// Turn draws a side and takes a turn on it.
func (c *sharedClient) Turn(ctx context.Context) (rounds int64, err error) {
	c.draw()
	return c.lockClient.Turn(ctx)
}

// draw chooses the side of the next acquisition as it comes.
func (c *sharedClient) draw() { c.take(c.seat.Rand.IntN(c.readers+1) > 0) }

// take chooses the side of the next acquisition.
func (c *sharedClient) take(reads bool) {
	c.shares, c.acquired = reads, c.steps[1]
	if reads {
		c.acquired = c.steps[0]
	}
	c.lock.(*side).reads = reads
}
