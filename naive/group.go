package naive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A Group consists of the clients that have joined and have neither left nor
// failed. Each member watches the whole group, so a member that joins or leaves
// wakes all others, and each lists the group again. One Group serves one
// goroutine at a time: a member stops following before it leaves.
// Cost: N clients join, and leave again: N² notifications, N² reads, 2N writes;
// a member that joins or leaves wakes up to N.
type Group struct {
	conn drivers.Conn
	dir  string
	node *protected.Claim
}

// NewGroup returns the group in dir, an existing node.
func NewGroup(conn drivers.Conn, dir string) *Group {
	return &Group{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: protected.NewPlace(conn, dir, "member-"),
	}
}

// Join makes this client a member until it leaves or its session ends. If Join
// fails, it removes its node.
func (g *Group) Join(ctx context.Context) error {
	if err := g.node.Create(ctx); err != nil {
		return fmt.Errorf("join group %s: %w", g.dir, errors.Join(err, g.node.Abandon(ctx)))
	}
	return nil
}

// Name returns this member's name, as Follow passes it to see.
func (g *Group) Name() string { return path.Base(g.node.Path()) }

// Place returns this member's sequence number. Members have them in the order
// in which they joined.
func (g *Group) Place() int64 { return g.node.Seq() }

// Follow calls see with the members' names, and again whenever this member
// learns of a change, until ctx ends or, with ErrSessionLost, the session does.
// ErrNoNode means that this client is not a member.
func (g *Group) Follow(ctx context.Context, see func(members []string)) error {
	return fmt.Errorf("follow group %s: %w", g.dir, g.follow(ctx, see))
}

func (g *Group) follow(ctx context.Context, see func(members []string)) error {
	for {
		// 1. Get the children (the members), with a watch.
		var changed drivers.Wait
		members, err := g.conn.Children(ctx, g.dir, changed.Fire)
		if err != nil {
			return err
		}
		// 2. If this client is not among them, it is no longer a member.
		if _, err := g.node.Ahead(members); err != nil {
			return err
		}
		see(protected.Names(members))
		// 3. Wait for the watch to fire, then go to step 1.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// Leave deletes this member's node. If Leave fails, it can be called again.
// ErrNoNode means that another client has deleted the node.
func (g *Group) Leave(ctx context.Context) error {
	if err := g.node.Remove(ctx); err != nil {
		return fmt.Errorf("leave group %s: %w", g.dir, err)
	}
	return nil
}
