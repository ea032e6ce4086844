package workloads

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// A pipelined Client keeps several requests in flight on one session. Each of its lanes makes one
// request after the other.
type pipelined interface {
	lanes() []lane
}

// A lane is one of the clients that take turns concurrently in one session.
type lane struct {
	Client
	seat *Seat // the lane's own view
}

// lanesOf returns the lanes of the client on the seat.
func lanesOf(c Client, s *Seat) []lane {
	if p, ok := c.(pipelined); ok {
		return p.lanes()
	}
	return []lane{{c, s}}
}

// pipeline runs all lanes concurrently until the run stops or one of them fails. It returns the
// first error.
func (r *runner) pipeline(lanes []lane) error {
	var all sync.WaitGroup
	var failed atomic.Bool
	var once sync.Once
	var first error
	for _, lane := range lanes {
		all.Go(func() {
			defer lane.seat.cycle.stop()
			for !failed.Load() && !r.stopping.Load() {
				if err := r.turn(lane.seat, lane.Client); err != nil {
					once.Do(func() { first = err })
					failed.Store(true)
					return
				}
			}
		})
	}
	all.Wait()
	return first
}

// lane returns a view of the seat for the i-th concurrent request of its session. Lane 0 is the
// seat itself. Each lane has its own random choices and its own arrivals, which outlive the
// session.
func (s *Seat) lane(i int) *Seat {
	if i == 0 {
		return s
	}
	l := s.view(i, rand.New(rand.NewPCG(s.Rand.Uint64(), uint64(i))))
	if s.pacer != nil {
		for len(s.tickets) < i {
			s.tickets = append(s.tickets, s.pacer.Ticket())
		}
		l.ticket = s.tickets[i-1]
	}
	return l
}

// view returns the seat as its i-th lane sees it.
func (s *Seat) view(i int, random *rand.Rand) *Seat {
	return &Seat{Index: s.Index, Conn: s.Conn, Rand: random, Marks: s.Marks, Stopping: s.Stopping,
		cycle: s.further.of(s.number, i), pacer: s.pacer, name: s.name, harm: s.harm}
}
