package check

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A deliveryPart makes a Delivery that of the clients of one process.
type deliveryPart struct {
	process, processes int
	before             int64 // items that are in the queue from the beginning
	steps              *Steps
	elsewhere          func(number int64, process int) // a client of this process has taken another process's item
}

// Divide makes the Delivery that of the clients of one of several processes, whose steps are judged by
// [JudgeDelivery]. before items are in the queue from the beginning. elsewhere is called with the number of an
// item that a client of this process has taken, and with the process that has put it, which must then call
// RecordRemoteTake.
func (d *Delivery) Divide(process, processes int, before int64, steps *Steps, elsewhere func(number int64, process int)) {
	d.part = &deliveryPart{process, processes, before, steps, elsewhere}
}

// RecordRemoteTake records that a client of another process took the item, if this process put it. freed
// says that the room that it took up is this process's again.
func (d *Delivery) RecordRemoteTake(number int64, freed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.items[number]
	if p == nil {
		return
	}
	delete(d.items, number)
	if !freed {
		p.Free = nil
	}
	p.freeRoom()
}

// number returns the number of this process's n-th item. Items of different processes have different numbers.
func (p *deliveryPart) number(n int64) int64 {
	if p == nil {
		return n
	}
	return p.before + (n-1)*int64(p.processes) + int64(p.process) + 1
}

func (p *deliveryPart) record(at time.Time, s Step) {
	if p != nil {
		p.steps.RecordAt(at, s)
	}
}

// tookPart records that a consumer has taken an item, maybe of another process.
func (d *Delivery) tookPart(t Take, n int64, end bool) *Item {
	kind := Took
	if end {
		kind = Ended
	}
	d.part.record(time.Now(), Step{Kind: kind, Client: t.Client, Turn: n})
	p := d.items[n]
	switch {
	case p != nil:
		delete(d.items, n)
		p.freeRoom()
	case n > d.part.before:
		d.part.elsewhere(n, int((n-d.part.before-1)%int64(d.part.processes)))
	}
	return &Item{number: n, End: end}
}

// JudgeDelivery judges the steps of the clients of a queue. initial has the priorities of the items that were in
// the queue from the beginning, and consumers is the number of clients that take.
func JudgeDelivery(steps []TimedStep, initial []int, consumers int) metrics.Safety {
	j := deliveryJudge{Delivery: NewDelivery(), takes: map[int][]Take{}, consumers: map[int]*Consumer{}}
	for i, priority := range initial {
		p := &Item{number: int64(i) + 1, Priority: priority}
		j.beginPut(p, noOne, time.Time{})
		p.added = j.tick()
	}
	j.judgeNumbers(steps, int64(len(initial)))
	ended := map[int]bool{}
	for _, s := range Ordered(steps) {
		if s.Kind == Ended {
			ended[s.Client] = true
		}
		j.apply(s)
	}
	return j.Verdict(len(ended) == consumers)
}

// A deliveryJudge gives the steps of several processes to one Delivery.
type deliveryJudge struct {
	*Delivery
	takes     map[int][]Take // by client: those that have begun
	consumers map[int]*Consumer
}

// judgeNumbers finds the largest number of an item.
func (j *deliveryJudge) judgeNumbers(steps []TimedStep, initial int64) {
	j.last = initial
	for _, s := range steps {
		if s.Kind == Putting {
			j.last = max(j.last, s.Turn)
		}
	}
}

func (j *deliveryJudge) apply(s TimedStep) {
	switch s.Kind {
	case Putting:
		j.beginPut(&Item{number: s.Turn, Priority: int(s.Value), End: s.Disturbed}, s.Client, time.Time{})
	case Put:
		if p := j.items[s.Turn]; p != nil {
			p.added = j.tick()
		}
	case InDoubt:
		j.doubt(s.Turn)
	case GaveUp:
		j.doubt(s.Turn)
		j.takes[s.Client] = j.takes[s.Client][min(1, len(j.takes[s.Client])):]
	case Cleared:
		j.SessionLost(s.Client)
	case Taking:
		if j.consumers[s.Client] == nil || s.Shared { // a new session
			j.consumers[s.Client] = &Consumer{Client: s.Client}
		}
		j.takes[s.Client] = append(j.takes[s.Client], j.BeginTake(j.consumers[s.Client]))
	case Took, Ended:
		if all := j.takes[s.Client]; len(all) > 0 {
			j.takes[s.Client] = all[1:]
			j.took(all[0], s)
		}
	}
}

func (j *deliveryJudge) doubt(number int64) {
	if p := j.items[number]; p != nil {
		p.doubt = true
	}
}

// took records the end of a take.
func (j *deliveryJudge) took(t Take, s TimedStep) {
	p := &Item{number: s.Turn, End: s.Kind == Ended}
	j.EndTake(t, p.Bytes())
}
