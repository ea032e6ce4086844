package namespace

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// IsAlive reports whether the process that made the base still has its session, and so removes the base
// itself.
func (n Path) IsAlive(ctx context.Context, c drivers.Conn, base string) (bool, error) {
	_, exists, err := drivers.Steady(c).Exists(ctx, base+alive, nil)
	return exists, err
}

// AwaitEnd returns when IsAlive is false.
func (n Path) AwaitEnd(ctx context.Context, c drivers.Conn, base string) error {
	for {
		var gone drivers.Wait
		_, exists, err := drivers.Steady(c).Exists(ctx, base+alive, gone.Fire)
		if err != nil || !exists {
			return err
		}
		if _, err := gone.Await(ctx); err != nil {
			return err
		}
	}
}

// RemoveEnded waits until the session of the process that makes a base has ended, and removes what is left of
// the base. That process may have been about to make the base, or never have begun. The session c must have
// been opened after that process was last heard of, so that it sees all that the process made.
func (n Path) RemoveEnded(ctx context.Context, c drivers.Conn, base string) error {
	if err := n.AwaitEnd(ctx, c, base); err != nil {
		return err
	}
	_, made, err := drivers.Steady(c).Exists(ctx, base, nil)
	if err != nil {
		return err
	}
	if !made {
		return n.remove(ctx, c)
	}
	// The marker is created before the base, maybe after the first look. Now its absence is final.
	if err := n.AwaitEnd(ctx, c, base); err != nil {
		return err
	}
	return n.RemoveBase(ctx, c, base)
}
