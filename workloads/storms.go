package workloads

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stampede-bench/stampede/drivers"
)

// ConnectStorm opens all sessions at the same time.
func ConnectStorm() Storm {
	return Storm{
		Brace: func(_ context.Context, s *Seat, _ string) error { return s.Conn.Close() },
		Hit: func(ctx context.Context, s *Seat, path string) error {
			if err := s.open(ctx); err != nil {
				return err
			}
			return answered(ctx, s, path)
		},
		Outcome: harmless,
	}
}

// ReconnectStorm cuts all connections at the same time. Each session has a watch to arm again.
func ReconnectStorm() Storm {
	return Storm{
		Brace: func(ctx context.Context, s *Seat, path string) error {
			if _, ok := s.Conn.(drivers.Cutter); !ok {
				return fmt.Errorf("cut a connection of %T: %w", s.Conn, drivers.ErrUnsupported)
			}
			_, _, err := drivers.Steady(s.Conn).Exists(ctx, path+"/news", func(drivers.Event) {})
			return err
		},
		Hit: func(ctx context.Context, s *Seat, path string) error {
			s.Conn.(drivers.Cutter).Cut()
			return answered(ctx, s, path)
		},
		Outcome: harmless,
	}
}

// ExpiryStorm ends all sessions at the same time, as if they had expired, and opens new ones. Each
// session has an ephemeral node.
func ExpiryStorm() Storm {
	return Storm{
		Brace: func(ctx context.Context, s *Seat, path string) error {
			return makeNode(ctx, s.Conn, path+"/"+strconv.Itoa(s.Index), nil, drivers.Ephemeral)
		},
		Hit: func(ctx context.Context, s *Seat, path string) error {
			e, ok := s.service.(drivers.Expirer)
			if !ok {
				return fmt.Errorf("expire a session of %T: %w", s.service, drivers.ErrUnsupported)
			}
			if err := e.Expire(ctx, s.Conn); err != nil {
				return err
			}
			select {
			case <-s.Conn.Done():
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := s.open(ctx); err != nil {
				return err
			}
			return answered(ctx, s, path)
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

// Lull is a storm that does nothing: sessions only stay open for the hold.
func Lull() Storm {
	nothing := func(context.Context, *Seat, string) error { return nil }
	return Storm{Brace: nothing, Hit: nothing, Outcome: harmless}
}

// answered returns when the service has answered the session.
func answered(ctx context.Context, s *Seat, path string) error {
	_, _, err := drivers.Steady(s.Conn).Exists(ctx, path, nil)
	return err
}

func harmless(context.Context, drivers.Conn, string) (string, error) { return "", nil }
