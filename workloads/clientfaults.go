package workloads

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
)

// clientFaults holds the faults that target one slot, and the record of their effects. All methods accept a
// nil clientFaults, for a run without faults.
type clientFaults struct {
	number      int // of the slot, among all slots of the run
	target      faults.Client
	log         *metrics.FaultLog
	throughLink bool // the slot's connections go through link

	link        faults.Link
	relays      bool          // and through its relay
	replyToDrop atomic.Uint32 // the operation whose next reply is dropped; 0 for none
	frozen      faults.Pauser
	wasServed   atomic.Bool // the client was served in its current turn
}

// options adds to the options with which the slot opens sessions.
func (h *clientFaults) options(o drivers.Options) drivers.Options {
	if h == nil {
		return o
	}
	if h.throughLink {
		o.Through = h.link.Wrap
	}
	if h.relays {
		o.Through = h.link.WrapRelayed
	}
	o.LoseReply = h.dropsReply
	return o
}

// opened records that the slot has a session.
func (h *clientFaults) opened() {
	if h != nil {
		h.log.State(h.number, drivers.Connected)
	}
}

// learn takes note of a state of the session when the client learns it: now, or when it is thawed. The
// driver's own timers run in a frozen client too.
func (h *clientFaults) learn(s drivers.State, note func()) {
	if h == nil {
		note()
		return
	}
	h.frozen.Do(func() {
		note()
		h.log.State(h.number, s)
	})
}

func (h *clientFaults) failed(err error) {
	if h != nil {
		h.log.Failed(err.Error())
	}
}

// served records that the client got what its turn is for.
func (h *clientFaults) served(when time.Time) {
	if h != nil {
		h.log.Served(h.number, when)
		h.wasServed.Store(true)
	}
}

// operated records that an operation of a phase ended, where not every turn makes one of each.
func (h *clientFaults) operated(phase string, when time.Time) {
	if h != nil {
		h.log.Operated(phase, when)
	}
}

// turned records that a turn has ended. If served was not called during the turn, the end of the
// turn counts as the service.
func (h *clientFaults) turned() {
	if h == nil {
		return
	}
	if !h.wasServed.Swap(false) {
		h.served(time.Now())
		h.wasServed.Store(false)
	}
}

// waitWhileFrozen blocks while the client is frozen.
func (h *clientFaults) waitWhileFrozen() {
	if h != nil {
		h.frozen.Wait(nil)
	}
}

// dropsReply reports whether to drop a reply. The driver calls it for every reply.
func (h *clientFaults) dropsReply(m drivers.Message) bool {
	return m.Err == nil && m.Op != drivers.OpOther && h.replyToDrop.CompareAndSwap(uint32(m.Op), 0)
}

// A faultTarget is a client as the target of faults.
type faultTarget struct{ *Slot }

// Link returns the link that the slot's connections go through.
func (v *faultTarget) Link() *faults.Link { return &v.faults.link }

// Expire makes the service end the slot's current session. While the service cannot be reached,
// because it has no leader, Expire retries for a while.
func (v *faultTarget) Expire(ctx context.Context) error {
	for began := time.Now(); ; Sleep(ctx, lookEvery) {
		err := v.expire(ctx, *v.current.Load())
		if errors.Is(err, drivers.ErrSessionLost) { // the session has just ended by itself
			return nil
		}
		if err == nil || !isConnectionError(err) || ctx.Err() != nil || time.Since(began) > endTime {
			return err
		}
	}
}

// Freeze stops the client at the end of its hold, or when its session is lost, until Thaw.
func (v *faultTarget) Freeze() { v.faults.frozen.Pause() }

// Thaw lets the client continue.
func (v *faultTarget) Thaw() { v.faults.frozen.Resume() }

// Lose drops the reply of the next such request.
func (v *faultTarget) Lose(op drivers.Op) { v.faults.replyToDrop.Store(uint32(op)) }
