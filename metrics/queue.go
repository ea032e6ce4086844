package metrics

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// A Queue compares the order in which clients are served with the order in which they asked.
// Its methods may be called from any goroutine.
//
// Clients ask in the order of the calls of Asked. The service decides by the order in which
// requests reach it. So two clients that ask at nearly the same time may count as an inversion
// although the service was fair.
type Queue struct {
	mu         sync.Mutex
	waiting    list.List // of ask, in the order of asking
	places     []*list.Element
	grants     []int64
	inversions int64
	longest    time.Duration
}

type ask struct {
	client int
	at     time.Time
	shares bool // may be served together with other clients that share
}

// NewQueue returns a Queue of clients 0 to clients-1, none of which has asked.
func NewQueue(clients int) *Queue {
	return &Queue{places: make([]*list.Element, clients), grants: make([]int64, clients)}
}

// Asked records that the client has begun to wait.
func (q *Queue) Asked(client int) { q.asked(ask{client, time.Now(), false}) }

// AskedToShare is Asked for a client that may be served together with other clients that share.
// Grants among clients that share are never inversions, whatever their order.
func (q *Queue) AskedToShare(client int) { q.asked(ask{client, time.Now(), true}) }

func (q *Queue) asked(a ask) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.places[a.client] = q.waiting.PushBack(a)
}

// Granted records that the client is served.
func (q *Queue) Granted(client int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.overtakes(q.places[client]) {
		q.inversions++
	}
	q.grants[client]++
	q.leave(client)
}

// overtakes reports whether a client that cannot share with a asked earlier.
func (q *Queue) overtakes(a *list.Element) bool {
	for earlier := a.Prev(); earlier != nil; earlier = earlier.Prev() {
		if !a.Value.(ask).shares || !earlier.Value.(ask).shares {
			return true
		}
	}
	return false
}

// GaveUp records that the client stopped waiting without being served.
func (q *Queue) GaveUp(client int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave(client)
}

func (q *Queue) leave(client int) {
	a := q.waiting.Remove(q.places[client]).(ask)
	q.places[client] = nil
	q.longest = max(q.longest, time.Since(a.at))
}

// Waiting returns the number of clients that wait now.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.Len()
}

// Reset discards the results at the end of the warm-up. Clients that wait keep their places.
func (q *Queue) Reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.grants)
	q.inversions, q.longest = 0, 0
}

// Fairness returns the results. LongestWait includes clients that still wait or gave up.
func (q *Queue) Fairness() Fairness {
	q.mu.Lock()
	defer q.mu.Unlock()
	longest := q.longest
	if first := q.waiting.Front(); first != nil {
		longest = max(longest, time.Since(first.Value.(ask).at))
	}
	return Fairness{Served: slices.Clone(q.grants), Inversions: q.inversions, LongestWait: longest}
}

// With returns the fairness of two groups of clients that did not compete with each other.
func (f Fairness) With(other Fairness) Fairness {
	return Fairness{Served: slices.Concat(f.Served, other.Served), Inversions: f.Inversions + other.Inversions,
		LongestWait: max(f.LongestWait, other.LongestWait)}
}

// Jain returns Jain's fairness index of the clients' shares, (Σx)² / (n·Σx²). It is 1 if all
// shares are equal, 1/n if one client got everything, and 1 if all shares are 0.
//
// Source: Jain, Chiu, Hawe: A Quantitative Measure of Fairness (1984).
func Jain(shares []int64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}
