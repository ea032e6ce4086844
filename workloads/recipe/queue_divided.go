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

// roleAmongProcesses is role where several processes have the clients. Producers and consumers alternate, so that each
// process, which has adjacent clients, has its part of both.
func (w *queueWorkload) roleAmongProcesses(index int) (puts, takes bool, place int) {
	before := w.producersBefore(index)
	puts = w.producersBefore(index+1) > before
	return puts, !puts, index - before
}

// producersBefore returns how many of the clients before the index put.
func (w *queueWorkload) producersBefore(index int) int { return index * w.producers / w.clients }

// firstProducer reports whether no client before this one puts.
func (c *queueClient) firstProducer() bool { return c.producersBefore(c.slot.Index) == 0 }

// shareOf returns the part of the backlog that this process has: at least one item, if it has producers.
func (w *queueWorkload) shareOf(backlog int) int {
	if w.exchange == nil {
		return backlog
	}
	first, n := w.exchange.Sessions(w.clients)
	from, to := w.producersBefore(first), w.producersBefore(first+n)
	if from == to {
		return 0
	}
	return max(backlog*to/w.producers-backlog*from/w.producers, 1)
}

// divide makes the queue that of the clients of one process.
func (w *queueWorkload) divide() {
	w.check.Divide(w.exchange.Process, w.exchange.Processes, int64(w.chosen.Items), w.recorded, w.takenHere)
	w.exchange.Handle(takenTopic, func(text string) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			w.check.TakenElsewhere(max(n, -n), n > 0)
		}
	})
	w.exchange.Handle(roomTopic, func(text string) {
		if text == strconv.Itoa(w.exchange.Process) {
			w.room.gain()
		}
	})
}

// takenHere tells the process that has put an item that a consumer of this process has taken it. The number is
// negative if this process keeps its place.
func (w *queueWorkload) takenHere(number int64, process int) {
	if w.room.keeps(process) {
		number = -number
	}
	w.exchange.Tell(takenTopic, strconv.FormatInt(number, 10))
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

// TakesArrivals reports whether the client takes arrivals: it puts.
func (w *queueWorkload) TakesArrivals(index int) bool {
	puts, _, _ := w.role(index)
	return puts
}
