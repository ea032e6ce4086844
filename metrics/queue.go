package metrics

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// A Queue watches in which order those who asked for something were served. Its
// methods may be called from any goroutine.
//
// The order of asking is that of the calls of Asked. A service decides by the
// order in which requests reach it, so two clients that ask at the same moment
// may be an inversion without anybody being treated unfairly.
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
	shares bool // may be served together with others who share
}

// NewQueue returns a Queue of clients 0 to clients-1, none of which has asked.
func NewQueue(clients int) *Queue {
	return &Queue{places: make([]*list.Element, clients), grants: make([]int64, clients)}
}

// Asked says that the client has begun to wait.
func (q *Queue) Asked(client int) { q.asked(ask{client, time.Now(), false}) }

// AskedToShare is Asked for a client that may be served together with others
// that share: whoever of them is told of first overtakes nobody.
func (q *Queue) AskedToShare(client int) { q.asked(ask{client, time.Now(), true}) }

func (q *Queue) asked(a ask) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.places[a.client] = q.waiting.PushBack(a)
}

// Granted says that the client is served.
func (q *Queue) Granted(client int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.overtakes(q.places[client]) {
		q.inversions++
	}
	q.grants[client]++
	q.leave(client)
}

// overtakes tells whether somebody asked before a who cannot share with it.
func (q *Queue) overtakes(a *list.Element) bool {
	for earlier := a.Prev(); earlier != nil; earlier = earlier.Prev() {
		if !a.Value.(ask).shares || !earlier.Value.(ask).shares {
			return true
		}
	}
	return false
}

// GaveUp says that the client waits no longer and was not served.
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

// Waiting is how many wait just now.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.Len()
}

// Reset forgets who was served how; those who wait keep their place. It is the
// end of the warm-up.
func (q *Queue) Reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.grants)
	q.inversions, q.longest = 0, 0
}

// Fairness sums up. Who still waits, or gave up, has waited too.
func (q *Queue) Fairness() Fairness {
	q.mu.Lock()
	defer q.mu.Unlock()
	longest := q.longest
	if first := q.waiting.Front(); first != nil {
		longest = max(longest, time.Since(first.Value.(ask).at))
	}
	return Fairness{Served: slices.Clone(q.grants), Inversions: q.inversions, LongestWait: longest}
}

// With is the fairness of both, which did not compete with each other.
func (f Fairness) With(other Fairness) Fairness {
	return Fairness{Served: slices.Concat(f.Served, other.Served), Inversions: f.Inversions + other.Inversions,
		LongestWait: max(f.LongestWait, other.LongestWait)}
}

// Jain is Jain's fairness index of what each got, (Σx)² / (n·Σx²): 1 if all got
// the same, 1/n if one got all, and 1 where nobody got anything.
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
