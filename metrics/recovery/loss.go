package recovery

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Lost reports that the reply to an operation was dropped behind the observer, and that its connection breaks for that. Until
// then, a fault that loses a reply has hit nothing.
func (a *Analysis) Lost(c traffic.Connection, at time.Time, op drivers.Op) {
	a.afterwards(at, func() {
		for t := range a.taps {
			if t.c.ID == c.ID && t.h != nil {
				t.loses(op)
			}
		}
	})
}

// arm has sessions wait for the loss of a reply, those that have waited for another one no longer.
func (a *Analysis) arm(o *outcome, hit []*holder) {
	for _, earlier := range a.outcomes {
		for _, r := range earlier.rows {
			if r.waits && !r.settled && slices.Contains(hit, r.h) {
				r.settled, r.result = true, r.unhit()
			}
		}
	}
	for _, h := range hit {
		o.rows = append(o.rows, &row{o: o, h: h, client: h.client, fault: o.fault, waits: true})
	}
}

// loses begins the fault for a session: with the loss of its reply. What that request has made does not count as what the
// session had, since its client does not know of it.
func (t *tap) loses(op drivers.Op) {
	a, h := t.a, t.h
	waits := func(r *row) bool { return r.waits && !r.settled && r.h == h }
	var o *outcome
	for _, one := range a.outcomes {
		if slices.ContainsFunc(one.rows, waits) {
			o = one
		}
	}
	if o == nil {
		return
	}
	for _, other := range slices.Backward(a.outcomes) {
		if other != o {
			a.settle(other, []*holder{h})
		}
	}
	made := map[thing]bool{}
	for w, b := range h.begun {
		made[w] = b.at.Equal(t.replied)
	}
	r := a.newRow(o, h)
	r.fault.At = a.at
	r.had = slices.DeleteFunc(r.had, func(d *item) bool { return made[d.thing] })
	o.rows[slices.IndexFunc(o.rows, waits)] = r
	a.strikes(o, a.at)
	a.want()
	if op.IsWrite() && t.wrote != nil {
		r.lost = t.wrote
		over := func(r *row) bool { return r.decided || r.settled }
		a.lost = append(slices.DeleteFunc(a.lost, over), r)
	}
}

// unhit says that no reply of the session was lost.
func (r *row) unhit() Session {
	s := Session{
		ID: r.h.id, Process: r.h.origin.process.Name, PID: r.h.origin.process.ID, Client: r.client, Fate: Kept,
		Verdict: NotApplicable, Reason: NothingHit, DoneTwice: []Write{},
	}
	switch {
	case !r.h.closed.IsZero():
		s.Fate = Closed
	case r.h.open == 0:
		s.Fate = Gone
	}
	s.Nodes.cut()
	s.Watches.cut()
	return s
}
