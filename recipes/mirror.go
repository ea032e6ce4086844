package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// A Mirror keeps a copy of all nodes below one node. Each client watches each
// node, and reads again what its watches report. A session that reconnects is
// told which watches would have fired meanwhile, so that it reads only what it
// has missed; but the watches of all nodes are armed again.
// Cost: N clients, M nodes, a node is set, another created and deleted, each U
// times: 4N·U notifications, N(M+1+5U) reads, 3U writes; a deletion notifies
// each client twice.
type Mirror struct {
	conn    drivers.Conn
	dir     string
	changes drivers.Feed
	armed   map[string]bool  // by path: a watch is armed that has not fired
	kept    map[string]int64 // by name: position of the last write that was seen
	see     func(name string, data []byte, stat drivers.Stat)
}

// NewMirror returns a copy of the nodes below dir, an existing node.
func NewMirror(conn drivers.Conn, dir string) *Mirror {
	return &Mirror{conn: drivers.Steady(conn), dir: dir, armed: map[string]bool{}}
}

// Follow calls see with each node, and again whenever it observes that a node was
// set, created or deleted, until the context ends or the session is lost. A node
// that was deleted has the zero Stat.
func (m *Mirror) Follow(ctx context.Context, see func(name string, data []byte, stat drivers.Stat)) error {
	m.see, m.kept = see, map[string]int64{}
	return fmt.Errorf("mirror %s: %w", m.dir, m.follow(ctx))
}

func (m *Mirror) follow(ctx context.Context) error {
	// 1. Read all nodes.
	if err := m.list(ctx); err != nil {
		return err
	}
	for {
		// 2. Wait for watches to fire.
		events, err := m.changes.Await(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			delete(m.armed, e.Path)
		}
		// 3. Read again what has changed.
		for _, e := range events {
			if e.Path == m.dir {
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

// list gets the nodes that have been created, and drops those that are gone.
func (m *Mirror) list(ctx context.Context) error {
	children, err := m.conn.Children(ctx, m.dir, m.watch(m.dir))
	if err != nil {
		return err
	}
	m.armed[m.dir] = true
	there := map[string]bool{}
	for _, c := range children {
		there[c.Name] = true
		if _, kept := m.kept[c.Name]; kept {
			continue
		}
		if err := m.get(ctx, c.Name); err != nil {
			return err
		}
	}
	m.keepOnly(there)
	return nil
}

// get gets one node.
func (m *Mirror) get(ctx context.Context, name string) error {
	node := path.Join(m.dir, name)
	data, stat, err := m.conn.Get(ctx, node, m.watch(node))
	switch {
	case errors.Is(err, drivers.ErrNoNode):
		m.drop(name)
		return nil
	case err != nil:
		return err
	}
	m.armed[node] = true
	m.keep(name, data, stat)
	return nil
}

// watch returns the watch to arm on a node, or nil if one is armed.
func (m *Mirror) watch(node string) drivers.Watch {
	if m.armed[node] {
		return nil
	}
	return m.changes.Fire
}

// keep shows a node that has changed since it was last seen.
func (m *Mirror) keep(name string, data []byte, stat drivers.Stat) {
	if seen, kept := m.kept[name]; !kept || seen != stat.Modified {
		m.kept[name] = stat.Modified
		m.see(name, data, stat)
	}
}

// keepOnly drops all nodes but these.
func (m *Mirror) keepOnly(there map[string]bool) {
	for name := range m.kept {
		if !there[name] {
			m.drop(name)
		}
	}
}

// drop shows that a node is gone.
func (m *Mirror) drop(name string) {
	if _, kept := m.kept[name]; kept {
		delete(m.kept, name)
		m.see(name, nil, drivers.Stat{})
	}
}

// Create makes a node. Only one client at a time may change the nodes: one that
// exists already was created by a call of which the reply was lost.
func (m *Mirror) Create(ctx context.Context, name string, data []byte) error {
	err := drivers.Repeat(ctx, func() error {
		_, err := m.conn.Create(ctx, path.Join(m.dir, name), data, 0)
		return err
	})
	if err != nil && !errors.Is(err, drivers.ErrNodeExists) {
		return fmt.Errorf("create %s in %s: %w", name, m.dir, err)
	}
	return nil
}

// Set changes a node's data and returns its version then. If a reply is lost, Set
// writes again.
func (m *Mirror) Set(ctx context.Context, name string, data []byte) (version int32, err error) {
	var stat drivers.Stat
	err = drivers.Repeat(ctx, func() (err error) {
		stat, err = m.conn.Set(ctx, path.Join(m.dir, name), data, drivers.AnyVersion)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("set %s in %s: %w", name, m.dir, err)
	}
	return stat.Version, nil
}

// Delete removes a node. One that does not exist was deleted by a call of which
// the reply was lost.
func (m *Mirror) Delete(ctx context.Context, name string) error {
	err := drivers.Repeat(ctx, func() error {
		return m.conn.Delete(ctx, path.Join(m.dir, name), drivers.AnyVersion)
	})
	if err != nil && !errors.Is(err, drivers.ErrNoNode) {
		return fmt.Errorf("delete %s in %s: %w", name, m.dir, err)
	}
	return nil
}
