package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// An Election chooses one leader among its candidates. Each candidate creates a
// sequential ephemeral node, and the candidate with the lowest sequence number
// leads. Every other candidate watches only the node with the next lower
// number, so a leader that resigns or fails wakes one candidate, its successor.
// One Election serves one goroutine.
// Cost: N clients, each leads once: N−1 notifications, 3N−2 reads, 2N writes; a
// leader that resigns wakes 1.
type Election struct {
	conn drivers.Conn
	dir  string
	node *protected.Claim
	end  context.CancelFunc
}

// NewElection returns the election at dir, an existing node.
func NewElection(conn drivers.Conn, dir string) *Election {
	return &Election{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: protected.NewPlaceWithNeighbors(conn, dir, "n-"),
		end:  func() {},
	}
}

// Campaign waits until this client leads. The context that it returns is for
// the work as the leader: it is canceled when ctx is, by Resign, and, with
// cause ErrSessionLost, when the session ends. If Campaign fails, it removes
// its node.
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
		// 2. Get the children (the volunteers), without a watch. Step 3 needs
		// only this client's node and the one right ahead.
		volunteers, err := e.node.Neighbors(ctx)
		if err != nil {
			return err
		}
		// 3. If no node is ahead of this client's, it leads.
		ahead, err := e.node.Ahead(volunteers)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for the node right ahead, which has the next lower sequence
		// number, to be deleted, then go to step 2: its client may have given
		// up while others were still ahead of it.
		if err := e.await(ctx, ahead); err != nil {
			return err
		}
	}
}

// await calls exists on the node, with a watch, and waits for the node to be
// deleted. If the node does not exist, await returns immediately.
func (e *Election) await(ctx context.Context, node string) error {
	var gone drivers.Wait
	_, exists, err := e.conn.Exists(ctx, path.Join(e.dir, node), gone.Fire)
	if err == nil && exists {
		_, err = gone.Await(ctx)
	}
	return err
}

// Token returns the leader's fencing token. A client that has seen a higher
// token must not follow this leader any more.
func (e *Election) Token() int64 { return e.node.Seq() }

// Resign cancels the context that Campaign returned and deletes the node, so
// that another client can lead. If Resign fails, it can be called again.
// ErrNoNode means that another client has deleted the node.
func (e *Election) Resign(ctx context.Context) error {
	e.end()
	if err := e.node.Remove(ctx); err != nil {
		return fmt.Errorf("resign in %s: %w", e.dir, err)
	}
	return nil
}
