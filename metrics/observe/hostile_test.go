package observe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// tight are limits that a short trace exceeds.
func tight() Limits {
	return Limits{
		Patterns: 8, Watches: 16, Changes: 8, Paths: 16, Connections: 8, Sessions: 8, Children: 16, Lines: 4, Requests: 32, Waiting: 16,
	}
}

// retained fails the test if more entries are kept than the limits allow.
func (a *Analysis) retained(t *testing.T) {
	t.Helper()
	children, watches, unassigned := 0, 0, 0
	lines := map[*child]bool{}
	for _, l := range a.lines {
		for _, c := range l.live {
			lines[c] = true
		}
		if len(l.gone) > maxGone {
			t.Fatalf("a line remembers %d removed children", len(l.gone))
		}
	}
	for _, s := range a.byMeter {
		for _, c := range s.children {
			lines[c] = true
		}
		watches += len(s.watches)
		unassigned += len(s.unassigned)
		if len(s.waits) > maxWaits || len(s.races) > maxRaces {
			t.Fatalf("a session keeps %d votes and %d races", len(s.waits), len(s.races))
		}
	}
	for _, s := range a.ended {
		unassigned += len(s.unassigned)
	}
	children = len(lines)
	for _, of := range []struct {
		name      string
		n, atMost int
	}{
		{"patterns", patterns(a), a.limits.Patterns},
		{"paths", len(a.paths), a.limits.Paths},
		{"watches", watches, a.limits.Watches},
		{"changes", len(a.changes), a.limits.Changes},
		{"changes in order", len(a.oldest), 2*a.limits.Changes + 64},
		{"sessions", len(a.byMeter), a.limits.Sessions},
		{"ended sessions", len(a.ended), 2 * a.limits.Waiting},
		{"sessions by number", len(a.sessions), a.limits.Sessions},
		{"connections", a.followed, a.limits.Connections},
		{"children", children, a.limits.Children},
		{"lines", len(a.lines), a.limits.Lines},
		{"requests", a.requests, a.limits.Requests},
		{"notifications without a cause", unassigned, 2 * a.limits.Waiting},
	} {
		if of.n > of.atMost {
			t.Fatalf("%d %s are kept, want at most %d", of.n, of.name, of.atMost)
		}
	}
	if children != a.children || int64(watches) != a.watches.Now {
		t.Fatalf("%d children and %d watches are kept, but %d and %d are counted", children, watches, a.children, a.watches.Now)
	}
}

const hostile = 200 // of each kind

// TestHostileConnections opens sessions and connections without end.
func TestHostileConnections(t *testing.T) {
	a := New(tight())
	for i := range int64(hostile) {
		s := newScript(a, i+1)
		s.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/v"), Pos: 1})
		a.retained(t)
	}
	r := a.Report().Traffic
	if want := (observation.Beyond{Connections: hostile - 8}); r.Beyond != want || r.Connections != hostile || r.Reads != hostile {
		t.Errorf("got %+v of %d connections with %d reads, want %+v of %d with as many", r.Beyond, r.Connections, r.Reads, want, hostile)
	}
}

// TestHostileSessions leaves sessions behind that last longer than their connections.
func TestHostileSessions(t *testing.T) {
	a := New(tight())
	for i := range int64(hostile) {
		c := a.Open(traffic.Connection{ID: uint64(i + 1), Client: "192.0.2.1:5", At: time.Unix(10, 0)})
		c.Session(time.Unix(10, 0), traffic.Session{ID: i + 1, Timeout: time.Minute})
		c.Close(time.Unix(10, 0))
		a.retained(t)
	}
	r := a.Report().Traffic
	if want := (observation.Beyond{Sessions: hostile - 8}); r.Beyond != want || a.followed != 0 {
		t.Errorf("got %+v and %d connections, want %+v and none", r.Beyond, a.followed, want)
	}
}

// TestHostilePaths names ever new paths, also deep ones.
func TestHostilePaths(t *testing.T) {
	a := New(tight())
	s := newScript(a, 1)
	for i := range hostile {
		s.call(drivers.Message{Op: drivers.OpGet, Path: fmt.Appendf(nil, "/a%[1]c/b%[1]c/c/d/e/f/g/h", 'g'+i), Pos: 1})
		a.retained(t)
	}
	if got := a.patterns.Named("/beyond", nil).Ops[drivers.OpGet].Requests; got != hostile { // the nodes above the first path take all rows
		t.Errorf("the row for other patterns has %d reads, want %d", got, hostile)
	}
}

// TestLongPathsAreNotFollowed names paths of 64 KB with 32,000 nodes above each. Nothing is kept of them, and all
// that has no such path is followed as before.
func TestLongPathsAreNotFollowed(t *testing.T) {
	a := New(tight())
	s, writer := newScript(a, 1), newScript(a, 2)
	deep := []byte(strings.Repeat("/a", 32_000))
	both := []drivers.TxnOp{{Op: drivers.OpSet, Path: deep}, {Op: drivers.OpSet, Path: []byte("/v")}}
	s.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/v"), Watch: true, Pos: 1})
	for pos := range int64(20) {
		s.call(drivers.Message{Op: drivers.OpGet, Path: deep, Watch: true, Pos: pos + 2})
		s.call(drivers.Message{Op: drivers.OpWatchTree, Path: deep, Watch: true, Pos: pos + 2})
		writer.call(drivers.Message{Op: drivers.OpCreate, Mode: drivers.Ephemeral | drivers.Sequential, Path: deep, Pos: pos + 2})
		s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.Created, Path: deep})
		a.retained(t)
	}
	writer.call(drivers.Message{Op: drivers.OpMulti, Parts: both, Pos: 30})
	s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte("/v"), Pos: 30})
	if len(a.paths) > 3 || a.watches.Now != 0 || a.children != 0 || a.requests != 0 || len(both[0].Path) == 0 {
		t.Errorf("%d paths, %d watches, %d nodes and %d requests are kept", len(a.paths), a.watches.Now, a.children, a.requests)
	}
	r := a.Report()
	if got, want := r.Traffic.Beyond.Paths, int64(20*7+2); got != want || r.Traffic.Reads != 21 || r.Traffic.Writes != 21 || r.Traffic.Notifications != 21 {
		t.Errorf("%d messages had too long a path, want %d; %d reads, %d writes, %d notifications", got, want, r.Traffic.Reads, r.Traffic.Writes, r.Traffic.Notifications)
	}
	if r.Traffic.Changes != 1 {
		t.Errorf("%d changes, want the one of /v", r.Traffic.Changes)
	}
	if m := traffic.ThatCount(r.Traffic.Undecoded); len(m) != 1 || m[0].Cause != traffic.LongPaths || m[0].Connections != 2 {
		t.Errorf("missing %+v, want what named too long a path on both connections", m)
	}
}

// TestHostileWatches arms watches that never fire, on nodes that change.
func TestHostileWatches(t *testing.T) {
	a := New(tight())
	s, writer := newScript(a, 1), newScript(a, 2)
	for i := range int64(hostile) {
		path := fmt.Appendf(nil, "/v/%d", i)
		s.call(drivers.Message{Op: drivers.OpGet, Path: path, Watch: true, Pos: 2 * i})
		writer.call(drivers.Message{Op: drivers.OpSet, Path: path, Pos: 2*i + 1})
		a.retained(t)
	}
	if r := a.Report().Traffic; r.Unfollowed != hostile-16 {
		t.Errorf("%d watches are not followed, want %d", r.Unfollowed, hostile-16)
	}
}

// TestHostileChildren creates nodes of all kinds that are never deleted.
func TestHostileChildren(t *testing.T) {
	for mode, name := range map[drivers.Mode]string{
		drivers.Ephemeral: "ephemeral", drivers.Sequential: "sequential", drivers.Ephemeral | drivers.Sequential: "both",
	} {
		a := New(tight())
		s := newScript(a, 1)
		for i := range int64(hostile) {
			s.call(drivers.Message{Op: drivers.OpCreate, Mode: mode, Path: fmt.Appendf(nil, "/line/n-%010d", i), Pos: i + 1})
			a.retained(t)
		}
		if r := a.Report().Traffic; r.Beyond.Nodes != hostile-16 {
			t.Errorf("%s: %d nodes are not followed, want %d", name, r.Beyond.Nodes, hostile-16)
		}
	}
}

// TestHostileLines stands in one line after the other. Lines that are empty make room for others.
func TestHostileLines(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		a := New(tight())
		s := newScript(a, 1)
		create := func(i int64, at time.Time) {
			m := drivers.Message{Op: drivers.OpCreate, Mode: drivers.Ephemeral | drivers.Sequential, Path: fmt.Appendf(nil, "/line%d/n-0", i), Pos: 2*i + 1}
			for _, m.Kind = range []drivers.MessageKind{drivers.Request, drivers.Reply} {
				s.Message(at, m)
			}
			m.Op, m.Pos = drivers.OpDelete, m.Pos+1
			for _, m.Kind = range []drivers.MessageKind{drivers.Request, drivers.Reply} {
				if leaves {
					s.Message(at, m)
				}
			}
		}
		for i := range int64(hostile) {
			create(i, time.Unix(10+i, 0))
			a.retained(t)
		}
		want := int64(hostile - 4)
		if leaves {
			want = 0
		}
		if r := a.Report().Traffic; r.Beyond.Nodes != want {
			t.Errorf("with empty lines %v: %d nodes are not followed, want %d", leaves, r.Beyond.Nodes, want)
		}
	}
}

// TestHostileRequests sends requests that get no reply.
func TestHostileRequests(t *testing.T) {
	a := New(tight())
	for i := range int64(4) {
		s := newScript(a, i+1)
		for range hostile / 4 {
			s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: []byte("/v")})
			a.retained(t)
		}
		defer func() {
			s.Close(time.Unix(11, 0))
			if i == 0 && a.requests != 0 {
				t.Errorf("%d requests are kept of closed connections", a.requests)
			}
		}()
	}
	if r := a.Report().Traffic; r.Beyond.Requests != hostile-32 || r.Writes != hostile {
		t.Errorf("%d of %d writes are not followed, want %d of %d", r.Beyond.Requests, r.Writes, hostile-32, hostile)
	}
}

// TestHostileNotifications sends notifications to a session that gets no reply, while a write that may
// be their cause stays in flight.
func TestHostileNotifications(t *testing.T) {
	a := New(tight())
	s, writer := newScript(a, 1), newScript(a, 2)
	writer.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: []byte("/v")})
	for range hostile {
		s.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte("/v")})
		a.retained(t)
	}
	r := a.Report()
	if r.Traffic.Notifications != hostile || r.Traffic.Changes != hostile || r.Traffic.Beyond.Early == 0 {
		t.Errorf("%d notifications of %d changes, %d decided early; want %d of as many, and some",
			r.Traffic.Notifications, r.Traffic.Changes, r.Traffic.Beyond.Early, hostile)
	}
}

// TestOpeningIsBounded opens a connection again and again without a reply.
func TestOpeningIsBounded(t *testing.T) {
	a := New(tight())
	c := a.Open(traffic.Connection{ID: 1, Client: "192.0.2.1:5", At: time.Unix(1, 0)}).(*tap)
	for range hostile {
		c.Message(time.Unix(10, 0), drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen})
		if len(c.opening) > maxOpening {
			t.Fatalf("%d packets are kept, want at most %d", len(c.opening), maxOpening)
		}
		a.retained(t)
	}
	if got := a.all.messages; got != hostile {
		t.Errorf("%d messages are counted, want %d", got, hostile)
	}
}

// TestSessionOnTwoConnections closes a session on one of two connections: messages of the other one still
// come.
func TestSessionOnTwoConnections(t *testing.T) {
	a := New(tight())
	first, second := newScript(a, 1), newScript(a, 1)
	first.call(drivers.Message{Op: drivers.OpClose, Pos: 1})
	first.Close(time.Unix(10, 0))
	second.call(drivers.Message{Op: drivers.OpGet, Path: []byte("/v"), Watch: true, Pos: 2})
	a.retained(t)
	second.Close(time.Unix(11, 0))
	if len(a.byMeter) != 0 || a.watches.Now != 0 {
		t.Errorf("%d sessions with %d watches are kept, want none", len(a.byMeter), a.watches.Now)
	}
}
