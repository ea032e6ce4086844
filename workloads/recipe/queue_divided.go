package recipe

import (
	"strconv"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// handoffPhase is the phase from a put to the take of the item, which may be in another process.
const handoffPhase = "handoff"

// initialPriority returns the priority of the i-th item that is in the queue from the beginning.
func (w *queueWorkload) initialPriority(i int) int { return w.priorities - 1 - i%w.priorities }

// backlogHere returns the part of the backlog that the producers of this process have: at least one item, if
// there are any.
func (w *queueWorkload) backlogHere(all int) int {
	if w.exchange == nil {
		return all
	}
	first, n := w.exchange.Sessions(w.clients)
	from, to := min(first, w.producers), min(first+n, w.producers)
	if from == to {
		return 0
	}
	return max(all*to/w.producers-all*from/w.producers, 1)
}

// divide makes the queue that of the clients of one process.
func (w *queueWorkload) divide() {
	w.check.Divide(w.exchange.Process, w.exchange.Processes, int64(w.chosen.Items), w.recorded, func(number int64) {
		w.exchange.Tell(takenTopic, strconv.FormatInt(number, 10))
	})
	w.exchange.Handle(takenTopic, func(text string) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			w.check.TakenElsewhere(n)
		}
	})
}

// Judge judges which items were taken, and in which order.
func (w *queueWorkload) Judge(g divided.Gathered) divided.Findings {
	w.assign(g.Clients)
	var initial []int
	for i := range w.chosen.Items {
		initial = append(initial, w.initialPriority(i))
	}
	safety := check.JudgeDelivery(g.Steps, initial, w.consumers)
	waits := check.JudgeTakes(g.Steps, g.Window)
	return divided.Findings{Safety: &safety, Fair: true, Inversions: waits.Inversions, LongestWait: waits.LongestWait}
}

// CountRounds returns false: each take is in one process.
func (w *queueWorkload) CountRounds([]metrics.Phase, int) (int64, bool) { return 0, false }

// Takers returns the number of clients that take arrivals: the producers.
func (w *queueWorkload) Takers() int { return w.producers }
