package naive

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A ChildrenWatchElection chooses one leader among its candidates. Each
// candidate creates a sequential ephemeral node, and the candidate with the
// lowest sequence number leads. Every other candidate watches the list of
// nodes, so each candidate that arrives or leaves wakes all others, and each
// lists the nodes again. One ChildrenWatchElection serves one goroutine.
// Cost: N clients, each leads once: N²−N+1 notifications, N²−N+1 reads, 2N
// writes; a leader that resigns wakes up to N−1.
type ChildrenWatchElection struct {
	conn drivers.Conn
	dir  string
	node *protected.Claim
	end  context.CancelFunc
}

// NewChildrenWatchElection returns the election at dir, an existing node.
func NewChildrenWatchElection(conn drivers.Conn, dir string) *ChildrenWatchElection {
	return &ChildrenWatchElection{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: protected.NewPlace(conn, dir, "n-"),
		end:  func() {},
	}
}

// Campaign is like [Election.Campaign].
func (e *ChildrenWatchElection) Campaign(ctx context.Context) (leading context.Context, err error) {
	if err := e.wait(ctx); err != nil {
		return nil, fmt.Errorf("campaign in %s: %w", e.dir, errors.Join(err, e.node.Abandon(ctx)))
	}
	leading, e.end = drivers.Bound(ctx, e.conn)
	return leading, nil
}

func (e *ChildrenWatchElection) wait(ctx context.Context) error {
	// 1. Volunteer: create a sequential ephemeral node.
	if err := e.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. Get the children (the volunteers), with a watch.
		var changed drivers.Wait
		volunteers, err := e.conn.Children(ctx, e.dir, changed.Fire)
		if err != nil {
			return err
		}
		// 3. If no node is ahead of this client's, it leads.
		ahead, err := e.node.Ahead(volunteers)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for any child to be created or deleted, then go to step 2.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// Token is like [Election.Token].
func (e *ChildrenWatchElection) Token() int64 { return e.node.Seq() }

// Resign is like [Election.Resign].
func (e *ChildrenWatchElection) Resign(ctx context.Context) error {
	e.end()
	if err := e.node.Remove(ctx); err != nil {
		return fmt.Errorf("resign in %s: %w", e.dir, err)
	}
	return nil
}
