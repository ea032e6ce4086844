package fanout

// A serial numbers the write requests of all sessions in the order in which they were sent.
type serial uint64

// An inFlight holds the write requests that have not been answered. The zero inFlight is empty.
type inFlight struct {
	first    serial // everything before it has been answered
	answered []bool // for first and those after it
}

// next returns the serial of the next request.
func (f *inFlight) next() serial { return f.first + serial(len(f.answered)) }

func (f *inFlight) send() serial {
	f.answered = append(f.answered, false)
	return f.next() - 1
}

// complete records that a request has been answered, or that nobody waits for its reply.
func (f *inFlight) complete(n serial) {
	if n < f.first {
		return // nobody has waited for it
	}
	f.answered[n-f.first] = true
	for len(f.answered) > 0 && f.answered[0] {
		f.answered = f.answered[1:]
		f.first++
	}
}
