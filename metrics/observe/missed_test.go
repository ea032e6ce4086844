package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// TestALostNotificationIsMissedOrInDoubt loses the notifications of some of twelve watchers, which then close, answer a
// heartbeat, remove their watches, are killed, or are silent until the observation ends. An answer that shows the change proves the loss, and
// without one each watch that stood over it is in doubt. Nothing is either where all were told.
func TestALostNotificationIsMissedOrInDoubt(t *testing.T) {
	const watchers, lost = 12, 7
	for name, c := range map[string]struct {
		end              func(actor)
		missed, unproven int64
	}{
		"close":             {func(p actor) { p.do(drivers.OpClose, "", 0, false, nil); p.Close(p.now) }, lost, 0},
		"heartbeat":         {func(p actor) { p.do(drivers.OpPing, "", 0, false, nil); p.Close(p.now) }, lost, 0},
		"removes its watch": {func(p actor) { p.unwatch("/w", nil); p.Close(p.now) }, lost, 0},
		"has none to remove": {func(p actor) {
			p.unwatch("/w", drivers.ErrUnsupported)
			p.Close(p.now)
		}, lost, 0},
		"killed": {func(p actor) { p.Close(p.now) }, 0, lost},
		"killed while it closes": {func(p actor) {
			p.Message(p.now, drivers.Message{Kind: drivers.Request, Op: drivers.OpClose})
			p.Close(p.now)
		}, 0, lost},
		"silent": {func(actor) {}, 0, lost},
		"killed, and there again": {func(p actor) {
			p.Close(p.now)
			p.pass(time.Second)
			p.session(p.id)
		}, 0, lost},
	} {
		for _, sound := range []bool{false, true} {
			s := newStage()
			writer := s.session(watchers + 1)
			all := s.sessions(watchers)
			for _, w := range all {
				w.watch("/w")
			}
			writer.set("/w")
			for i, w := range all {
				if sound || i >= lost {
					w.told(drivers.DataChanged, "/w")
				}
			}
			for _, w := range all {
				c.end(w)
			}
			missed, unproven := c.missed, c.unproven
			if sound {
				missed, unproven = 0, 0
			}
			r := s.a.Report()
			p := r.Places[0]
			if tr := r.Traffic; tr.Missed != missed || tr.Unproven != unproven || *p.Missed != missed || p.Unproven != unproven {
				t.Errorf("%s, sound %v: %d missed and %d in doubt, at %s %d and %d, want %d and %d",
					name, sound, tr.Missed, tr.Unproven, p.Path, *p.Missed, p.Unproven, missed, unproven)
			}
		}
	}
}

// TestAChangeAfterTheEndLeavesNoDoubt has watchers leave in each way, and the node change after that.
func TestAChangeAfterTheEndLeavesNoDoubt(t *testing.T) {
	s := newStage()
	writer, closes, killed := s.session(1), s.session(2), s.session(3)
	closes.watch("/w")
	killed.watch("/w")
	closes.do(drivers.OpClose, "", 0, false, nil)
	closes.Close(s.now)
	killed.Close(s.now)
	writer.set("/w")
	if tr := s.a.Report().Traffic; tr.Missed+tr.Unproven != 0 || tr.Audited != 3 {
		t.Errorf("%d missed and %d in doubt of %d audited sessions, want none of 3", tr.Missed, tr.Unproven, tr.Audited)
	}
}

// unwatch removes all of the session's watches on the path.
func (p actor) unwatch(path string, err error) {
	m := drivers.Message{Kind: drivers.Request, Op: drivers.OpUnwatch, Path: []byte(path), Removes: drivers.AnyWatch}
	p.Message(p.now, m)
	m.Kind, m.Pos, m.Err = drivers.Reply, p.pos, err
	p.Message(p.now, m)
}

// TestALostEndOfASessionIsMissedOrInDoubt ends the session that has an ephemeral node, in each way, and loses the notifications of some
// of those who watch the node, or of all. The position of a request to close is known; that of an expiry is known by those who
// were told, or else not.
func TestALostEndOfASessionIsMissedOrInDoubt(t *testing.T) {
	const watchers = 5
	for name, c := range map[string]struct {
		begins, ends func(owner actor)
		known        bool          // when the node was deleted, if nobody was told
		rest         time.Duration // until the end
	}{
		"close": {func(actor) {}, func(o actor) { o.do(drivers.OpClose, "", 0, false, nil); o.Close(o.now) }, true, 0},
		"expiry": {func(o actor) { o.Close(o.now); o.pass(9 * time.Second); o.pos++ }, func(o actor) {
			o.pass(2 * time.Second)
		}, false, 0},
		"expiry of a client that hangs": {func(o actor) { o.pass(11 * time.Second); o.pos++ }, func(o actor) {
			o.Close(o.now) // by the service
			o.pass(2 * time.Second)
		}, false, 0},
		"expiry that is seen at the end": {func(o actor) { o.Close(o.now); o.pos++ }, func(actor) {}, false, 11 * time.Second},
	} {
		for _, watch := range []func(actor){
			func(w actor) { w.watch("/w") },
			func(w actor) { w.do(drivers.OpExists, "/w", 0, true, nil) },
			func(w actor) { w.do(drivers.OpWatchNode, "/w", 0, true, nil) },
		} {
			for _, told := range []int{watchers, 2, 0} {
				s := newStage()
				owner := s.session(watchers + 1)
				owner.create("/w", nil)
				all := s.sessions(watchers)
				for _, w := range all {
					watch(w)
				}
				c.begins(owner)
				for i, w := range all {
					if i < told {
						w.told(drivers.Deleted, "/w")
					}
				}
				c.ends(owner)
				for _, w := range all {
					w.do(drivers.OpPing, "", 0, false, nil)
				}
				s.pass(c.rest)
				for _, w := range all {
					w.do(drivers.OpPing, "", 0, false, nil)
				}
				missed, unproven := int64(watchers-told), int64(0)
				if told == 0 && !c.known {
					missed, unproven = 0, watchers
				}
				if tr := s.a.Report().Traffic; tr.Missed != missed || tr.Unproven != unproven || tr.Unasked > 0 {
					t.Errorf("%s, %d told: %d missed and %d in doubt, want %d and %d; %d unasked", name, told, tr.Missed, tr.Unproven, missed, unproven, tr.Unasked)
				}
			}
		}
	}
}

// again lets the session connect again and set its watches again.
func (p actor) again(op drivers.Op, path string) actor {
	p.Close(p.now)
	n := p.session(p.id)
	m := drivers.Message{Kind: drivers.Request, Op: drivers.OpRearm, Parts: []drivers.TxnOp{{Op: op, Path: []byte(path)}}}
	n.Message(n.now, m)
	m.Kind, m.Pos, m.Parts = drivers.Reply, n.pos, nil
	n.Message(n.now, m)
	return n
}

// TestAReconnectedSessionIsJudged loses a notification after a session has connected again. What has changed while a persistent watch
// was not armed is in doubt.
func TestAReconnectedSessionIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		op               drivers.Op
		meanwhile        bool // another node changes while the connection is broken
		missed, unproven int64
	}{
		"once":                       {drivers.OpGet, false, 1, 0},
		"once, and a change":         {drivers.OpGet, true, 1, 0},
		"persistent":                 {drivers.OpWatchNode, false, 1, 0},
		"persistent, and a change":   {drivers.OpWatchNode, true, 1, 1},
		"recursive, and a change":    {drivers.OpWatchTree, true, 1, 1},
		"of children, without doubt": {drivers.OpChildren, true, 0, 0}, // the set is no change of them
	} {
		s := newStage()
		writer, w := s.session(1), s.session(2)
		w.do(c.op, "/w", 0, true, nil)
		if c.meanwhile {
			writer.set("/other")
		}
		w = w.again(c.op, "/w")
		writer.set("/w")
		w.do(drivers.OpPing, "", 0, false, nil)
		if tr := s.a.Report().Traffic; tr.Missed != c.missed || tr.Unproven != c.unproven || tr.Unjudged > 0 {
			t.Errorf("%s: %d missed and %d in doubt, want %d and %d; %d not judged", name, tr.Missed, tr.Unproven, c.missed, c.unproven, tr.Unjudged)
		}
	}
}

// TestSessionsThatAreNotJudgedAreCounted watches by sessions of which a part is not seen.
func TestSessionsThatAreNotJudgedAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s *stage, w actor)
		want int64
	}{
		"all is seen":         {func(*stage, actor) {}, 0},
		"bytes are missing":   {func(_ *stage, w actor) { w.Gap(w.now, 9, traffic.Missing) }, 1},
		"of no request":       {func(_ *stage, w actor) { w.Gap(w.now, 9, traffic.Words) }, 0},
		"two connections":     {func(s *stage, w actor) { s.session(w.id) }, 1},
		"one after the other": {func(s *stage, w actor) { w.Close(w.now); s.session(w.id) }, 0},
		"opened before": {func(s *stage, _ actor) {
			tap := s.a.Open(traffic.Connection{ID: 9, Client: "192.0.2.9:5", At: s.now})
			tap.Session(s.now, traffic.Session{ID: 9, Timeout: time.Second, Ordered: true, Resumed: true})
			actor{s, tap, 9}.watch("/w")
		}, 1},
	} {
		s := newStage()
		w := s.session(1)
		w.watch("/w")
		c.do(s, w)
		if tr := s.a.Report().Traffic; tr.Unjudged != c.want {
			t.Errorf("%s: %d sessions are not judged, want %d", name, tr.Unjudged, c.want)
		}
	}
}
