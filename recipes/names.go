package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// Names are values by name, looked up often and seldom changed. What has been
// looked up is kept and served without asking, until its watch says that it has
// changed; while disconnected from the service what is kept may be old. One
// Names serves one goroutine.
// Cost: N clients, M names, U changes, each client looks everything up L times
// before the first and after each change: N·U notifications, N(M+U) reads, U
// writes; a change wakes N.
type Names struct {
	conn    drivers.Conn
	dir     string
	kept    map[string][]byte
	changed map[string]*drivers.Wait // whether what is kept has changed
}

// NewNames returns the names in dir, a node that is there already.
func NewNames(conn drivers.Conn, dir string) *Names {
	return &Names{
		conn:    drivers.Steady(conn),
		dir:     dir,
		kept:    make(map[string][]byte),
		changed: make(map[string]*drivers.Wait),
	}
}

// Lookup returns the value of a name, which must not be changed. ErrNoNode if it
// has none.
func (n *Names) Lookup(ctx context.Context, name string) (value []byte, err error) {
	value, err = n.lookup(ctx, name)
	if err != nil {
		err = fmt.Errorf("look up %s in %s: %w", name, n.dir, err)
	}
	return value, err
}

func (n *Names) lookup(ctx context.Context, name string) (value []byte, err error) {
	// 1. Serve what is kept, if it has not changed.
	if changed, kept := n.changed[name]; kept && !changed.Fired() {
		return n.kept[name], nil
	}
	// 2. Otherwise read the name's node, with a watch, and keep what it says.
	var changed drivers.Wait
	value, _, err = n.conn.Get(ctx, path.Join(n.dir, name), changed.Fire)
	if err == nil {
		n.kept[name], n.changed[name] = value, &changed
	}
	return value, err
}

// Bind gives a name a value. One client at a time may: a change whose reply is
// lost is made again, over any that came in between.
func (n *Names) Bind(ctx context.Context, name string, value []byte) error {
	if err := n.bind(ctx, path.Join(n.dir, name), value); err != nil {
		return fmt.Errorf("bind %s in %s: %w", name, n.dir, err)
	}
	return nil
}

func (n *Names) bind(ctx context.Context, node string, value []byte) error {
	for {
		// 1. Set the name's node, and make it if it is the first time.
		_, err := n.conn.Set(ctx, node, value, drivers.AnyVersion)
		if errors.Is(err, drivers.ErrNoNode) {
			_, err = n.conn.Create(ctx, node, value, 0)
		}
		// 2. Again, if nobody knows what came of it, or it is there after all.
		if !errors.Is(err, drivers.ErrConnectionLoss) && !errors.Is(err, drivers.ErrNodeExists) {
			return err
		}
	}
}
