package observe

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// A script sends messages of one session to an Analysis.
type script struct{ traffic.Tap }

func newScript(a *Analysis, id int64) script {
	t := a.Open(traffic.Connection{ID: uint64(id), Client: "192.0.2.1:5", At: time.Unix(id, 0)})
	t.Session(time.Unix(id, 0), traffic.Session{ID: id, Timeout: time.Minute})
	return script{t}
}

func (s script) call(m drivers.Message) {
	m.Kind = drivers.Request
	s.Message(time.Unix(10, 0), m)
	m.Kind = drivers.Reply
	s.Message(time.Unix(10, 0), m)
}

// causeChange makes the watcher watch the path and the writer set it, at the position and the next.
func causeChange(watcher, writer script, path string, pos int64) {
	watcher.call(drivers.Message{Op: drivers.OpGet, Path: []byte(path), Watch: true, Pos: pos})
	writer.call(drivers.Message{Op: drivers.OpSet, Path: []byte(path), Pos: pos + 1})
	watcher.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte(path)})
}

// TestLimitsLoseNoCount checks that an Analysis counts the same beyond its limits: further
// patterns share one row, and changes are complete early.
func TestLimitsLoseNoCount(t *testing.T) {
	l := DefaultLimits
	l.Patterns, l.Watches, l.Changes, l.Paths = 4, 2, 3, 5
	a := New(l)
	watcher, writer := newScript(a, 1), newScript(a, 2)
	const changes = 40
	for i := range int64(changes) {
		path := fmt.Sprintf("/service/%c%c", 'g'+i%20, 'g'+i/20)
		causeChange(watcher, writer, path, 2*i+1)
		if n := len(a.changes); n > 3 {
			t.Fatalf("%d changes are kept, want at most 3", n)
		}
		if n := len(a.oldest); n > 3 {
			t.Fatalf("%d changes are kept in order, want at most 3", n)
		}
	}
	if patterns(a) > 4 || len(a.paths) > 5 {
		t.Errorf("%d patterns and %d paths are kept", patterns(a), len(a.paths))
	}
	r := a.Report()
	if r.Traffic.Notifications != changes || r.Traffic.Changes != changes || r.Traffic.FanoutMax != 1 {
		t.Errorf("%d notifications of %d changes, at most %d each; want %d of %d, 1",
			r.Traffic.Notifications, r.Traffic.Changes, r.Traffic.FanoutMax, changes, changes)
	}
	var placed int64
	for _, p := range r.Places {
		placed += p.Notifications
	}
	if placed != changes {
		t.Errorf("the rows have %d notifications, want %d", placed, changes)
	}
}

// TestPathsBeyondThePatternsAreSaid changes more paths than there are patterns, below a recursive watch: the row of the others says
// how many paths and changes it has, and that at least as many sessions watch as a change has woken.
func TestPathsBeyondThePatternsAreSaid(t *testing.T) {
	const paths, watchers = 5, 3
	l := DefaultLimits
	l.Patterns = 3 // the root, the node with the watch, and one below
	s := &stage{a: New(l), now: time.Unix(100, 0), pos: 1}
	all, writer := s.sessions(watchers), s.session(watchers+1)
	for _, w := range all {
		w.do(drivers.OpWatchTree, "/q", 0, true, nil)
	}
	for i := range paths + 1 {
		path := "/q/" + string(rune('g'+i))
		writer.create(path, nil)
		for _, w := range all {
			w.told(drivers.Created, path)
		}
	}
	places := s.a.Report().Places
	i := slices.IndexFunc(places, func(p observation.Place) bool { return p.Beyond > 0 })
	if i < 0 || places[i].Beyond != paths || places[i].Changes != paths || places[i].Sessions < watchers || !places[i].Undecided() {
		t.Fatalf("%+v, want one row of %d paths and changes that %d sessions watch, of which no form is known", places, paths, watchers)
	}
}

// TestOldestChangeIsFlushedFirst checks that of too many changes the one that began first is
// taken for complete, also where an earlier one is complete already.
func TestOldestChangeIsFlushedFirst(t *testing.T) {
	l := DefaultLimits
	l.Changes = 4
	a := New(l)
	watcher, writer := newScript(a, 1), newScript(a, 2)
	for i := range int64(4) {
		causeChange(watcher, writer, fmt.Sprintf("/v/%c", 'g'+i), 2*i+1)
	}
	for trigger, c := range a.changes {
		if c.written == "/v/g" {
			listener{a}.Complete(trigger)
		}
	}
	for i := range int64(2) { // the first has room, the second has not
		causeChange(watcher, writer, fmt.Sprintf("/v/%c", 'm'+i), 2*i+101)
	}
	kept := map[string]bool{}
	for _, c := range a.changes {
		kept[c.written] = true
	}
	for _, want := range []string{"/v/i", "/v/j", "/v/m", "/v/n"} {
		if !kept[want] || len(kept) != 4 {
			t.Fatalf("kept %v, want the four latest, /v/i, /v/j, /v/m and /v/n", kept)
		}
	}
}

// TestFanoutIsExact checks that a change that wakes 300 sessions is not one that wakes 301.
func TestFanoutIsExact(t *testing.T) {
	const watchers = 300
	a := New(DefaultLimits)
	writer := newScript(a, 1)
	var all []script
	for i := range int64(watchers) {
		all = append(all, newScript(a, 2+i))
		all[i].call(drivers.Message{Op: drivers.OpGet, Path: []byte("/config"), Watch: true, Pos: 1})
	}
	writer.call(drivers.Message{Op: drivers.OpSet, Path: []byte("/config"), Pos: 2})
	for _, w := range all {
		w.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte("/config")})
	}
	r := a.Report()
	if tr, p := r.Traffic, r.Places[0]; tr.FanoutMax != watchers || tr.FanoutP50 != watchers || p.FanoutMax != watchers || p.FanoutP50 != watchers {
		t.Errorf("fan-out of all traffic %d, median %d, of %s %d, median %d; want %d", tr.FanoutMax, tr.FanoutP50, p.Path, p.FanoutMax, p.FanoutP50, watchers)
	}
}

// patterns returns the number of patterns that are kept.
func patterns(a *Analysis) (n int) {
	for range a.patterns.All() {
		n++
	}
	return n
}
