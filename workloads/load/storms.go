package load

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// ConnectStorm opens all sessions at the same time.
func ConnectStorm() Storm {
	return Storm{
		Closes: true,
		Prepare: func(_ context.Context, s *workloads.Slot, _ string) error {
			select {
			case <-s.Conn.Done(): // the service has ended it
				return drivers.ErrSessionLost
			default:
				return s.Conn.Close()
			}
		},
		Hit: func(ctx context.Context, s *workloads.Slot, path string) error {
			if err := s.Open(ctx); err != nil {
				return err
			}
			return awaitAnswer(ctx, s, path)
		},
		Outcome: noFinding,
	}
}

// ReconnectStorm cuts all connections at the same time. Each session has a watch to arm again.
func ReconnectStorm() Storm {
	return Storm{
		Prepare: func(ctx context.Context, s *workloads.Slot, path string) error {
			_, _, err := drivers.Steady(s.Conn).Exists(ctx, path+"/news", func(drivers.Event) {})
			return err
		},
		Hit: func(ctx context.Context, s *workloads.Slot, path string) error {
			s.Cut()
			return awaitAnswer(ctx, s, path)
		},
		Outcome: noFinding,
	}
}

// ExpiryStorm ends all sessions at the same time, as if they had expired, and opens new ones. Each
// session has an ephemeral node.
func ExpiryStorm() Storm {
	return Storm{
		Prepare: func(ctx context.Context, s *workloads.Slot, path string) error {
			return namespace.CreateNode(ctx, s.Conn, path+"/"+strconv.Itoa(s.Index), nil, drivers.Ephemeral)
		},
		Hit: func(ctx context.Context, s *workloads.Slot, path string) error {
			if err := s.Expire(ctx); err != nil {
				return err
			}
			select {
			case <-s.Conn.Done():
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := s.Open(ctx); err != nil {
				return err
			}
			return awaitAnswer(ctx, s, path)
		},
		Outcome: func(ctx context.Context, c drivers.Conn, path string) (string, error) {
			left, err := drivers.Steady(c).Children(ctx, path, nil)
			if len(left) > 0 {
				return fmt.Sprintf("%d ephemeral nodes outlived their sessions", len(left)), nil
			}
			return "", err
		},
	}
}

// NoStorm is a storm that does nothing: sessions only stay open for the hold.
func NoStorm() Storm {
	nothing := func(context.Context, *workloads.Slot, string) error { return nil }
	return Storm{Prepare: nothing, Hit: nothing, Outcome: noFinding}
}

// awaitAnswer returns when the service has answered the session.
func awaitAnswer(ctx context.Context, s *workloads.Slot, path string) error {
	_, _, err := drivers.Steady(s.Conn).Exists(ctx, path, nil)
	return err
}

func noFinding(context.Context, drivers.Conn, string) (string, error) { return "", nil }

// Judge returns what was wrong after the storms, and how long each lasted: from the moment when the ordinary
// client began it until the last client was back.
func (w *stormWorkload) Judge(g divided.Gathered) divided.Findings {
	safety := newStormJudge(g.Clients).TakeAll(g.Steps)
	return divided.Findings{Safety: &safety, Times: divided.UntilAll(g, begunPoint, overPhase)}
}
