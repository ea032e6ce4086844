package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// LibraryForm is the library's form of a recipe: those of its packages
// concurrency and experimental/recipes.
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

// sessions is the library's own idea of the session, made when it is first
// needed.
type sessions struct {
	mu      sync.Mutex
	session *concurrency.Session
}

// of is the library's session, on our lease. The library refreshes it too,
// which does no harm.
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

// dir is what the library calls a prefix: that of the keys of a node's children
// without the slash, which it adds.
func (k keyspace) dir(path string) string {
	below := k.below(path)
	return below[:len(below)-1]
}

// abandon removes the session's own keys below a path, when a call failed: the
// library leaves its key where it does not know whether it made it, and in
// package recipe in any case. What stays ends with the session.
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
