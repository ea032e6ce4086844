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
	w.exchange = exchange.New(exchange.Place{Processes: processes, First: first, Count: count}, nil).Of(0)
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
			if (here > 0) != (len(w.room) > 0) {
				t.Errorf("seed %d: a process with %d producers may have %d items", seed, here, len(w.room))
			}
			if even := float64(count) * float64(producers) / float64(clients); float64(here) < even-1 || float64(here) > even+1 {
				t.Errorf("seed %d: %d of %d clients put, want about %.1f", seed, here, count, even)
			}
			first, put, room = first+count, put+here, room+len(w.room)
		}
		if put != producers || len(places) != clients-producers || ends != 1 {
			t.Errorf("seed %d: %d producers of %d, %d places of consumers, %d first producers", seed, put, producers, len(places), ends)
		}
		if room < backlog || room > backlog+processes-1 {
			t.Errorf("seed %d: %d processes may have %d items together, want %d, or one for each", seed, processes, room, backlog)
		}
	}
}
