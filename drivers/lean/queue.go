package lean

// queue holds the unanswered calls in the order of their requests, which is also that of the
// replies. The zero queue is empty.
type queue struct {
	slots      []*call // length is a power of two
	head, tail uint    // slots[head:tail], modulo the length
}

func (q *queue) len() int { return int(q.tail - q.head) }

func (q *queue) push(k *call) {
	if q.len() == len(q.slots) {
		q.grow()
	}
	q.slots[q.tail&uint(len(q.slots)-1)] = k
	q.tail++
}

func (q *queue) grow() {
	slots := make([]*call, max(2, 2*len(q.slots)))
	for i := q.head; i != q.tail; i++ {
		slots[i&uint(len(slots)-1)] = q.slots[i&uint(len(q.slots)-1)]
	}
	q.slots = slots
}

// first returns the call to be answered next, or nil.
func (q *queue) first() *call {
	if q.len() == 0 {
		return nil
	}
	return q.slots[q.head&uint(len(q.slots)-1)]
}

// pop removes and returns the first call.
func (q *queue) pop() *call {
	k := q.first()
	if k != nil {
		q.slots[q.head&uint(len(q.slots)-1)] = nil
		q.head++
	}
	return k
}
