package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A DeliveryJudge checks that exactly one consumer takes each item that was put, and that each consumer
// takes items in order. It takes the steps of all clients, in the order of [Ordered] or as they happen,
// and remembers the items in the queue.
//
// The order is judged by which calls ended before others began, and not by the order that the form
// claims. Within one priority, a consumer must not take an item after another one whose put began
// only when the put of the first had returned. Between priorities, a consumer chooses from a list
// that is at least as new as its previous take, since a session sees its own writes. If an item of
// a better priority was in the queue when that take began, and no consumer had begun to take it
// when the choice was made, the consumer should have chosen it.
//
// An item whose put or take is in doubt may be taken once or never.
type DeliveryJudge struct {
	mu        sync.Mutex
	clock     int64              // a logical clock: begins and ends of puts and takes, in order
	last      int64              // the largest number of an item
	items     map[int64]*itemPut // by number; the items not known to be taken
	consumers map[int]*consumer  // by client
	choices   [PriorityLimit]choice
	ended     map[int]bool // the clients that have taken an end item
	safety    metrics.Safety
}

// PriorityLimit is the number of priorities for which a name has room.
const PriorityLimit = 100

// An itemPut is what the judge knows about an item.
type itemPut struct {
	number   int64
	client   int // the client that put it
	priority int
	end      bool
	began    int64 // the logical time when its put began
	added    int64 // the logical time when its put returned, 0 if that is unknown
	doubt    bool
}

// A consumer is the state of one consumer in one session.
type consumer struct {
	client int
	before int64                   // the logical time when its last successful take began
	newest [PriorityLimit]*itemPut // of the items it took, the one that was put last
	takes  []take                  // those in progress
}

// A take is one take in progress.
type take struct {
	began   int64
	choices [PriorityLimit]choice // the choices known when it began
}

// A choice is one consumer's take of an item of some priority. The consumer chose from a list at
// least as new as newer, a logical time.
type choice struct {
	client int
	newer  int64
}

// NewDeliveryJudge returns a judge of a queue that is empty.
func NewDeliveryJudge() *DeliveryJudge {
	return &DeliveryJudge{items: map[int64]*itemPut{}, consumers: map[int]*consumer{}, ended: map[int]bool{}}
}

// Take takes the next step.
func (j *DeliveryJudge) Take(s TimedStep) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.clock++
	p, c := j.items[s.Turn], j.consumers[s.Client]
	switch s.Kind {
	case Putting:
		j.last = max(j.last, s.Turn)
		j.items[s.Turn] = &itemPut{number: s.Turn, client: s.Client, priority: int(s.Value), end: s.Disturbed,
			began: j.clock}
	case Put:
		if p != nil {
			p.added = j.clock
		}
	case InDoubt, GaveUp:
		if p != nil {
			p.doubt = true
		}
		if s.Kind == GaveUp && c != nil {
			c.takes = c.takes[min(1, len(c.takes)):]
			if p != nil && p.end {
				j.ended[s.Client] = true
			}
		}
	case Cleared:
		for _, p := range j.items {
			p.doubt = p.doubt || p.client == s.Client
		}
	case Taking:
		if c == nil || s.Shared {
			c = &consumer{client: s.Client}
			j.consumers[s.Client] = c
		}
		c.takes = append(c.takes, take{j.clock, j.choices})
	case Took, Ended:
		if s.Kind == Ended {
			j.ended[s.Client] = true
		}
		if c != nil && len(c.takes) > 0 {
			t := c.takes[0]
			c.takes = c.takes[1:]
			j.took(c, t, p, s.Step)
		}
	}
}

// took checks the end of a take. The item is nil if none is known that could be taken.
func (j *DeliveryJudge) took(c *consumer, t take, p *itemPut, s Step) {
	j.safety.Checked++
	if s.Turn > 0 {
		s.Name = string((&Item{number: s.Turn, End: s.Kind == Ended}).Bytes())
	}
	switch {
	case s.Turn < 1 || s.Turn > j.last:
		j.addViolation("client %d took %q, which no client put", c.client+1, s.Name)
	case p == nil:
		j.addViolation("client %d took item %d, which a client took before", c.client+1, s.Turn)
	default:
		delete(j.items, s.Turn)
		j.judge(c, t, p)
	}
}

// judge checks a take against earlier takes, of this consumer and of others.
func (j *DeliveryJudge) judge(c *consumer, t take, p *itemPut) {
	if p.added != 0 {
		if later := c.newest[p.priority]; later != nil && later.began > p.added {
			j.addViolation("client %d took item %d after item %d, which was put later",
				c.client+1, p.number, later.number)
		}
		for q := p.priority + 1; q < PriorityLimit; q++ {
			if c := t.choices[q]; c.newer > p.added {
				j.addViolation("client %d took an item of priority %d while item %d of priority %d was there",
					c.client+1, q, p.number, p.priority)
				break
			}
		}
	}
	if newest := c.newest[p.priority]; newest == nil || newest.began < p.began {
		c.newest[p.priority] = p
	}
	if made := &j.choices[p.priority]; made.newer < c.before {
		*made = choice{c.client, c.before}
	}
	c.before = t.began
}

// Verdict returns all findings. If all consumers have taken an end item, the queue is empty, and an item
// that was not taken is lost.
func (j *DeliveryJudge) Verdict(consumers int) metrics.Safety {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(j.items)) {
		if p := j.items[n]; len(j.ended) == consumers && p.added != 0 && !p.doubt && !p.end {
			j.addViolation("item %d of client %d was never taken", p.number, p.client+1)
		}
	}
	clear(j.items)
	return j.safety
}

func (j *DeliveryJudge) addViolation(format string, args ...any) {
	AddFinding(&j.safety, false, fmt.Sprintf(format, args...))
}

// Items are the items of a queue that the clients of one process put and take. Their steps are recorded,
// for a DeliveryJudge.
type Items struct {
	steps              *Steps
	process, processes int
	before             int64 // items that are in the queue from the beginning, of no process
	// elsewhere: a client of this process has taken another process's item.
	elsewhere func(number int64, process int)

	mu   sync.Mutex
	made int64           // the number of items that this process has made
	own  map[int64]*Item // by number; those of this process that are not known to be taken
}

// An Item is an item that a client of this process has put.
type Item struct {
	number   int64
	client   int // the client that put it
	Priority int
	End      bool // an end item: no more items follow
	Due      time.Time
	Counts   bool      // its arrival was due in the window
	Sent     time.Time // zero if another process has put it
	Free     func()    // is called once, when the item takes up no room any more; may be nil
}

// NewItems returns the items of a process that has all clients.
func NewItems(steps *Steps) *Items { return &Items{steps: steps, processes: 1, own: map[int64]*Item{}} }

// Divide makes the items those of one of several processes. before items are in the queue from the
// beginning. elsewhere is called with the number of an item that a client of this process has taken, and
// with the process that has put it, which must then call RecordRemoteTake.
func (t *Items) Divide(process, processes int, before int64, elsewhere func(number int64, process int)) {
	t.process, t.processes, t.before, t.elsewhere = process, processes, before, elsewhere
}

// Number returns the item's number.
func (p *Item) Number() int64 { return p.number }

// Bytes returns the item as it is stored in the queue: its number, which is negative for an end item, so
// that a consumer knows it that is in another process than its producer.
func (p *Item) Bytes() []byte {
	if p.End {
		return strconv.AppendInt(nil, -p.number, 10)
	}
	return strconv.AppendInt(nil, p.number, 10)
}

func (p *Item) freeRoom() {
	if p.Free != nil {
		p.Free()
		p.Free = nil
	}
}

// BeginPut records that a client begins to put an item. Items of different processes have different numbers.
func (t *Items) BeginPut(p Item, client int, now time.Time) *Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.number, p.client, p.Sent = t.before+t.made*int64(t.processes)+int64(t.process)+1, client, now
	t.made++
	t.own[p.number] = &p
	t.steps.RecordAt(now, Step{Kind: Putting, Client: client, Turn: p.number, Value: int64(p.Priority),
		Disturbed: p.End})
	return &p
}

// EndPut records the end of the put. After an error the item may have been added.
func (t *Items) EndPut(p *Item, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Step{Kind: Put, Client: p.client, Turn: p.number}
	if err != nil {
		s.Kind = InDoubt
		p.freeRoom()
	}
	t.steps.Record(s)
}

// SessionLost records that a client's session is lost, and its items with it.
func (t *Items) SessionLost(client int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps.Record(Step{Kind: Cleared, Client: client})
	for _, p := range t.own {
		if p.client == client {
			p.freeRoom()
		}
	}
}

// BeginTake records that a consumer begins to take, for the first time in its session or not.
func (t *Items) BeginTake(client int, first bool) {
	t.steps.Record(Step{Kind: Taking, Client: client, Shared: first})
}

// TakeInDoubt records that a consumer may have taken the item, and returns it.
func (t *Items) TakeInDoubt(client int, item []byte) *Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, end := itemNumber(item)
	t.steps.Record(Step{Kind: GaveUp, Client: client, Turn: n})
	p := t.own[n]
	if p == nil {
		return &Item{number: n, End: end}
	}
	p.freeRoom()
	return p
}

// EndTake records that a consumer has taken the item, and returns it.
func (t *Items) EndTake(client int, item []byte) *Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, end := itemNumber(item)
	s := Step{Kind: Took, Client: client, Turn: n}
	if end {
		s.Kind = Ended
	}
	if n == 0 {
		s.Name = string(item[:min(len(item), 40)])
	}
	t.steps.Record(s)
	if p := t.own[n]; p != nil {
		delete(t.own, n)
		p.freeRoom()
		return p
	}
	if from := int((n - t.before - 1) % int64(t.processes)); n > t.before && from != t.process {
		t.elsewhere(n, from)
	}
	return &Item{number: n, End: end}
}

// RecordRemoteTake records that a client of another process took the item, if this process put it. freed
// says that the room that it took up is this process's again.
func (t *Items) RecordRemoteTake(number int64, freed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.own[number]
	if p == nil {
		return
	}
	delete(t.own, number)
	if !freed {
		p.Free = nil
	}
	p.freeRoom()
}

// itemNumber returns the number of an item, 0 if it is not valid, and whether it is an end item.
func itemNumber(item []byte) (number int64, end bool) {
	n, err := strconv.ParseInt(string(item), 10, 64)
	if err != nil {
		return 0, false
	}
	return max(n, -n), n < 0
}
