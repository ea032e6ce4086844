package recipes

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A MutualWatch is a [Group] whose members must each notice the end of every
// other one. Each member keeps one watch, on the group's node. A member that
// joins or leaves wakes all others, which all have to know, and each lists the
// group again: that arms its one watch, however many members there are.
// Cost: N clients join, and leave again: N² notifications, N² reads, 2N writes;
// N members keep N standing watches, and a member that joins or leaves wakes up
// to N.
type MutualWatch struct {
	Group
}

// NewMutualWatch returns the members in dir, an existing node.
func NewMutualWatch(conn drivers.Conn, dir string) *MutualWatch {
	return &MutualWatch{*NewGroup(conn, dir)}
}

// Follow is like [Group.Follow].
func (m *MutualWatch) Follow(ctx context.Context, see func(members []string)) error {
	return fmt.Errorf("watch the members in %s: %w", m.dir, m.follow(ctx, see))
}

func (m *MutualWatch) follow(ctx context.Context, see func(members []string)) error {
	for {
		// 1. Get the children (the members), with a watch.
		var changed drivers.Wait
		members, err := m.conn.Children(ctx, m.dir, changed.Fire)
		if err != nil {
			return err
		}
		// 2. If this client is not among them, it is no longer a member.
		if _, err := m.node.Ahead(members); err != nil {
			return err
		}
		see(protected.Names(members))
		// 3. Wait for the watch to fire, then go to step 1.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}
