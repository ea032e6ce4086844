package wire

import "github.com/stampede-bench/stampede/drivers"

// ring holds the unanswered requests in their order, which is also that of the replies. It
// reuses its slots and their paths.
type ring struct {
	slots      []pending // length is a power of two
	head, tail uint      // slots[head:tail], modulo the length
	paths      bool      // keep the paths of reads that arm no watch, too
	limit      uint      // how many it keeps, 0 for any number
	lossy      bool      // replies may be missing: one answers all requests before its own
}

type pending struct {
	xid   int32
	op    drivers.Op
	watch bool
	mode  drivers.Mode
	gone  bool   // answered before an earlier one
	path  []byte // empty for reads that arm no watch, unless the ring keeps all paths
	parts []drivers.Part
}

func (r *ring) at(i uint) *pending { return &r.slots[i&uint(len(r.slots)-1)] }

// full reports whether the ring keeps no further request.
func (r *ring) full() bool { return r.limit > 0 && r.tail-r.head >= r.limit }

func (r *ring) push(xid int32, m *drivers.Message) {
	if r.tail-r.head == uint(len(r.slots)) {
		r.grow()
	}
	p := r.at(r.tail)
	p.xid, p.op, p.watch, p.mode, p.gone = xid, m.Op, m.Watch, m.Mode, false
	p.path = p.path[:0]
	if r.paths || m.Watch || !m.Op.IsRead() {
		p.path = append(p.path, m.Path...)
	}
	p.keepParts(m.Parts)
	r.tail++
}

func (r *ring) grow() {
	slots := make([]pending, max(8, 2*len(r.slots)))
	for i := r.head; i != r.tail; i++ {
		slots[i&uint(len(slots)-1)] = *r.at(i)
	}
	r.slots = slots
}

// find returns the index of the request with the xid. It is the first request, unless a server
// answers out of order.
func (r *ring) find(xid int32) (i uint, found bool) {
	for i := r.head; i != r.tail; i++ {
		if p := r.at(i); p.xid == xid && !p.gone {
			return i, true
		}
	}
	return 0, false
}

// done removes a request that find found.
func (r *ring) done(i uint) {
	r.at(i).gone = true
	if r.lossy {
		r.head = i
	}
	for r.head != r.tail && r.at(r.head).gone {
		r.head++
	}
}
