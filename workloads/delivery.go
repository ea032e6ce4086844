package workloads

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A delivery checks that each item that was put is taken by exactly one
// consumer, and that each consumer takes in order.
//
// Order is judged by what came before what, not by what the form says. Of one
// priority, a consumer must not take an item after another one that was put only
// when the first had already been added. Between priorities, the list by which a
// consumer chooses is at least as new as the take before, since a session sees
// its own writes: a better item that had been added when that take began, and
// that nobody had begun to take when the choice was made, should have been it.
//
// An item whose put or take is in doubt may be taken once or never.
type delivery struct {
	mu      sync.Mutex
	clock   int64             // moments: the begins and ends of puts and takes, in order
	last    int64             // the number of the last item
	parcels map[int64]*parcel // by number, those that nobody has taken for certain
	choices [priorityLimit]choice
	safety  metrics.Safety
}

// priorityLimit is how many priorities a name has room for.
const priorityLimit = 100

// A parcel is an item on its way.
type parcel struct {
	number   int64
	client   int // who put it
	priority int
	end      bool // tells a consumer that nothing comes any more
	due      time.Time
	sent     time.Time
	began    int64 // the moment when its put began
	added    int64 // the moment when its put returned, 0 if that is unknown
	doubt    bool
	room     <-chan struct{} // where it takes up room until it is taken; may be nil
}

// bytes is the item as the queue holds it.
func (p *parcel) bytes() []byte { return strconv.AppendInt(nil, p.number, 10) }

func (p *parcel) leave() {
	if p.room != nil {
		<-p.room
		p.room = nil
	}
}

// A taker is what is known of one consumer in one session.
type taker struct {
	client int
	before int64                  // the moment when its last successful take began
	newest [priorityLimit]*parcel // of those it took, the one that was put last
}

// A taking is one take under way.
type taking struct {
	*taker
	began   int64
	choices [priorityLimit]choice // those that had been made when it began
}

// A choice is that somebody took an item of some priority, from a list that is
// at least as new as a moment.
type choice struct {
	client int
	newer  int64
}

func newDelivery() *delivery { return &delivery{parcels: make(map[int64]*parcel)} }

// send notes that a client begins to put an item.
func (d *delivery) send(p parcel, client int, now time.Time) *parcel {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	p.number, p.client, p.began, p.sent = d.last, client, d.tick(), now
	d.parcels[p.number] = &p
	return &p
}

// sentOff notes the end of the put. After an error it may have been added.
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

// wither notes that a client's session is lost and its items with it.
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

// take notes that a consumer begins to take.
func (d *delivery) take(t *taker) taking {
	d.mu.Lock()
	defer d.mu.Unlock()
	return taking{taker: t, began: d.tick(), choices: d.choices}
}

// doubtful notes that a consumer may have taken the item.
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

// taken notes that a consumer has taken the item and returns what is known of
// it: nil if there was none left to take.
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

// judge holds a take against what the consumer, and others, took before.
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

// verdict is all that was seen. complete says that the consumers have taken
// whatever there was, so that what has not been taken is lost.
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

// number is that of an item, 0 if it is none.
func number(item []byte) int64 {
	n, err := strconv.ParseInt(string(item), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
