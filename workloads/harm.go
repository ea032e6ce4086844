package workloads

import (
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/faults"
	"github.com/stampede-bench/stampede/metrics"
)

// A harm is what can be done to one seat, and how it fares. All of its methods work
// on a nil one, of a run in which nothing is broken.
type harm struct {
	number int // of the seat, among all of the run
	diary  *metrics.Diary
	lined  bool // connections go through the line

	line  faults.Line
	conn  atomic.Pointer[drivers.Conn] // the session
	lose  atomic.Uint32                // the operation of which a reply is to be lost; 0 for none
	frost faults.Gate
	fed   atomic.Bool // the client was served in its present turn
}

// options are how the seat's sessions are opened.
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

// opened says that the seat has a session.
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

// served says that the client got what its turn is for.
func (h *harm) served(when time.Time) {
	if h != nil {
		h.diary.Served(h.number, when)
		h.fed.Store(true)
	}
}

// turned says that a turn has ended, which is for nothing else unless it said so.
func (h *harm) turned() {
	if h == nil {
		return
	}
	if !h.fed.Swap(false) {
		h.served(time.Now())
		h.fed.Store(false)
	}
}

// stand has a frozen client go no further.
func (h *harm) stand() {
	if h != nil {
		h.frost.Pass(nil)
	}
}

// loses is asked about every reply.
func (h *harm) loses(m drivers.Message) bool {
	return m.Err == nil && m.Op != drivers.OpOther && h.lose.CompareAndSwap(uint32(m.Op), 0)
}
