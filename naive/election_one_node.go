package naive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A OneNodeElection chooses one leader among its candidates. Each candidate
// tries to create the same ephemeral node, and the candidate that succeeds
// leads. Every other candidate watches that node, so a leader that resigns or
// fails wakes all of them, and one of them wins the next race. One
// OneNodeElection serves one goroutine.
// Cost: N clients, each leads once: N(N−1)/2 notifications, N(N−1)/2 reads,
// N(N+3)/2 writes; a leader that resigns wakes up to N−1.
type OneNodeElection struct {
	conn   drivers.Conn
	dir    string
	leader string // the path of the node
	node   *protected.Claim
	end    context.CancelFunc
}

// NewOneNodeElection returns the election at dir, an existing node.
func NewOneNodeElection(conn drivers.Conn, dir string) *OneNodeElection {
	leader := path.Join(dir, "leader")
	return &OneNodeElection{
		conn:   drivers.Steady(conn),
		dir:    dir,
		leader: leader,
		node:   protected.NewSingleNode(conn, leader),
		end:    func() {},
	}
}

// Campaign is like [Election.Campaign].
func (e *OneNodeElection) Campaign(ctx context.Context) (leading context.Context, err error) {
	if err := e.wait(ctx); err != nil {
		return nil, fmt.Errorf("campaign in %s: %w", e.dir, errors.Join(err, e.node.Abandon(ctx)))
	}
	leading, e.end = drivers.Bound(ctx, e.conn)
	return leading, nil
}

func (e *OneNodeElection) wait(ctx context.Context) error {
	for {
		// 1. Create the one ephemeral node: the candidate that succeeds leads.
		err := e.node.Create(ctx)
		if !errors.Is(err, drivers.ErrNodeExists) {
			return err
		}
		// 2. Wait, like every other candidate, for the node to be deleted, then
		// go to step 1 and race again.
		if err := e.await(ctx); err != nil {
			return err
		}
	}
}

// await calls exists on the node, with a watch, and waits for the node to be
// deleted. If the node does not exist, await returns immediately.
func (e *OneNodeElection) await(ctx context.Context) error {
	var gone drivers.Wait
	_, exists, err := e.conn.Exists(ctx, e.leader, gone.Fire)
	if err == nil && exists {
		_, err = gone.Await(ctx)
	}
	return err
}

// Token returns NoSeq: a single node that is created again and again has no
// sequence number, so a resource cannot tell an old leader from a new one.
func (e *OneNodeElection) Token() int64 { return drivers.NoSeq }

// Resign is like [Election.Resign].
func (e *OneNodeElection) Resign(ctx context.Context) error {
	e.end()
	if err := e.node.Remove(ctx); err != nil {
		return fmt.Errorf("resign in %s: %w", e.dir, err)
	}
	return nil
}
