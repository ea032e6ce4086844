package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// A RecursiveMirror is a [Mirror] with one persistent recursive watch instead of
// one watch for each node. The watch says which node has changed, so a change is
// one notification and one read for each client. After a reconnect etcd reports
// what the watch has missed. ZooKeeper does not: the client reads all nodes again.
// Cost: N clients, M nodes, a node is set, another created and deleted, each U
// times: 3N·U notifications, N(M+1+3U) reads, 3U writes; a change wakes N.
type RecursiveMirror struct {
	*Mirror
	conn drivers.PersistentWatcher
}

// NewRecursiveMirror returns a copy of the nodes below dir, an existing node.
func NewRecursiveMirror(conn drivers.PersistentWatcher, dir string) *RecursiveMirror {
	return &RecursiveMirror{Mirror: NewMirror(conn, dir), conn: drivers.Persistent(conn)}
}

// Follow is like [Mirror.Follow].
func (m *RecursiveMirror) Follow(ctx context.Context, see func(name string, data []byte, stat drivers.Stat)) error {
	m.see, m.kept = see, map[string]int64{}
	return fmt.Errorf("mirror %s: %w", m.dir, m.follow(ctx))
}

func (m *RecursiveMirror) follow(ctx context.Context) error {
	// 1. Set a persistent recursive watch.
	stop, err := drivers.ResumeTree(ctx, m.conn, m.dir, m.changes.Fire)
	if err != nil {
		return err
	}
	defer stop()
	// 2. Read all nodes, once.
	if err := m.list(ctx); err != nil {
		return err
	}
	for {
		// 3. Wait for events.
		events, err := m.changes.Await(ctx)
		if err != nil {
			return err
		}
		// 4. Get the nodes that they name. A node is read even if it was deleted: an
		// earlier read may have shown what was created in its place. Where events may
		// be missing, read all nodes again.
		for _, e := range events {
			if e.Type == drivers.Rearmed || e.Path == m.dir {
				err = m.list(ctx)
			} else {
				err = m.get(ctx, path.Base(e.Path))
			}
			if err != nil {
				return err
			}
		}
	}
}

// list gets all nodes, and drops those that are gone.
func (m *RecursiveMirror) list(ctx context.Context) error {
	children, err := m.conn.Children(ctx, m.dir, nil)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, c := range children {
		there[c.Name] = true
		if err := m.get(ctx, c.Name); err != nil {
			return err
		}
	}
	m.keepOnly(there)
	return nil
}

// get gets one node, without a watch.
func (m *RecursiveMirror) get(ctx context.Context, name string) error {
	data, stat, err := m.conn.Get(ctx, path.Join(m.dir, name), nil)
	switch {
	case errors.Is(err, drivers.ErrNoNode):
		m.drop(name)
		return nil
	case err != nil:
		return err
	}
	m.keep(name, data, stat)
	return nil
}
