package workloads

import (
	"context"
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/faults"
)

// A victim is a client as faults see it.
type victim struct {
	*Seat
	service drivers.Service
}

// Line is what the seat's connections go through.
func (v *victim) Line() *faults.Line { return &v.harm.line }

// Expire has the service end the session that the seat has just now. A service that
// cannot be reached, since its leader is gone, is asked again for a while.
func (v *victim) Expire(ctx context.Context) error {
	e, ok := v.service.(drivers.Expirer)
	if !ok {
		return drivers.ErrUnsupported
	}
	for began := time.Now(); ; keep(ctx, lookEvery) {
		err := e.Expire(ctx, *v.harm.conn.Load())
		if errors.Is(err, drivers.ErrSessionLost) { // it has just ended by itself
			return nil
		}
		if err == nil || !unreached(err) || ctx.Err() != nil || time.Since(began) > endTime {
			return err
		}
	}
}

// Freeze has the client not go on.
func (v *victim) Freeze() { v.harm.frost.Shut() }

// Thaw lets it go on.
func (v *victim) Thaw() { v.harm.frost.Open() }

// Lose has the reply of the next such request lost.
func (v *victim) Lose(op drivers.Op) { v.harm.lose.Store(uint32(op)) }
