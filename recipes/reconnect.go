package recipes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Reconnector brings a client back after an outage that has hit all clients
// at the same time. Before each attempt it waits for a random time between 0
// and a limit, which is 200 ms at first and doubles with each attempt, up to
// 2 s ("full jitter"). So the attempts of many clients spread evenly, and the
// longer the outage lasts, the fewer there are. A client is back up to 2 s
// later than it could be. One Reconnector serves one goroutine.
// Cost: N clients come back: no notifications, no reads, N writes, which
// register them; N attempts if the first ones succeed.
type Reconnector struct {
	random *rand.Rand
}

const (
	// firstReconnectLimit is the limit of the wait before the first attempt.
	firstReconnectLimit = 200 * time.Millisecond
	// lastReconnectLimit is the largest limit.
	lastReconnectLimit = 2 * time.Second
)

// NewReconnector returns the Reconnector of one client. Clients must draw
// differently: each has a random of its own.
func NewReconnector(random *rand.Rand) *Reconnector {
	return &Reconnector{random: random}
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
	for limit := firstReconnectLimit; ; limit = min(2*limit, lastReconnectLimit) {
		// 1. Wait for a random time between 0 and the limit.
		if err := drivers.Pause(ctx, time.Duration(r.random.Int64N(int64(limit)))); err != nil {
			return err
		}
		// 2. Connect. If the service does not answer, double the limit and go to
		// step 1.
		err := connect(ctx)
		if !errors.Is(err, drivers.ErrConnectionLoss) && !errors.Is(err, drivers.ErrSessionLost) {
			return err
		}
	}
}
