package naive

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
)

// A MutualWatch is a [Group] whose members must each notice the end of every
// other one. Each member watches the node of each other member to notice its
// end, and the group's node to notice who joins. A member that leaves wakes
// each other member twice, and a member that reconnects arms all its watches
// again.
// Cost: N clients join, and leave in this order: 2N²−N notifications, 2N²−N
// reads, 2N writes; N members keep N² standing watches, and a member that
// leaves wakes up to N, with up to 2N−1 notifications.
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
	watched := make(map[string]*drivers.Wait) // by the member whose end fires it
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
		// 3. Call exists on the node of each other member, with a watch, unless
		// it is watched already.
		there := make(map[string]*drivers.Wait)
		for _, member := range members {
			gone, armed := watched[member.Name]
			if !armed && member.Name != m.Name() {
				gone = new(drivers.Wait)
				_, armed, err = m.conn.Exists(ctx, path.Join(m.dir, member.Name), gone.Fire)
				if err != nil {
					return err
				}
			}
			if armed {
				there[member.Name] = gone
			}
		}
		watched = there
		for !changed.Fired() {
			// 4. The members are this one and those whose watch has not fired.
			maps.DeleteFunc(watched, func(_ string, gone *drivers.Wait) bool { return gone.Fired() })
			see(append(slices.Collect(maps.Keys(watched)), m.Name()))
			// 5. Wait for a watch to fire. If that is the group's, go to step 1.
			waits := append(slices.Collect(maps.Values(watched)), &changed)
			if _, err := drivers.AwaitAny(ctx, waits...); err != nil {
				return err
			}
		}
	}
}
