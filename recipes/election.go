package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/claim"
)

// An Election finds one leader among those who campaign. They stand in line, as
// sequential ephemeral nodes, and each watches only the node right ahead of its
// own, so a leader that goes wakes one client, its successor. One Election
// serves one goroutine.
// Cost: N clients, each leads once: N−1 notifications, 3N−2 reads, 2N writes; a
// leader that goes wakes 1.
type Election struct {
	conn drivers.Conn
	dir  string
	node *claim.Claim
	end  context.CancelFunc
}

// NewElection returns the election at dir, a node that is there already.
func NewElection(conn drivers.Conn, dir string) *Election {
	return &Election{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: claim.InLine(conn, dir, "n-"),
		end:  func() {},
	}
}

// Campaign returns once this client leads, with a context to lead under: it ends
// with ctx, at Resign, and, with cause ErrSessionLost, when the session does. If
// Campaign fails it has given up and left nothing behind.
func (e *Election) Campaign(ctx context.Context) (leading context.Context, err error) {
	if err := e.wait(ctx); err != nil {
		return nil, fmt.Errorf("campaign in %s: %w", e.dir, errors.Join(err, e.node.Abandon(ctx)))
	}
	leading, e.end = drivers.Bound(ctx, e.conn)
	return leading, nil
}

func (e *Election) wait(ctx context.Context) error {
	// 1. Volunteer: create a sequential ephemeral node.
	if err := e.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. List the volunteers, without a watch.
		volunteers, err := e.conn.Children(ctx, e.dir, nil)
		if err != nil {
			return err
		}
		// 3. Who has nobody ahead leads.
		ahead, err := e.node.Ahead(volunteers)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for the one right ahead to go, then look again: it may
		// have given up while others still lead.
		if err := e.await(ctx, ahead); err != nil {
			return err
		}
	}
}

// await returns once the node is gone.
func (e *Election) await(ctx context.Context, node string) error {
	var gone drivers.Wait
	_, exists, err := e.conn.Exists(ctx, path.Join(e.dir, node), gone.Fire)
	if err == nil && exists {
		_, err = gone.Await(ctx)
	}
	return err
}

// Token is the fencing token of the leader: who has heard from one with a higher
// token must not follow this one any more.
func (e *Election) Token() int64 { return e.node.Seq() }

// Resign ends the context to lead under, then lets the next one lead. It can be
// called again if it fails. ErrNoNode: somebody else has removed the node.
func (e *Election) Resign(ctx context.Context) error {
	e.end()
	if err := e.node.Remove(ctx); err != nil {
		return fmt.Errorf("resign in %s: %w", e.dir, err)
	}
	return nil
}
