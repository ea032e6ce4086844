package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// TestRaceIsWonByCreating has a session lose the race for a node although the node is missing whenever it
// looks. Only the notification before its successful create is useful: that the node was created by
// another session is none, nor is that it was gone for a moment.
func TestRaceIsWonByCreating(t *testing.T) {
	a := New(DefaultLimits)
	s := newScript(a, 1)
	create := func(err error) {
		s.call(drivers.Message{Op: drivers.OpCreate, Path: []byte("/lock"), Mode: drivers.Ephemeral, Err: err})
	}
	look := func(err error) {
		s.call(drivers.Message{Op: drivers.OpExists, Path: []byte("/lock"), Watch: true, Err: err})
	}
	notify := func(e drivers.EventType) {
		s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte("/lock")})
	}
	create(drivers.ErrNodeExists)
	look(nil)
	notify(drivers.Deleted)
	create(drivers.ErrNodeExists)
	look(drivers.ErrNoNode) // deleted again
	notify(drivers.Created) // by another session, before its own create
	create(drivers.ErrNodeExists)
	look(nil)
	notify(drivers.Deleted)
	create(nil)
	r := a.Report()
	for _, p := range r.Places {
		if p.Path == "/lock" && p.Useful != nil {
			if *p.Useful != 1 || *p.Wasted != 2 {
				t.Errorf("%d useful and %d wasted, want 1 and 2", *p.Useful, *p.Wasted)
			}
			return
		}
	}
	t.Errorf("the form is not recognised: %+v", r.Places)
}

// TestSignalsBeforeARace has five sessions watch a signal, and do something about another node after each of ten
// changes of it. What they do is given, so is which notifications were in vain.
func TestSignalsBeforeARace(t *testing.T) {
	const node = "/svc/lock"
	arm := func(p actor) { p.watch("/svc/signal") }
	lose := func(p actor) { p.create(node, drivers.ErrNodeExists) }
	win := func(p actor) { p.create(node, nil) }
	race := func(woken []actor, winner int) {
		win(woken[winner])
		for i, p := range woken {
			if i != winner {
				lose(p)
			}
		}
	}
	raceAfter := func(pause time.Duration) func(*stage, []actor, int) {
		return func(s *stage, woken []actor, winner int) {
			s.pass(pause)
			race(woken, winner)
			for _, p := range woken {
				arm(p)
			}
		}
	}
	type program struct {
		begin  func(p actor)                             // what a session does first; nil: it watches the signal
		change func(writer actor)                        // nil: the writer sets the signal
		told   func(p actor)                             // nil: it is told so
		after  func(s *stage, woken []actor, winner int) // what the woken do
		form   string                                    // that is recognised; "" if none
		vain   int64                                     // of 50 notifications; −1 if that is not known
	}
	for name, c := range map[string]program{
		"the first wins": {after: raceAfter(0), form: "signal before a race", vain: 40},
		"they are slow":  {after: raceAfter(1500 * time.Millisecond), form: "signal before a race", vain: 40},
		"they come much later by their own clock": {after: func(s *stage, woken []actor, winner int) {
			for _, p := range woken {
				arm(p)
			}
			s.pass(3 * time.Second)
			race(woken, winner)
		}, form: "value, watched", vain: 0},
		"the winner's reply comes last": {after: func(_ *stage, woken []actor, winner int) {
			for i, p := range woken {
				if i != winner {
					lose(p)
					arm(p)
				}
			}
			win(woken[winner])
			arm(woken[winner])
		}, form: "signal before a race", vain: 40},
		"the watch lasts": {
			begin: func(p actor) { p.do(drivers.OpWatchNode, "/svc/signal", 0, true, nil) },
			after: func(_ *stage, woken []actor, winner int) { race(woken, winner) }, form: "signal before a race", vain: 40,
		},
		"the signal goes": {
			begin:  func(p actor) { p.do(drivers.OpExists, "/svc/signal", 0, true, nil) },
			change: func(w actor) { w.create("/svc/signal", drivers.ErrNodeExists); w.remove("/svc/signal") },
			told:   func(p actor) { p.told(drivers.Deleted, "/svc/signal") },
			after: func(_ *stage, woken []actor, winner int) {
				race(woken, winner)
				for _, p := range woken {
					p.do(drivers.OpExists, "/svc/signal", 0, true, drivers.ErrNoNode)
				}
			}, form: "signal before a race", vain: 40,
		},
		"two of them race": {after: func(_ *stage, woken []actor, winner int) {
			win(woken[winner])
			lose(woken[(winner+1)%5])
			for _, p := range woken {
				arm(p)
			}
		}, form: "value, watched", vain: 10},
		"they try until they succeed": {after: func(_ *stage, woken []actor, winner int) {
			race(woken, winner)
			for i, p := range woken {
				if i != winner {
					woken[winner].remove(node)
					win(p)
					winner = i
				}
			}
			for _, p := range woken {
				arm(p)
			}
		}, form: "value, watched", vain: 0},
		"they try again and again": {after: func(_ *stage, woken []actor, winner int) {
			race(woken, winner)
			for i, p := range woken {
				if i != winner {
					lose(p)
				}
				arm(p)
			}
		}, form: "value, watched", vain: 0},
		"all of them act": {after: func(_ *stage, woken []actor, winner int) {
			race(woken, winner)
			for i, p := range woken {
				p.set([]string{"/svc/m1", "/svc/m2", "/svc/m3", "/svc/m4", "/svc/m5"}[i])
				arm(p)
			}
		}, form: "value, watched", vain: 0},
		"it belongs to a session that nothing has woken": {after: func(_ *stage, woken []actor, _ int) {
			for _, p := range woken {
				lose(p)
				arm(p)
			}
		}, form: "value, watched", vain: 0},
		"either of two may be the signal": {
			begin:  func(p actor) { arm(p); p.watch("/svc/config") },
			change: func(w actor) { w.set("/svc/signal"); w.set("/svc/config") },
			told: func(p actor) {
				p.told(drivers.DataChanged, "/svc/signal")
				p.told(drivers.DataChanged, "/svc/config")
			},
			after: func(_ *stage, woken []actor, winner int) {
				race(woken, winner)
				for _, p := range woken {
					arm(p)
					p.watch("/svc/config")
				}
			}, form: "", vain: -1,
		},
	} {
		s := newStage()
		all := s.sessions(6)
		writer, watchers := all[0], all[1:]
		for _, p := range watchers {
			if c.begin == nil {
				arm(p)
			} else {
				c.begin(p)
			}
		}
		for turn := range 10 {
			if c.change == nil {
				writer.set("/svc/signal")
			} else {
				c.change(writer)
			}
			for _, p := range watchers {
				if c.told == nil {
					p.told(drivers.DataChanged, "/svc/signal")
				} else {
					c.told(p)
				}
			}
			c.after(s, watchers, turn%5)
			s.pass(time.Second)
			watchers[turn%5].remove(node)
			s.pass(time.Second)
		}
		form, vain, herd := "", int64(-1), false
		for _, p := range s.a.Report().Places {
			if p.Path == "/svc/signal" && p.Form != nil {
				form, herd = p.Form.Name, p.Herd()
			}
			if p.Path == "/svc/signal" && p.Wasted != nil {
				vain = *p.Wasted
			}
		}
		if form != c.form || vain != c.vain || herd != (c.vain > 25) {
			t.Errorf("%s: %q, %d in vain, herd %t; want %q, %d", name, form, vain, herd, c.form, c.vain)
		}
	}
}

// TestABarrierIsNoSignal has five sessions wait for the end of a barrier, race once for a node, and then follow a value.
// None of them waits at the barrier again: it woke nobody in vain.
func TestABarrierIsNoSignal(t *testing.T) {
	s := newStage()
	all := s.sessions(6)
	opener, waiting := all[0], all[1:]
	for _, p := range waiting {
		p.do(drivers.OpExists, "/svc/barrier", 0, true, nil)
	}
	opener.remove("/svc/barrier")
	for _, p := range waiting {
		p.told(drivers.Deleted, "/svc/barrier")
	}
	for i, p := range waiting {
		if i == 0 {
			p.create("/svc/leader", nil)
		} else {
			p.create("/svc/leader", drivers.ErrNodeExists)
		}
		p.watch("/svc/config")
	}
	for range 3 {
		s.pass(time.Second)
		opener.set("/svc/config")
		for _, p := range waiting {
			p.told(drivers.DataChanged, "/svc/config")
			p.watch("/svc/config")
		}
	}
	r := s.a.Report()
	if herds, undecided := r.Herds(), r.Undecided(); len(herds) > 0 || len(undecided) > 0 {
		t.Errorf("herds %+v, undecided %+v; want none", herds, undecided)
	}
}

// TestTheEarlierNotificationOfAClientEnds notifies two connections of two nodes. They then turn out to be of one client.
// What it read after the earlier notification is counted, too.
func TestTheEarlierNotificationOfAClientEnds(t *testing.T) {
	s := newStage()
	all := s.sessions(3)
	writer, watchers := all[0], all[1:]
	paths := []string{"/one/cfg", "/two/cfg"}
	for i, w := range watchers {
		w.watch(paths[i])
	}
	for i, w := range watchers {
		writer.set(paths[i])
		w.told(drivers.DataChanged, paths[i])
		w.watch(paths[i])
	}
	s.a.sessions[3].join(s.a, s.a.sessions[2].activity)
	for _, p := range s.a.Report().Places {
		if p.Changes != 1 || p.ReadsAfter != 1 {
			t.Errorf("%s: %d changes, %d reads after; want 1 and 1", p.Path, p.Changes, p.ReadsAfter)
		}
	}
}

// TestABarrierOpensByCreation has five sessions watch a node that is missing, which is then created. All of them want to know,
// unless they may want to have it: then nothing is said.
func TestABarrierOpensByCreation(t *testing.T) {
	const gate = "/svc/gate"
	wait := func(p actor) { p.do(drivers.OpExists, gate, 0, true, drivers.ErrNoNode) }
	open := func(p actor) { p.do(drivers.OpCreate, gate, 0, false, nil) }
	for name, c := range map[string]struct {
		wait  func(p actor)
		open  func(opener actor, waiting []actor)
		after func(p actor)
		form  string
	}{
		"another one opens":       {open: func(o actor, _ []actor) { open(o) }, form: "barrier, opened by creation"},
		"one that waits opens":    {open: func(_ actor, all []actor) { open(all[0]) }, form: "barrier, opened by creation"},
		"by an ephemeral node":    {open: func(o actor, _ []actor) { o.create(gate, nil) }, form: "barrier, opened by creation"},
		"with a watch that lasts": {wait: func(p actor) { p.do(drivers.OpWatchNode, gate, 0, false, nil) }, open: func(o actor, _ []actor) { open(o) }, form: "barrier, opened by creation"},
		"they read what it says":  {open: func(o actor, _ []actor) { open(o) }, after: func(p actor) { p.get(gate) }, form: "barrier, opened by creation"},
		"one has what they want":  {open: func(_ actor, all []actor) { all[0].create(gate, nil) }},
		"they race to create it":  {open: func(o actor, _ []actor) { open(o) }, after: func(p actor) { p.do(drivers.OpCreate, gate, 0, false, drivers.ErrNodeExists) }},
		"they race to take it":    {open: func(o actor, _ []actor) { open(o) }, after: func(p actor) { p.do(drivers.OpDelete, gate, 0, false, drivers.ErrNoNode) }},
		"they race to set it":     {open: func(o actor, _ []actor) { open(o) }, after: func(p actor) { p.do(drivers.OpSet, gate, 0, false, drivers.ErrBadVersion) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			all, opener := s.sessions(5), s.session(6)
			for _, p := range all {
				if c.wait == nil {
					wait(p)
				} else {
					c.wait(p)
				}
			}
			c.open(opener, all)
			for _, p := range all {
				p.told(drivers.Created, gate)
			}
			for _, p := range all {
				if c.after != nil {
					c.after(p)
				}
			}
			r := s.a.Report()
			form := ""
			for _, p := range r.Places {
				if p.Path == gate && p.Form != nil {
					form = p.Form.Name
				}
			}
			if form != c.form || len(r.Herds()) > 0 || len(r.Undecided()) > 0 != (c.form == "") {
				t.Errorf("form %q, %d herds, %d not known; want %q", form, len(r.Herds()), len(r.Undecided()), c.form)
			}
		})
	}
}
