package replica

import (
	"encoding/binary"

	"go.etcd.io/raft/v3"
)

// reads are the syncs that wait. The leader tells the index of its last committed entry after a
// majority has confirmed that it still leads, and a sync is done when the member has applied that
// entry.
type reads struct {
	boot    uint64
	next    []func() // to ask for
	asked   uint64   // number of the last question
	waiting []read   // in the order of their numbers
	idle    int      // ticks without progress
}

type read struct {
	number uint64
	index  uint64 // 0 before the leader's answer
	sent   bool
	done   []func()
}

func (r *reads) init(m *Member) { r.boot = m.config.Boot }

// add asks the leader at the next flush.
func (r *reads) add(done func()) { r.next = append(r.next, done) }

func (r *reads) flush(m *Member) {
	if m.soft.Lead == raft.None {
		return
	}
	if len(r.next) > 0 {
		r.asked++
		r.waiting = append(r.waiting, read{number: r.asked, done: r.next})
		r.next = nil
	}
	for i := range r.waiting {
		if w := &r.waiting[i]; !w.sent && w.index == 0 {
			w.sent = true
			m.node.ReadIndex(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, r.boot), w.number))
		}
	}
}

// confirmed takes an answer. An answer to a later question is one to the earlier ones, too.
func (r *reads) confirmed(s raft.ReadState) {
	if len(s.RequestCtx) != 16 || binary.BigEndian.Uint64(s.RequestCtx) != r.boot {
		return
	}
	number := binary.BigEndian.Uint64(s.RequestCtx[8:])
	for i := range r.waiting {
		if w := &r.waiting[i]; w.number <= number && w.index == 0 {
			w.index = s.Index
		}
	}
	r.idle = 0
}

// serve finishes the syncs that the index suffices for.
func (r *reads) serve(applied uint64) {
	for len(r.waiting) > 0 && r.waiting[0].index != 0 && r.waiting[0].index <= applied {
		first := r.waiting[0]
		r.waiting = r.waiting[1:]
		for _, done := range first.done {
			done()
		}
	}
}

// again makes the next flush ask again.
func (r *reads) again() {
	for i := range r.waiting {
		r.waiting[i].sent = false
	}
	r.idle = 0
}

func (r *reads) tick() {
	if len(r.waiting) == 0 {
		r.idle = 0
	} else if r.idle++; r.idle >= retryTicks {
		r.again()
	}
}
