package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/client"
)

// TestAftermathEndsAtRest wakes two sessions 110 times. Each reads and arms its watch again at once, and reads
// once more after a pause: that is the program's clock, and no part of a change's aftermath, as it is none of
// the event.
func TestAftermathEndsAtRest(t *testing.T) {
	const changes = 110
	for pause, reads := range map[time.Duration]int64{ // of both sessions to a change
		200 * time.Millisecond: 2, 20 * time.Millisecond: 4,
	} {
		s := newStage()
		all := s.sessions(3)
		writer, watchers := all[0], all[1:]
		for _, w := range watchers {
			w.watch("/cfg")
		}
		for range changes {
			writer.set("/cfg")
			for _, w := range watchers {
				w.told(drivers.DataChanged, "/cfg")
			}
			for _, w := range watchers {
				w.watch("/cfg")
			}
			s.pass(pause)
			for _, w := range watchers {
				w.get("/cfg")
			}
			s.pass(time.Second)
		}
		r := s.a.Report()
		p := r.Places[0]
		settled := 2 * time.Millisecond
		if reads == 4 {
			settled += pause + 2*time.Millisecond
		}
		if p.ReadsAfter != reads*changes || r.Events.Requests != (reads+1)*changes {
			t.Errorf("pause %v: %d reads after changes, %d requests of events; want %d and %d",
				pause, p.ReadsAfter, r.Events.Requests, reads*changes, (reads+1)*changes)
		}
		if p.SettledP90 == nil || time.Duration(*p.SettledP90).Round(time.Millisecond) != settled {
			t.Errorf("pause %v: settled.p90 %v, want %v", pause, p.SettledP90, settled)
		}
	}
}

// TestTheEndOfAProgramIsNoPartOfItsLastTurn has two sessions take turns at a lock. Half a second after the last turn
// one asks for something else, or closes: it was at rest until then.
func TestTheEndOfAProgramIsNoPartOfItsLastTurn(t *testing.T) {
	for name, end := range map[string]func(actor){
		"close": func(c actor) { c.do(drivers.OpClose, "", 0, false, nil) },
		"read":  func(c actor) { c.get("/elsewhere/x") },
		"write": func(c actor) { c.set("/elsewhere/x") },
	} {
		s := newStage()
		first, second := s.session(1), s.session(2)
		place := func(n int) string { return fmt.Sprintf("/app/locks/lock-%010d", n) }
		first.do(drivers.OpCreate, place(1), drivers.Ephemeral|drivers.Sequential, false, nil)
		second.do(drivers.OpCreate, place(2), drivers.Ephemeral|drivers.Sequential, false, nil)
		second.watch(place(1))
		first.remove(place(1))
		second.Message(s.now, drivers.Message{Kind: drivers.Notification, Event: drivers.Deleted, Path: []byte(place(1)), Pos: s.pos})
		second.do(drivers.OpChildren, "/app/locks", 0, false, nil)
		s.pass(500 * time.Millisecond)
		end(second)
		r := s.a.Report()
		if all := r.Events.Largest; len(all) != 1 || all[0].Lasted != time.Millisecond || all[0].Requests != 2 {
			t.Errorf("%s: %+v, want one event of a removal and a read, which lasted 1 ms", name, all)
		}
		if all := r.Largest; len(all) != 1 || all[0].Settled != time.Millisecond || all[0].Reads != 1 {
			t.Errorf("%s: %+v, want one change that settled after 1 ms with one read", name, all)
		}
	}
}

// TestTransactionIsOneChangeOfAPlace has ten transactions set three nodes that four sessions watch recursively,
// and one node alone once: the place of the three patterns has eleven changes, and counts what the sessions read
// after each once. No more sessions wait again than were woken.
func TestTransactionIsOneChangeOfAPlace(t *testing.T) {
	s := newStage()
	all := s.sessions(5)
	writer, watchers := all[0], all[1:]
	for _, w := range watchers {
		w.do(drivers.OpWatchTree, "/t", 0, false, nil)
	}
	change := func(paths ...string) {
		m := drivers.Message{Kind: drivers.Request, Op: drivers.OpMulti}
		for _, p := range paths {
			m.Parts = append(m.Parts, part(drivers.OpSet, p))
		}
		writer.Message(s.now, m)
		s.pos++
		m.Kind, m.Pos = drivers.Reply, s.pos
		writer.Message(s.now, m)
		for _, w := range watchers {
			for _, p := range paths {
				w.told(drivers.DataChanged, p)
			}
		}
		for _, w := range watchers {
			w.get(paths[0])
		}
		s.pass(time.Second)
	}
	for range 10 {
		change("/t/a", "/t/b", "/t/c")
	}
	change("/t/b")
	r := s.a.Report()
	p := r.Places[0]
	if p.Changes != 11 || p.FanoutP50 != 4 || p.FanoutMax != 4 || p.Notifications != 124 || p.ReadsAfter != 44 || p.OfPatterns < 3 {
		t.Errorf("%+v, want 11 changes of at least 3 patterns that woke 4 sessions each, 124 notifications, 44 reads", p)
	}
	for _, c := range r.Largest {
		if c.Woke != 4 || c.Waited > c.Woke {
			t.Errorf("%d woken, %d waited again; want 4 and at most as many", c.Woke, c.Waited)
		}
	}
	for _, p := range s.a.Patterns() { // each by itself
		if n := p.Fanout.Count(); p.Path == "/t/b" && n != 11 || p.Path == "/t/c" && n != 10 {
			t.Errorf("%s: %d changes", p.Path, n)
		}
	}
}

// TestEachRowHasWhatItsLargestChangeHas has a transaction change two values: it is a change of each, with all that
// the sessions read after it.
func TestEachRowHasWhatItsLargestChangeHas(t *testing.T) {
	s := newStage()
	all := s.sessions(3)
	writer, watchers := all[0], all[1:]
	for _, w := range watchers {
		w.watch("/x/a")
		w.watch("/y/b")
	}
	m := drivers.Message{Kind: drivers.Request, Op: drivers.OpMulti, Parts: []drivers.TxnOp{
		part(drivers.OpSet, "/x/a"), part(drivers.OpSet, "/y/b")}}
	writer.Message(s.now, m)
	s.pos++
	m.Kind, m.Pos = drivers.Reply, s.pos
	writer.Message(s.now, m)
	for _, w := range watchers {
		w.told(drivers.DataChanged, "/x/a")
		w.told(drivers.DataChanged, "/y/b")
		w.watch("/x/a")
		w.watch("/y/b")
	}
	r := s.a.Report()
	for _, p := range r.Places {
		if p.Changes != 1 || p.ReadsAfter != r.Largest[0].Reads || p.FanoutMax != 2 {
			t.Errorf("%s: %d changes, %d reads; want 1 and the %d of the largest change", p.Path, p.Changes, p.ReadsAfter, r.Largest[0].Reads)
		}
	}
}

// TestChangesAtManyPatternsAreBounded has more patterns change at once than an effect has room for: the change counts at each
// pattern by itself.
func TestChangesAtManyPatternsAreBounded(t *testing.T) {
	a := New(DefaultLimits)
	watcher, writer := newScript(a, 1), newScript(a, 2)
	var paths []string
	var sets []drivers.TxnOp
	for i := range client.MostPlaces + 1 {
		p := fmt.Sprintf("/x/%c%c", 'a'+i/26, 'a'+i%26)
		paths, sets = append(paths, p), append(sets, part(drivers.OpSet, p))
		watcher.call(drivers.Message{Op: drivers.OpGet, Path: []byte(p), Watch: true, Pos: 1})
	}
	writer.transact(2, nil, sets...)
	for _, p := range paths {
		watcher.Message(time.Unix(11, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte(p)})
	}
	r := a.Report()
	if r.Traffic.Changes != 1 || r.Traffic.Beyond.Early != 1 {
		t.Errorf("%d changes, %d early; want 1 and 1", r.Traffic.Changes, r.Traffic.Beyond.Early)
	}
}
