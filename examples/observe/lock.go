// Package observe is a small program whose workers take a lock in turn, as its author may have
// written it first: all of them wait for one node. Its test passes. Run under stampede observe,
// with a threshold, it fails, because each release wakes all waiting workers:
//
//	stampede observe --env ZK_CONNECT={address} --threshold 'fanout.max <= 2' -- go test ./examples/observe
//
// With LOCK=predecessor the workers use the lock that go-zookeeper ships, and it passes.
package observe

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// A locker is a lock.
type locker interface {
	Lock() error
	Unlock() error
}

// A oneNodeLock is held by the session that has created the node. All others watch the node, and
// race to create it when it is gone.
type oneNodeLock struct {
	conn *zk.Conn
	path string
}

// Lock waits until this session has created the node.
func (l *oneNodeLock) Lock() error {
	for {
		_, err := l.conn.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		exists, _, gone, err := l.conn.ExistsW(l.path)
		if err != nil {
			return err
		}
		if exists {
			<-gone
		}
	}
}

// Unlock deletes the node.
func (l *oneNodeLock) Unlock() error { return l.conn.Delete(l.path, -1) }

// newLock returns the lock of a name: predecessor, or one-node.
func newLock(conn *zk.Conn, name string) locker {
	if name == "predecessor" {
		return zk.NewLock(conn, "/jobs", zk.WorldACL(zk.PermAll))
	}
	return &oneNodeLock{conn, "/job"}
}
