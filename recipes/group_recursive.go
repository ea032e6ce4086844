package recipes

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A RecursiveGroup is a [Group] in which each member sees every change: it
// lists the group once and then applies the changes that one persistent
// recursive watch reports. A change wakes all members, which all need it, and
// causes no reads.
// Cost: N clients join, and leave again: N(N−1) notifications, N reads, 2N
// writes; a member that joins or leaves wakes up to N−1.
type RecursiveGroup struct {
	Group
	conn drivers.PersistentWatcher
}

// NewRecursiveGroup returns the group in dir, an existing node.
func NewRecursiveGroup(conn drivers.PersistentWatcher, dir string) *RecursiveGroup {
	return &RecursiveGroup{Group: *NewGroup(conn, dir), conn: drivers.Persistent(conn)}
}

// Follow is like [Group.Follow].
func (g *RecursiveGroup) Follow(ctx context.Context, see func(members []string)) error {
	return fmt.Errorf("follow group %s: %w", g.dir, g.follow(ctx, see))
}

func (g *RecursiveGroup) follow(ctx context.Context, see func(members []string)) error {
	// 1. Set a persistent recursive watch on the group's node.
	var changes drivers.Feed
	stop, err := g.conn.WatchTree(ctx, g.dir, changes.Fire)
	if err != nil {
		return err
	}
	defer stop()
	// 2. Get the children (the members), once.
	members, err := g.list(ctx)
	for err == nil {
		see(slices.Sorted(maps.Keys(members)))
		// 3. Wait for events and apply them, in order.
		var events []drivers.Event
		if events, err = changes.Await(ctx); err == nil {
			members, err = g.apply(ctx, members, events)
		}
	}
	return err
}

func (g *RecursiveGroup) list(ctx context.Context) (map[string]bool, error) {
	children, err := g.conn.Children(ctx, g.dir, nil)
	if err == nil {
		_, err = g.node.Ahead(children) // ErrNoNode if this client is not a member
	}
	members := make(map[string]bool)
	for _, name := range protected.Names(children) {
		members[name] = true
	}
	return members, err
}

// apply applies the events to members. Where events may be missing, it lists
// the members again.
func (g *RecursiveGroup) apply(ctx context.Context, members map[string]bool, events []drivers.Event) (map[string]bool, error) {
	for _, e := range events {
		switch e.Type {
		case drivers.Rearmed:
			return g.list(ctx)
		case drivers.Created:
			members[path.Base(e.Path)] = true
		case drivers.Deleted:
			delete(members, path.Base(e.Path))
		}
	}
	if !members[g.Name()] {
		return nil, fmt.Errorf("%s is no longer a member: %w", g.Name(), drivers.ErrNoNode)
	}
	return members, nil
}
