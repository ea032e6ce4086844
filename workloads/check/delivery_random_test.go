package check

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A simQueue is a priority queue with clients that put and take in a random order of events, one each
// millisecond. It is correct except for one planted fault.
type simQueue struct {
	r          *rand.Rand
	priorities int
	made       int64
	items      []*simItem // in the queue, by priority and then in the order of their numbers
	taken      []*simItem
	producers  [2]*simItem // what the client puts; nil: nothing
	consumers  [2]simTaker
	now        time.Duration
	steps      []TimedStep
	plant      func(q *simQueue, consumer int) bool
	planted    bool
}

type simItem struct {
	number   int64
	priority int
	end      bool
	returned bool // its put has returned
	kept     bool // no put or take of it is in doubt
}

// A simTaker has begun to take if takes is set, and has its item if that is not nil.
type simTaker struct {
	takes bool
	item  *simItem
	ended bool
	began time.Duration // when it last began to take; 0 before the first time
}

func (q *simQueue) record(s Step) {
	q.now += ms
	q.steps = append(q.steps, exactly(q.now, s))
}

// run lets the clients put and take at random, and then empties the queue.
func (q *simQueue) run(events int) {
	for range events {
		q.putEvent(q.r.IntN(len(q.producers)))
		q.takeEvent(q.r.IntN(len(q.consumers)))
	}
	for i, p := range q.producers {
		if p != nil {
			q.putEvent(i)
		}
	}
	for range q.consumers {
		q.begin(0, &simItem{priority: PriorityLimit - 1, end: true})
		q.putEvent(0)
	}
	for i := range q.consumers {
		for !q.consumers[i].ended {
			q.takeEvent(i)
		}
	}
}

func (q *simQueue) begin(producer int, p *simItem) {
	q.made++
	p.number, p.kept = q.made, true
	q.producers[producer] = p
	q.record(Step{Kind: Putting, Client: producer, Turn: p.number, Value: int64(p.priority), Disturbed: p.end})
	q.items = append(q.items, p)
	slices.SortStableFunc(q.items, func(a, b *simItem) int { return a.priority - b.priority })
}

func (q *simQueue) putEvent(producer int) {
	p := q.producers[producer]
	if p == nil {
		q.begin(producer, &simItem{priority: q.r.IntN(q.priorities)})
		return
	}
	q.producers[producer] = nil
	if !p.end && q.r.IntN(20) == 0 {
		p.kept = false
		q.record(Step{Kind: InDoubt, Client: producer, Turn: p.number})
		return
	}
	p.returned = true
	q.record(Step{Kind: Put, Client: producer, Turn: p.number})
}

func (q *simQueue) takeEvent(consumer int) {
	c := &q.consumers[consumer]
	client := len(q.producers) + consumer
	switch {
	case c.ended:
	case !c.takes:
		c.takes = true
		q.record(Step{Kind: Taking, Client: client, Shared: c.began == 0})
		c.began = q.now
	case c.item == nil:
		if q.plant != nil && !q.planted && q.made > 4 && q.plant(q, consumer) {
			q.planted = true
		} else if len(q.items) > 0 {
			c.item, q.items = q.items[0], q.items[1:]
		}
	case !c.item.end && c.item.kept && q.r.IntN(20) == 0:
		q.record(Step{Kind: GaveUp, Client: client, Turn: c.item.number})
		c.item.kept = false
		c.item, c.takes = nil, false
	default:
		s := Step{Kind: Took, Client: client, Turn: c.item.number}
		if c.ended = c.item.end; c.ended {
			s.Kind = Ended
		}
		q.record(s)
		q.taken = append(q.taken, c.item)
		c.item, c.takes = nil, false
	}
}

// take lets a consumer take these items, one after the other.
func (q *simQueue) take(consumer int, all ...*simItem) {
	for i, p := range all {
		c := &q.consumers[consumer]
		client := len(q.producers) + consumer
		if i > 0 {
			q.record(Step{Kind: Taking, Client: client})
		}
		q.record(Step{Kind: Took, Client: client, Turn: p.number})
		c.takes = false
	}
}

// The faults that can be planted, each in items whose puts have returned. They report false if this is not
// the moment.
var queuePlants = map[string]func(q *simQueue, consumer int) bool{
	"an item taken again": func(q *simQueue, consumer int) bool {
		for _, p := range q.taken {
			if p.kept {
				q.take(consumer, p)
				return true
			}
		}
		return false
	},
	"an item that no client put": func(q *simQueue, consumer int) bool {
		q.take(consumer, &simItem{number: q.made + 100})
		return true
	},
	"an item that is lost": func(q *simQueue, _ int) bool {
		i := slices.IndexFunc(q.items, func(p *simItem) bool { return p.returned && p.kept && !p.end })
		if i < 0 {
			return false
		}
		q.items = slices.Delete(q.items, i, i+1)
		return true
	},
	"items in the wrong order": func(q *simQueue, consumer int) bool {
		for i, p := range q.items {
			for j, o := range q.items[i+1:] {
				if p.priority == o.priority && p.returned && o.returned && q.putBefore(p, o) && !o.end {
					q.items = slices.Delete(slices.Delete(q.items, i+1+j, i+2+j), i, i+1)
					q.take(consumer, o, p)
					return true
				}
			}
		}
		return false
	},
	"an item passed over for a worse one": func(q *simQueue, consumer int) bool {
		for i, better := range q.items {
			j := slices.IndexFunc(q.items, func(o *simItem) bool { return o.priority > better.priority && o.returned && !o.end })
			k := slices.IndexFunc(q.items, func(o *simItem) bool {
				return o.priority > better.priority && o.returned && !o.end && j >= 0 && o != q.items[j]
			})
			if j < 0 || k < 0 || !better.returned || q.when(Put, better) > q.consumers[consumer].began {
				continue
			}
			first, second := q.items[j], q.items[k]
			q.items = slices.Delete(slices.Delete(slices.Delete(q.items, k, k+1), j, j+1), i, i+1)
			q.take(consumer, first, second, better)
			return true
		}
		return false
	},
}

// putBefore reports whether the put of one item had returned when that of the other began.
func (q *simQueue) putBefore(p, o *simItem) bool { return q.when(Put, p) < q.when(Putting, o) }

// when returns when the item had the step.
func (q *simQueue) when(kind StepKind, p *simItem) time.Duration {
	i := slices.IndexFunc(q.steps, func(s TimedStep) bool { return s.Kind == kind && s.Turn == p.number })
	return q.steps[i].Earliest
}

func newSimQueue(r *rand.Rand) *simQueue { return &simQueue{r: r, priorities: 1 + r.IntN(3)} }

func judgeQueue(steps []TimedStep) metrics.Safety {
	j := NewDeliveryJudge()
	for _, s := range steps {
		j.Take(s)
	}
	return j.Verdict(2)
}

// TestPlantedFaultsOfQueues judges random schedules with one fault each, as one process and as several see
// them.
func TestPlantedFaultsOfQueues(t *testing.T) {
	seeds := 3000
	if testing.Short() {
		seeds = 600
	}
	for name, plant := range queuePlants {
		planted := 0
		for seed := range uint64(seeds) {
			q := newSimQueue(rand.New(rand.NewPCG(seed, 3)))
			q.plant = plant
			q.run(30)
			if q.planted {
				planted++
			}
			one, several := judgeQueue(q.steps), judgeQueue(Ordered(blurred(q.r, q.steps, 200*time.Microsecond)))
			if (one.Violations > 0) != q.planted || (several.Violations > 0) != q.planted {
				t.Fatalf("%s, seed %d: %d violations, and %d with several clocks: %q", name, seed, one.Violations, several.Violations, one.Details)
			}
		}
		if planted < seeds/10 {
			t.Errorf("%s: planted in %d schedules only", name, planted)
		}
	}
}

// TestCorrectQueuesAreNeverAccused judges random schedules of correct queues, as one process sees them and as
// several do whose clocks are wrong by up to the time between five events.
func TestCorrectQueuesAreNeverAccused(t *testing.T) {
	n := uint64(50_000)
	if testing.Short() {
		n = 2000
	}
	inParallel(n, func(seed uint64) bool {
		q := newSimQueue(rand.New(rand.NewPCG(seed, 4)))
		q.run(20)
		one, several := judgeQueue(q.steps), judgeQueue(Ordered(blurred(q.r, q.steps, time.Duration(q.r.Int64N(int64(5*ms))))))
		if one.Violations+several.Violations > 0 || one.Checked != several.Checked {
			t.Errorf("seed %d: one process %+v, several %+v, want no violation", seed, one, several)
		}
		return !t.Failed()
	})
}
