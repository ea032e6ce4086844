package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// Names maps names to values that are looked up often and seldom change. A
// client keeps each value that it has looked up and serves further look-ups
// from that copy until its watch reports a change. While the client is
// disconnected, its copies may be stale. One Names serves one goroutine.
// Cost: N clients, M names, U changes, each client looks up all names L times
// before the first and after each change: N·U notifications, N(M+U) reads, U
// writes; a change wakes N.
type Names struct {
	conn    drivers.Conn
	dir     string
	kept    map[string][]byte
	changed map[string]*drivers.Wait // fires when the kept value changes
}

// NewNames returns the names in dir, an existing node.
func NewNames(conn drivers.Conn, dir string) *Names {
	return &Names{
		conn:    drivers.Steady(conn),
		dir:     dir,
		kept:    make(map[string][]byte),
		changed: make(map[string]*drivers.Wait),
	}
}

// Lookup returns the value of a name. The caller must not change it. ErrNoNode
// means that the name has no value.
func (n *Names) Lookup(ctx context.Context, name string) (value []byte, err error) {
	value, err = n.lookup(ctx, name)
	if err != nil {
		err = fmt.Errorf("look up %s in %s: %w", name, n.dir, err)
	}
	return value, err
}

func (n *Names) lookup(ctx context.Context, name string) (value []byte, err error) {
	// 1. Return the kept value, if it has not changed.
	if changed, kept := n.changed[name]; kept && !changed.Fired() {
		return n.kept[name], nil
	}
	// 2. Otherwise get the name's node, with a watch, and keep the value.
	var changed drivers.Wait
	value, _, err = n.conn.Get(ctx, path.Join(n.dir, name), changed.Fire)
	if err == nil {
		n.kept[name], n.changed[name] = value, &changed
	}
	return value, err
}

// Bind sets the value of a name. Only one client at a time may call it: if a
// reply is lost, Bind writes again, over a change that another client has made
// in between.
func (n *Names) Bind(ctx context.Context, name string, value []byte) error {
	if err := n.bind(ctx, path.Join(n.dir, name), value); err != nil {
		return fmt.Errorf("bind %s in %s: %w", name, n.dir, err)
	}
	return nil
}

func (n *Names) bind(ctx context.Context, node string, value []byte) error {
	// 1. Set the data of the name's node, or create the node if it does not
	// exist.
	set := func() error {
		_, err := n.conn.Set(ctx, node, value, drivers.AnyVersion)
		if errors.Is(err, drivers.ErrNoNode) {
			_, err = n.conn.Create(ctx, node, value, 0)
		}
		return err
	}
	// 2. Repeat if the reply was lost, or if the node was created in
	// between.
	return drivers.Repeat(ctx, set, drivers.ErrNodeExists)
}
