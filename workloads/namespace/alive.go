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
