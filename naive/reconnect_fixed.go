package naive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A FixedReconnector brings a client back after an outage that has hit all
// clients at the same time. Before each attempt it waits for a fixed time. All
// clients have lost their sessions at the same moment, so they stay in step:
// nothing reaches the service between two attempts, and then those of all
// clients do. A shorter wait makes more attempts, a longer one delays the
// client's return. One FixedReconnector serves one goroutine.
// Cost: N clients come back: no notifications, no reads, N writes, which
// register them; N attempts if the first ones succeed.
type FixedReconnector struct {
	wait time.Duration
}

// NewFixedReconnector returns the FixedReconnector of one client. It waits this
// long before each attempt.
func NewFixedReconnector(wait time.Duration) *FixedReconnector {
	return &FixedReconnector{wait: wait}
}

// Reconnect calls connect until it succeeds, or until ctx ends. It calls it
// again after ErrConnectionLoss and ErrSessionLost, which say that the service
// does not answer; another error, such as ErrRefused, it returns.
func (r *FixedReconnector) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	if err := r.reconnect(ctx, connect); err != nil {
		return fmt.Errorf("reconnect: %w", err)
	}
	return nil
}

func (r *FixedReconnector) reconnect(ctx context.Context, connect func(context.Context) error) error {
	for {
		// 1. Wait for a fixed time.
		if err := drivers.Pause(ctx, r.wait); err != nil {
			return err
		}
		// 2. Connect. If the service does not answer, go to step 1.
		err := connect(ctx)
		if !errors.Is(err, drivers.ErrConnectionLoss) && !errors.Is(err, drivers.ErrSessionLost) {
			return err
		}
	}
}
