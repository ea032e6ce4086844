package recipe

import (
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/exchange"
)

// partOfQueue returns the workload of a process that has these clients of a queue.
func partOfQueue(clients, producers, backlog, first, count, processes int) *queueWorkload {
	w := newQueueWorkload(workloads.Settings{Queue: workloads.QueueSettings{Producers: producers, Backlog: backlog}}, 1, nil).(*queueWorkload)
	w.exchange = exchange.Alone(exchange.Place{Processes: processes, First: first, Count: count}).Instance(0)
	w.assign(clients)
	return w
}

// TestPartsOfAQueue divides the clients of queues at random. Each client has one role, the consumers have all places,
// and the backlog is divided, too.
func TestPartsOfAQueue(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		clients := 2 + r.IntN(30)
		producers, processes, backlog := 1+r.IntN(clients-1), 1+r.IntN(min(clients, 4)), 1+r.IntN(40)
		first, put, room, ends := 0, 0, 0, 0
		places := map[int]bool{}
		for process := range processes {
			count := (clients - first) / (processes - process)
			w := partOfQueue(clients, producers, backlog, first, count, processes)
			here := 0
			for index := first; index < first+count; index++ {
				puts, takes, place := w.role(index)
				if puts == takes {
					t.Fatalf("seed %d: client %d puts: %v, takes: %v", seed, index, puts, takes)
				}
				if puts {
					here++
					if w.producersBefore(index) == 0 {
						ends++
					}
					continue
				}
				places[place] = true
			}
			if (here > 0) != (len(w.room.places) > 0) {
				t.Errorf("seed %d: a process with %d producers may have %d items", seed, here, len(w.room.places))
			}
			if even := float64(count) * float64(producers) / float64(clients); float64(here) < even-1 || float64(here) > even+1 {
				t.Errorf("seed %d: %d of %d clients put, want about %.1f", seed, here, count, even)
			}
			first, put, room = first+count, put+here, room+len(w.room.places)
		}
		if put != producers || len(places) != clients-producers || ends != 1 {
			t.Errorf("seed %d: %d producers of %d, %d places of consumers, %d first producers", seed, put, producers, len(places), ends)
		}
		if room < backlog || room > backlog+processes-1 {
			t.Errorf("seed %d: %d processes may have %d items together, want %d, or one for each", seed, processes, room, backlog)
		}
	}
}

// A roomSim has the rooms of several processes, and messages on their way.
type roomSim struct {
	rooms    []*queueRoom
	queued   []int    // the items in the queue, by the process that has put them
	messages []func() // in any order of arrival
}

func newRoomSim(shares []int) *roomSim {
	s := &roomSim{}
	all := 0
	for _, share := range shares {
		all += share
	}
	for _, share := range shares {
		s.rooms = append(s.rooms, newQueueRoom(share, all, func(process int) {
			s.messages = append(s.messages, func() { s.rooms[process].gain() })
		}))
	}
	return s
}

// put puts an item if the process has room.
func (s *roomSim) put(process int) {
	select {
	case <-s.rooms[process].places:
		s.queued = append(s.queued, process)
	default:
	}
}

// take takes the i-th item.
func (s *roomSim) take(process, i int) {
	from := s.queued[i]
	s.queued = append(s.queued[:i], s.queued[i+1:]...)
	switch {
	case from == process:
		s.rooms[from].gain()
	case !s.rooms[process].keeps(from):
		s.messages = append(s.messages, func() { s.rooms[from].gain() })
	}
}

func (s *roomSim) deliver(i int) {
	m := s.messages[i]
	s.messages = append(s.messages[:i], s.messages[i+1:]...)
	m()
}

// TestRoomComesBack lets processes put and take at random. There are never more items than room, and when the queue is
// empty and all messages have come, each process has its share: none waits for ever.
func TestRoomComesBack(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 6))
		shares, all := make([]int, 1+r.IntN(4)), 0
		for i := range shares {
			shares[i] = r.IntN(4) // 0: a process without producers
			all += shares[i]
		}
		s := newRoomSim(shares)
		for range 300 {
			switch process := r.IntN(len(shares)); r.IntN(3) {
			case 0:
				s.put(process)
			case 1:
				if len(s.queued) > 0 {
					s.take(process, r.IntN(len(s.queued)))
				}
			case 2:
				if len(s.messages) > 0 {
					s.deliver(r.IntN(len(s.messages)))
				}
			}
			room := len(s.queued) + len(s.messages)
			for _, one := range s.rooms {
				room += len(one.places)
			}
			if room != all {
				t.Fatalf("seed %d: there is room for %d items, want %d", seed, room, all)
			}
		}
		for len(s.queued)+len(s.messages) > 0 {
			if len(s.messages) > 0 {
				s.deliver(0)
			} else {
				s.take(r.IntN(len(shares)), 0)
			}
		}
		for i, one := range s.rooms {
			if len(one.places) != shares[i] {
				t.Fatalf("seed %d: process %d has room for %d items in the end, want its share of %d", seed, i, len(one.places), shares[i])
			}
		}
	}
}
