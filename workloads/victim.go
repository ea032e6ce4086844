package workloads

import (
	"context"
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/faults"
)

// A victim is a client as the target of faults.
type victim struct {
	*Seat
	service drivers.Service
}

// Line returns the line that the seat's connections go through.
func (v *victim) Line() *faults.Line { return &v.harm.line }

// Expire makes the service end the seat's current session. While the service cannot be reached,
// because it has no leader, Expire retries for a while.
func (v *victim) Expire(ctx context.Context) error {
	e, ok := v.service.(drivers.Expirer)
	if !ok {
		return drivers.ErrUnsupported
	}
	for began := time.Now(); ; keep(ctx, lookEvery) {
		err := e.Expire(ctx, *v.harm.conn.Load())
		if errors.Is(err, drivers.ErrSessionLost) { // the session has just ended by itself
			return nil
		}
		if err == nil || !unreached(err) || ctx.Err() != nil || time.Since(began) > endTime {
			return err
		}
	}
}

// Freeze stops the client at the end of its hold, until Thaw.
func (v *victim) Freeze() { v.harm.frost.Shut() }

// Thaw lets the client continue.
func (v *victim) Thaw() { v.harm.frost.Open() }

// Lose drops the reply of the next such request.
func (v *victim) Lose(op drivers.Op) { v.harm.lose.Store(uint32(op)) }
