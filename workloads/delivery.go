package workloads

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A delivery checks that exactly one consumer takes each item that was put, and that each consumer
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
type delivery struct {
	mu      sync.Mutex
	clock   int64             // a logical clock: begins and ends of puts and takes, in order
	last    int64             // the number of the newest item
	parcels map[int64]*parcel // by number; the items not known to be taken
	choices [priorityLimit]choice
	safety  metrics.Safety
}

// priorityLimit is the number of priorities for which a name has room.
const priorityLimit = 100

// A parcel is an item and what the check knows about it.
type parcel struct {
	number   int64
	client   int // the client that put it
	priority int
	end      bool // an end item: no more items follow
	due      time.Time
	sent     time.Time
	began    int64 // the logical time when its put began
	added    int64 // the logical time when its put returned, 0 if that is unknown
	doubt    bool
	room     <-chan struct{} // holds an element for the item until it is taken; may be nil
}

// bytes returns the item as it is stored in the queue.
func (p *parcel) bytes() []byte { return strconv.AppendInt(nil, p.number, 10) }

func (p *parcel) leave() {
	if p.room != nil {
		<-p.room
		p.room = nil
	}
}

// A taker is the state of one consumer in one session.
type taker struct {
	client int
	before int64                  // the logical time when its last successful take began
	newest [priorityLimit]*parcel // of the items it took, the one that was put last
}

// A taking is one take in progress.
type taking struct {
	*taker
	began   int64
	choices [priorityLimit]choice // the choices known when it began
}

// A choice is one consumer's take of an item of some priority. The consumer chose from a list at
// least as new as newer, a logical time.
type choice struct {
	client int
	newer  int64
}

func newDelivery() *delivery { return &delivery{parcels: make(map[int64]*parcel)} }

// send records that a client begins to put an item.
func (d *delivery) send(p parcel, client int, now time.Time) *parcel {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	p.number, p.client, p.began, p.sent = d.last, client, d.tick(), now
	d.parcels[p.number] = &p
	return &p
}

// sentOff records the end of the put. After an error the item may have been added.
func (d *delivery) sentOff(p *parcel, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		p.doubt = true
		p.leave()
		return
	}
	p.added = d.tick()
}

// wither records that a client's session is lost, and its items with it.
func (d *delivery) wither(client int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.parcels {
		if p.client == client {
			p.doubt = true
			p.leave()
		}
	}
}

// take records that a consumer begins to take.
func (d *delivery) take(t *taker) taking {
	d.mu.Lock()
	defer d.mu.Unlock()
	return taking{taker: t, began: d.tick(), choices: d.choices}
}

// doubtful records that a consumer may have taken the item.
func (d *delivery) doubtful(item []byte) *parcel {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parcels[number(item)]
	if p != nil {
		p.doubt = true
		p.leave()
	}
	return p
}

// taken records that a consumer has taken the item and returns its parcel, nil if no such item was
// left.
func (d *delivery) taken(t taking, item []byte) *parcel {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.safety.Checked++
	n := number(item)
	p := d.parcels[n]
	switch {
	case n < 1 || n > d.last:
		d.violated("client %d took %.40q, which nobody had put", t.client+1, item)
	case p == nil:
		d.violated("client %d took item %d, which had been taken before", t.client+1, n)
	default:
		delete(d.parcels, n)
		p.leave()
		d.judge(t, p)
	}
	return p
}

// judge checks a take against earlier takes, of this consumer and of others.
func (d *delivery) judge(t taking, p *parcel) {
	if p.added != 0 {
		if later := t.newest[p.priority]; later != nil && later.began > p.added {
			d.violated("client %d took item %d after item %d, which was put later", t.client+1, p.number, later.number)
		}
		for q := p.priority + 1; q < priorityLimit; q++ {
			if c := t.choices[q]; c.newer > p.added {
				d.violated("client %d took an item of priority %d while item %d of priority %d was there", c.client+1, q, p.number, p.priority)
				break
			}
		}
	}
	if newest := t.newest[p.priority]; newest == nil || newest.began < p.began {
		t.newest[p.priority] = p
	}
	if c := &d.choices[p.priority]; c.newer < t.before {
		*c = choice{t.client, t.before}
	}
	t.before = t.began
}

// verdict returns all findings. complete means that the consumers have emptied the queue, so that
// an item that was not taken is lost.
func (d *delivery) verdict(complete bool) metrics.Safety {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.parcels {
		if complete && p.added != 0 && !p.doubt && !p.end {
			d.violated("item %d of client %d was never taken", p.number, p.client+1)
		}
	}
	clear(d.parcels)
	return d.safety
}

func (d *delivery) violated(format string, args ...any) {
	d.safety.Violations++
	if len(d.safety.Details) < maxDetails {
		d.safety.Details = append(d.safety.Details, "violation: "+fmt.Sprintf(format, args...))
	}
}

func (d *delivery) tick() int64 {
	d.clock++
	return d.clock
}

// number returns the number of an item, 0 if it is not valid.
func number(item []byte) int64 {
	n, err := strconv.ParseInt(string(item), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
