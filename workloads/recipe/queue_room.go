package recipe

import "sync"

// A queueRoom is the room for items that the producers of one process have: they may put as many as it has places.
// One that is in use is in no room. The places of all processes together, and the items in the queue, are as many as
// the backlog.
//
// A process whose consumer takes an item of another process keeps its place if it has less than its share, so that
// producers seldom wait for a message, and owes it. It pays when it has its share again.
type queueRoom struct {
	places chan struct{} // one element for each
	share  int           // how many the process has when the queue is empty
	pay    func(process int)

	mu   sync.Mutex
	owed map[int]int // by process
}

// newQueueRoom returns the room of a process with this share of all places. pay passes a place to another process,
// which must call gain; it is not called if there is only one.
func newQueueRoom(share, all int, pay func(process int)) *queueRoom {
	r := &queueRoom{places: make(chan struct{}, all), share: share, pay: pay, owed: map[int]int{}}
	for range share {
		r.places <- struct{}{}
	}
	return r
}

// gain adds a place, or pays a debt with it.
func (r *queueRoom) gain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.places) >= r.share {
		for process, n := range r.owed {
			if n > 0 {
				r.owed[process]--
				r.pay(process)
				return
			}
		}
	}
	r.places <- struct{}{}
}

// keeps adds the place of an item of another process, and reports true, if this process has less than its share.
func (r *queueRoom) keeps(process int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.places) >= r.share {
		return false
	}
	r.owed[process]++
	r.places <- struct{}{}
	return true
}
