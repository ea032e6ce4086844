package naive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/stampede-bench/stampede/drivers"
)

// A Reconnector brings a client back after an outage that has hit all clients
// at the same time. It tries at once, and again as soon as an attempt has
// failed, so the attempts of all clients hit the service together for as long
// as the outage lasts, and the first moment after it. A client is back as soon
// as it can be. One Reconnector serves one goroutine.
// Cost: N clients come back: no notifications, no reads, N writes, which
// register them; N attempts if the first ones succeed.
type Reconnector struct{}

// NewReconnector returns the Reconnector of one client. It draws nothing from
// random.
func NewReconnector(random *rand.Rand) *Reconnector {
	return &Reconnector{}
}

// Reconnect calls connect until it succeeds, or until ctx ends. It calls it
// again after ErrConnectionLoss and ErrSessionLost, which say that the service
// does not answer; another error, such as ErrRefused, it returns.
func (r *Reconnector) Reconnect(ctx context.Context, connect func(context.Context) error) error {
	if err := r.reconnect(ctx, connect); err != nil {
		return fmt.Errorf("reconnect: %w", err)
	}
	return nil
}

func (r *Reconnector) reconnect(ctx context.Context, connect func(context.Context) error) error {
	for {
		// 1. The context may have ended.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// 2. Connect. If the service does not answer, go to step 1.
		err := connect(ctx)
		if !errors.Is(err, drivers.ErrConnectionLoss) && !errors.Is(err, drivers.ErrSessionLost) {
			return err
		}
	}
}
