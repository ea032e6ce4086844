package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
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
func SharedLocks[S drivers.Conn, L SharedLock](open func(c S, path string) L) func(Settings) Workload {
	return func(s Settings) Workload {
		return newSharedWorkload(s, at[SharedLock](open), "read", "write")
	}
}

// newSharedWorkload creates the workload of a shared lock with these steps. The first two acquire
// the lock, to read and to write.
func newSharedWorkload(s Settings, open opener[SharedLock], steps ...string) *sharedWorkload {
	oneSide := func(c drivers.Conn, path string) (Lock, error) {
		l, err := open(c, path)
		return &side{SharedLock: l}, err
	}
	return &sharedWorkload{s.readersToAWriter(), newLockWorkload(s, oneSide, lockWords(), steps...)}
}

// DefaultReaders is the default number of readers per writer. Readers dominate, as they do where
// sharing a lock pays. But with as few as eight clients one writer still queues behind another,
// which is where the forms differ.
const DefaultReaders = 3

func (s Settings) readers() int {
	if s.Readers > 0 {
		return s.Readers
	}
	return DefaultReaders
}

// Writers returns how many of the clients are writers when each either always reads or always
// writes: at least one.
func (s Settings) Writers(clients int) int { return writers(clients, s.readers()) }

func writers(clients, readers int) int { return max(1, clients/(readers+1)) }

// A side is a shared lock used as a lock, for reading or for writing.
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
	readers int // per writer
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

// Settle lets the writers arrive, one at a time, then the readers, and then all release, one at a
// time.
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
func (c *sharedClient) draw() { c.take(c.seat.Rand.IntN(c.readers+1) > 0) }

// take sets whether the next acquisition is for reading.
func (c *sharedClient) take(reads bool) {
	c.shares, c.acquired = reads, c.steps[1]
	if reads {
		c.acquired = c.steps[0]
	}
	c.lock.(*side).reads = reads
}
