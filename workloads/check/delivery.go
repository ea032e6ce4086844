package check

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A Delivery checks that exactly one consumer takes each item that was put, and that each consumer
// takes items in order.
//
// The order is judged by which calls ended before others began, and not by the order that the form
// claims. Within one priority, a consumer must not take an item after another one whose put began
// only when the put of the first had returned. Between priorities, a consumer chooses from a list
// that is at least as new as its previous take, since a session sees its own writes. If an item of
// a better priority was in the queue when that take began, and no consumer had begun to take it
// when the choice was made, the consumer should have chosen it.
//
// An item whose put or take is in doubt may be taken once or never.
type Delivery struct {
	mu      sync.Mutex
	clock   int64           // a logical clock: begins and ends of puts and takes, in order
	last    int64           // the number of the newest item
	items   map[int64]*Item // by number; the items not known to be taken
	part    *deliveryPart   // nil: this process has all clients
	choices [PriorityLimit]choice
	safety  metrics.Safety
}

// PriorityLimit is the number of priorities for which a name has room.
const PriorityLimit = 100

// An Item is an item and what the check knows about it.
type Item struct {
	number   int64
	client   int // the client that put it
	Priority int
	End      bool // an end item: no more items follow
	Due      time.Time
	Sent     time.Time
	began    int64 // the logical time when its put began
	added    int64 // the logical time when its put returned, 0 if that is unknown
	doubt    bool
	Free     func() // is called once, when the item takes up no room any more; may be nil
}

// Number returns the item's number.
func (p *Item) Number() int64 { return p.number }

// Bytes returns the item as it is stored in the queue: its number, which is negative for an end item, so that a
// consumer knows it that is in another process than its producer.
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

// A Consumer is the state of one consumer in one session.
type Consumer struct {
	Client int
	before int64                // the logical time when its last successful take began
	newest [PriorityLimit]*Item // of the items it took, the one that was put last
}

// A Take is one take in progress.
type Take struct {
	*Consumer
	began   int64
	choices [PriorityLimit]choice // the choices known when it began
}

// A choice is one consumer's take of an item of some priority. The consumer chose from a list at
// least as new as newer, a logical time.
type choice struct {
	client int
	newer  int64
}

func NewDelivery() *Delivery { return &Delivery{items: make(map[int64]*Item)} }

// BeginPut records that a client begins to put an item.
func (d *Delivery) BeginPut(p Item, client int, now time.Time) *Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	p.number = d.part.number(d.last)
	d.beginPut(&p, client, now)
	d.part.record(now, Step{Kind: Putting, Client: client, Turn: p.number, Value: int64(p.Priority), Disturbed: p.End})
	return &p
}

func (d *Delivery) beginPut(p *Item, client int, now time.Time) {
	p.client, p.began, p.Sent = client, d.tick(), now
	d.items[p.number] = p
}

// EndPut records the end of the put. After an error the item may have been added.
func (d *Delivery) EndPut(p *Item, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		p.doubt = true
		p.freeRoom()
		d.part.record(time.Now(), Step{Kind: InDoubt, Client: p.client, Turn: p.number})
		return
	}
	p.added = d.tick()
	d.part.record(time.Now(), Step{Kind: Put, Client: p.client, Turn: p.number})
}

// SessionLost records that a client's session is lost, and its items with it.
func (d *Delivery) SessionLost(client int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.part.record(time.Now(), Step{Kind: Cleared, Client: client})
	for _, p := range d.items {
		if p.client == client {
			p.doubt = true
			p.freeRoom()
		}
	}
}

// BeginTake records that a consumer begins to take.
func (d *Delivery) BeginTake(t *Consumer) Take {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.part.record(time.Now(), Step{Kind: Taking, Client: t.Client, Shared: t.before == 0})
	return Take{Consumer: t, began: d.tick(), choices: d.choices}
}

// TakeInDoubt records that a consumer may have taken the item.
func (d *Delivery) TakeInDoubt(t Take, item []byte) *Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, end := itemNumber(item)
	d.part.record(time.Now(), Step{Kind: GaveUp, Client: t.Client, Turn: n})
	p := d.items[n]
	if p != nil {
		p.doubt = true
		p.freeRoom()
	}
	if p == nil && n > 0 && d.part != nil {
		return &Item{number: n, End: end}
	}
	return p
}

// EndTake records that a consumer has taken the item and returns its parcel, nil if no such item was
// left.
func (d *Delivery) EndTake(t Take, item []byte) *Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, end := itemNumber(item)
	if d.part != nil {
		return d.tookPart(t, n, end)
	}
	d.safety.Checked++
	p := d.items[n]
	switch {
	case n < 1 || n > d.last:
		d.addViolation("client %d took %.40q, which no client put", t.Client+1, item)
	case p == nil:
		d.addViolation("client %d took item %d, which a client took before", t.Client+1, n)
	default:
		delete(d.items, n)
		p.freeRoom()
		d.judge(t, p)
	}
	return p
}

// judge checks a take against earlier takes, of this consumer and of others.
func (d *Delivery) judge(t Take, p *Item) {
	if p.added != 0 {
		if later := t.newest[p.Priority]; later != nil && later.began > p.added {
			d.addViolation("client %d took item %d after item %d, which was put later", t.Client+1, p.number, later.number)
		}
		for q := p.Priority + 1; q < PriorityLimit; q++ {
			if c := t.choices[q]; c.newer > p.added {
				d.addViolation("client %d took an item of priority %d while item %d of priority %d was there", c.client+1, q, p.number, p.Priority)
				break
			}
		}
	}
	if newest := t.newest[p.Priority]; newest == nil || newest.began < p.began {
		t.newest[p.Priority] = p
	}
	if c := &d.choices[p.Priority]; c.newer < t.before {
		*c = choice{t.Client, t.before}
	}
	t.before = t.began
}

// Verdict returns all findings. complete means that the consumers have emptied the queue, so that
// an item that was not taken is lost.
func (d *Delivery) Verdict(complete bool) metrics.Safety {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.items {
		if complete && p.added != 0 && !p.doubt && !p.End {
			d.addViolation("item %d of client %d was never taken", p.number, p.client+1)
		}
	}
	clear(d.items)
	return d.safety
}

func (d *Delivery) addViolation(format string, args ...any) {
	d.safety.Violations++
	if len(d.safety.Details) < MaxDetails {
		d.safety.Details = append(d.safety.Details, "violation: "+fmt.Sprintf(format, args...))
	}
}

func (d *Delivery) tick() int64 {
	d.clock++
	return d.clock
}

// itemNumber returns the number of an item, 0 if it is not valid, and whether it is an end item.
func itemNumber(item []byte) (number int64, end bool) {
	n, err := strconv.ParseInt(string(item), 10, 64)
	if err != nil {
		return 0, false
	}
	return max(n, -n), n < 0
}
