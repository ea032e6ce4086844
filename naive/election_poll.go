package naive

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A PollElection chooses one leader among its candidates. The candidate that
// creates the one ephemeral node leads. Every other candidate checks at a fixed
// interval whether the node exists, and tries to create it when it does not. No
// client is woken. A shorter interval sends more requests, a longer one leaves
// the others without a leader for longer. One PollElection serves one goroutine.
// Cost: N clients, each leads once, q polls per candidate during each term: no
// notifications, N+q·N(N−1)/2 reads, at least 2N writes; a leader that resigns
// wakes no client.
type PollElection struct {
	conn     drivers.Conn
	dir      string
	leader   string // the path of the node
	interval time.Duration
	node     *protected.Claim
	end      context.CancelFunc
}

// NewPollElection returns the election at dir, an existing node. A candidate
// that does not lead checks the node once per interval.
func NewPollElection(conn drivers.Conn, dir string, interval time.Duration) *PollElection {
	leader := path.Join(dir, "leader")
	return &PollElection{
		conn:     drivers.Steady(conn),
		dir:      dir,
		leader:   leader,
		interval: interval,
		node:     protected.NewSingleNode(conn, leader),
		end:      func() {},
	}
}

// Campaign is like [Election.Campaign].
func (e *PollElection) Campaign(ctx context.Context) (leading context.Context, err error) {
	if err := e.wait(ctx); err != nil {
		return nil, fmt.Errorf("campaign in %s: %w", e.dir, errors.Join(err, e.node.Abandon(ctx)))
	}
	leading, e.end = drivers.Bound(ctx, e.conn)
	return leading, nil
}

func (e *PollElection) wait(ctx context.Context) error {
	for {
		// 1. Call exists on the leader's node, without a watch.
		_, led, err := e.conn.Exists(ctx, e.leader, nil)
		if err != nil {
			return err
		}
		// 2. If there is none, create it: the candidate that succeeds leads.
		if !led {
			if err := e.node.Create(ctx); !errors.Is(err, drivers.ErrNodeExists) {
				return err
			}
		}
		// 3. Wait for one interval, then go to step 1.
		if err := drivers.Pause(ctx, e.interval); err != nil {
			return err
		}
	}
}

// Token is like [OneNodeElection.Token].
func (e *PollElection) Token() int64 { return drivers.NoSeq }

// Resign is like [Election.Resign].
func (e *PollElection) Resign(ctx context.Context) error {
	e.end()
	if err := e.node.Remove(ctx); err != nil {
		return fmt.Errorf("resign in %s: %w", e.dir, err)
	}
	return nil
}
