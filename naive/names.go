package naive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// Names maps names to values that are looked up often and seldom change. Each
// look-up sends a request, whether the value has changed or not.
// Cost: N clients, M names, U changes, each client looks up all names L times
// before the first and after each change: no notifications, N·L·M(1+U) reads, U
// writes; a change wakes no client.
type Names struct {
	conn drivers.Conn
	dir  string
}

// NewNames returns the names in dir, an existing node.
func NewNames(conn drivers.Conn, dir string) *Names {
	return &Names{conn: drivers.Steady(conn), dir: dir}
}

// Lookup returns the value of a name. ErrNoNode means that the name has no
// value.
func (n *Names) Lookup(ctx context.Context, name string) (value []byte, err error) {
	value, err = n.lookup(ctx, name)
	if err != nil {
		err = fmt.Errorf("look up %s in %s: %w", name, n.dir, err)
	}
	return value, err
}

func (n *Names) lookup(ctx context.Context, name string) (value []byte, err error) {
	// 1. Get the name's node, without a watch.
	value, _, err = n.conn.Get(ctx, path.Join(n.dir, name), nil)
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
