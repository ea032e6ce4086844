package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/claim"
)

// A Group is those who have joined it and have neither left nor failed. Each
// watches only the member right ahead of it, so one that goes wakes its neighbour
// alone. The first has nobody ahead and closes the ring: it watches the whole
// group, or else nobody would see the last one go, nor that somebody came behind
// it. So what a member sees of the others is right about its neighbour, and
// otherwise as old as its last look. A member that leaves and keeps its session
// leaves its watch behind, which wakes it once more for nothing. One Group serves one goroutine at a time: who
// leaves has stopped following.
// Cost: N clients join, and leave in this order: 3N−2 notifications, 5N−3 reads,
// 2N writes; one that goes wakes its neighbour and the first, and itself if it
// was the first.
type Group struct {
	conn drivers.Conn
	dir  string
	node *claim.Claim
}

// NewGroup returns the group in dir, a node that is there already.
func NewGroup(conn drivers.Conn, dir string) *Group {
	return &Group{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: claim.InLine(conn, dir, "member-"),
	}
}

// Join makes this client a member until it leaves or its session is lost. If Join
// fails it has left nothing behind.
func (g *Group) Join(ctx context.Context) error {
	if err := g.node.Create(ctx); err != nil {
		return fmt.Errorf("join group %s: %w", g.dir, errors.Join(err, g.node.Abandon(ctx)))
	}
	return nil
}

// Name is this member's, among those that Follow shows.
func (g *Group) Name() string { return path.Base(g.node.Path()) }

// Place is this member's in the order in which they joined.
func (g *Group) Place() int64 { return g.node.Seq() }

// Follow calls see with the members' names, and again whenever this member learns
// of a change, until ctx ends or, ErrSessionLost, the session does. ErrNoNode:
// this client is not a member.
func (g *Group) Follow(ctx context.Context, see func(members []string)) error {
	return fmt.Errorf("follow group %s: %w", g.dir, g.follow(ctx, see))
}

func (g *Group) follow(ctx context.Context, see func(members []string)) error {
	for first := false; ; {
		// 1. List the members, without a watch; only the first of them
		// watches them all.
		var changed drivers.Wait
		var watch drivers.Watch
		if first {
			watch = changed.Fire
		}
		members, err := g.conn.Children(ctx, g.dir, watch)
		if err != nil {
			return err
		}
		ahead, err := g.node.Ahead(members)
		if err != nil {
			return err
		}
		if ahead == "" && !first {
			first = true // and stays it: look again, with the watch
			continue
		}
		// 2. Watch the one right ahead. If it has gone already, look again.
		if !first {
			_, there, err := g.conn.Exists(ctx, path.Join(g.dir, ahead), changed.Fire)
			if err != nil {
				return err
			}
			if !there {
				continue
			}
		}
		see(claim.Names(members))
		// 3. Wait for a change, then look again.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// Leave ends the membership. It can be called again if it fails. ErrNoNode:
// somebody else has removed the node.
func (g *Group) Leave(ctx context.Context) error {
	if err := g.node.Remove(ctx); err != nil {
		return fmt.Errorf("leave group %s: %w", g.dir, err)
	}
	return nil
}
