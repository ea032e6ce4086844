package workloads

import (
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/faults"
	"github.com/stampede-bench/stampede/metrics"
)

// A harm is the faults that target one seat, and the record of their effects. All methods accept a
// nil harm, for a run without faults.
type harm struct {
	number int // of the seat, among all seats of the run
	diary  *metrics.Diary
	lined  bool // the seat's connections go through line

	line  faults.Line
	conn  atomic.Pointer[drivers.Conn] // the current session
	lose  atomic.Uint32                // the operation whose next reply is dropped; 0 for none
	frost faults.Gate
	fed   atomic.Bool // the client was served in its current turn
}

// options adds to the options with which the seat opens sessions.
func (h *harm) options(o drivers.Options) drivers.Options {
	if h == nil {
		return o
	}
	if h.lined {
		o.Through = h.line.Through
	}
	o.LoseReply = h.loses
	return o
}

// opened records that the seat has a session.
func (h *harm) opened(c drivers.Conn) {
	if h == nil {
		return
	}
	h.conn.Store(&c)
	h.diary.State(h.number, drivers.Connected)
}

func (h *harm) state(s drivers.State) {
	if h != nil {
		h.diary.State(h.number, s)
	}
}

func (h *harm) failed(err error) {
	if h != nil {
		h.diary.Failed(err.Error())
	}
}

// served records that the client got what its turn is for.
func (h *harm) served(when time.Time) {
	if h != nil {
		h.diary.Served(h.number, when)
		h.fed.Store(true)
	}
}

// turned records that a turn has ended. If served was not called during the turn, the end of the
// turn counts as the service.
func (h *harm) turned() {
	if h == nil {
		return
	}
	if !h.fed.Swap(false) {
		h.served(time.Now())
		h.fed.Store(false)
	}
}

// stand blocks while the client is frozen.
func (h *harm) stand() {
	if h != nil {
		h.frost.Pass(nil)
	}
}

// loses reports whether to drop a reply. The driver calls it for every reply.
func (h *harm) loses(m drivers.Message) bool {
	return m.Err == nil && m.Op != drivers.OpOther && h.lose.CompareAndSwap(uint32(m.Op), 0)
}
