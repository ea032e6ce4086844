package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// LibraryForm returns the library's form of a recipe, from its packages concurrency and
// experimental/recipes, or nil if they have none.
func (c *Conn) LibraryForm(recipe, path string, clients int) any {
	switch recipe {
	case "lock":
		return c.libraryLock(path)
	case "election":
		return c.libraryElection(path)
	case "barrier":
		return c.libraryBarrier(path)
	case "double-barrier":
		return c.libraryDoubleBarrier(path, clients)
	case "shared-lock":
		return c.librarySharedLock(path)
	case "queue":
		return c.libraryQueue(path)
	case "priority-queue":
		return c.libraryPriorityQueue(path)
	}
	return nil
}

// sessions holds the library's own session object, created on first use.
type sessions struct {
	mu      sync.Mutex
	session *concurrency.Session
}

// of returns the library's session, on this session's lease. The library refreshes the lease
// too, which is harmless.
func (s *sessions) of(c *Conn) (*concurrency.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		session, err := concurrency.NewSession(c.library, concurrency.WithLease(clientv3.LeaseID(c.lease.id)))
		if err != nil {
			return nil, err
		}
		s.session = session
	}
	return s.session, nil
}

// dir returns what the library calls a prefix: that of the keys of a node's children without
// the trailing slash, which the library adds.
func (k keyspace) dir(path string) string {
	below := k.below(path)
	return below[:len(below)-1]
}

// abandon removes the session's own keys below a path after a call failed. The library leaves
// its key if it does not know whether it was written, and package recipe always leaves it. A
// key that cannot be removed goes with the session.
func (c *Conn) abandon(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if c.gate.pass(ctx, c.done) != nil {
		return
	}
	there, err := c.library.Get(ctx, c.keys.below(path), clientv3.WithPrefix())
	if err != nil {
		return
	}
	for _, kv := range there.Kvs {
		if kv.Lease == c.lease.id {
			_, _ = c.library.Delete(ctx, string(kv.Key))
		}
	}
}
