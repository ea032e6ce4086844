package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
)

var start = time.Unix(1000, 0)

// connect opens a connection of the session that long after the start.
func connect(a *Analysis, id int64, after time.Duration) traffic.Tap {
	t := a.Open(traffic.Connection{ID: uint64(id), Client: "192.0.2.1:5", At: start.Add(after)})
	t.Session(start.Add(after), traffic.Session{ID: id, Timeout: 10 * time.Second})
	return t
}

// ask sends a request and its reply that long after the start.
func ask(t traffic.Tap, after time.Duration, m drivers.Message) {
	for _, m.Kind = range []drivers.MessageKind{drivers.Request, drivers.Reply} {
		t.Message(start.Add(after), m)
	}
}

func watch(t traffic.Tap, after time.Duration, path string) {
	ask(t, after, drivers.Message{Op: drivers.OpGet, Path: []byte(path), Watch: true, Pos: 1})
}

// TestRearmsAfterReconnects lets three of five sessions reconnect at once and set their four watches
// again, the first with two packets and the third one by one. The fourth comes later, and the fifth asks
// again only after more than a second.
func TestRearmsAfterReconnects(t *testing.T) {
	a := New(DefaultLimits)
	for id := range int64(5) {
		c := connect(a, id+1, 0)
		for i := range 4 {
			watch(c, 0, fmt.Sprintf("/v/%d", i))
		}
		c.Close(start.Add(time.Second))
	}
	rearm := func(c traffic.Tap, after time.Duration) { ask(c, after, drivers.Message{Op: drivers.OpRearm, Pos: 1}) }
	first, second, third := connect(a, 1, 2*time.Second), connect(a, 2, 2*time.Second), connect(a, 3, 2*time.Second)
	rearm(first, 2100*time.Millisecond)
	rearm(first, 2200*time.Millisecond)
	rearm(second, 2300*time.Millisecond)
	for i := range 4 {
		watch(third, 2400*time.Millisecond, fmt.Sprintf("/v/%d", i))
	}
	rearm(connect(a, 4, 4*time.Second), 4100*time.Millisecond)
	watch(connect(a, 5, 5*time.Second), 6500*time.Millisecond, "/v/0")
	if got, want := a.Report().Rearming, (client.Rearming{Reconnects: 4, Watches: 16, MostReconnects: 3, MostWatches: 12}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestRearmsByAnotherConnection lets eleven clients of etcd connect again and arm their hundred watches anew, the last
// before it uses its lease, and one without a lease.
func TestRearmsByAnotherConnection(t *testing.T) {
	const clients, watches = 11, 100
	a := New(DefaultLimits)
	open := func(after time.Duration) traffic.Tap {
		return a.Open(traffic.Connection{Client: "192.0.2.1:5", At: start.Add(after)})
	}
	arm := func(c traffic.Tap, after time.Duration, client int) {
		for i := range watches {
			ask(c, after, drivers.Message{Op: drivers.OpWatchNode, Path: fmt.Appendf(nil, "r/%d-%d", client, i), Watch: true, Pos: 1})
		}
	}
	use := func(c traffic.Tap, after time.Duration, client int) {
		c.Lease(start.Add(after), int64(client+1))
		ask(c, after, drivers.Message{Op: drivers.OpPing})
	}
	for i := range clients + 1 {
		c := open(0)
		if i < clients {
			c.Session(start, traffic.Session{ID: int64(i + 1), Timeout: time.Minute, Lease: true})
		}
		arm(c, 0, i)
		c.Close(start.Add(time.Second))
	}
	for i := range clients + 1 {
		c := open(2 * time.Second)
		if i < clients-1 {
			use(c, 2*time.Second, i)
		}
		arm(c, 2100*time.Millisecond, i)
		if i == clients-1 {
			use(c, 2200*time.Millisecond, i)
		}
	}
	r := a.Report()
	want := client.Rearming{Reconnects: clients, Watches: clients * watches, MostReconnects: clients, MostWatches: clients * watches}
	if r.Rearming != want || !r.Rearming.Storm() || r.Traffic.Resumed != clients || r.Traffic.MostStanding != (clients+1)*watches {
		t.Errorf("%+v, %d resumed, %d watches at once; want %+v, %d, %d", r.Rearming, r.Traffic.Resumed, r.Traffic.MostStanding, want,
			clients, (clients+1)*watches)
	}
}

// TestChurnCountsShortSessions opens six sessions one after the other, of which four are closed after a
// second and one after its time-out of ten; the sixth stays.
func TestChurnCountsShortSessions(t *testing.T) {
	a := New(DefaultLimits)
	at := time.Duration(0)
	for id := range int64(6) {
		c := connect(a, id+1, at)
		at += time.Second
		if id == 4 {
			at += 9 * time.Second
		}
		if id < 5 {
			ask(c, at, drivers.Message{Op: drivers.OpClose, Pos: 1})
			c.Close(start.Add(at))
		}
	}
	resumed := a.Open(traffic.Connection{ID: 9, Client: "192.0.2.1:5", At: start.Add(at)})
	resumed.Session(start.Add(at), traffic.Session{ID: 99, Timeout: 10 * time.Second, Resumed: true}) // it began before
	ask(resumed, at, drivers.Message{Op: drivers.OpClose, Pos: 1})
	if got, want := a.Report().Churn, (client.Churn{Opened: 6, Closed: 5, ShortLived: 4, MostAtOnce: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestPercentilesNeedTenValuesBeyond has replies too few for a percentile, and just enough.
func TestPercentilesNeedTenValuesBeyond(t *testing.T) {
	for n, want := range map[int][2]bool{19: {false, false}, 20: {true, false}, 999: {true, false}, 1000: {true, true}} {
		a := New(DefaultLimits)
		c := connect(a, 1, 0)
		for i := range n {
			ask(c, time.Duration(i)*time.Millisecond, drivers.Message{Op: drivers.OpGet, Path: []byte("/a"), Pos: 1})
		}
		if op := a.Report().Operations[0]; op.Requests != int64(n) || (op.P50 != nil) != want[0] || (op.P99 != nil) != want[1] {
			t.Errorf("%d replies: %+v, want p50 and p99 %v", n, op, want)
		}
	}
}

// TestPollingHasAnInterval reads a node every two seconds, of which one read returns something else.
func TestPollingHasAnInterval(t *testing.T) {
	a := New(DefaultLimits)
	c := connect(a, 1, 0)
	for i := range 22 {
		digest := uint64(1)
		if i > 10 {
			digest = 2
		}
		ask(c, time.Duration(i)*2*time.Second, drivers.Message{Op: drivers.OpGet, Path: []byte("/flag"), Pos: 1, Digest: digest})
	}
	for _, p := range a.Report().Places {
		if p.Path == "/flag" {
			if p.Polls != 21 || p.PollsSame != 20 || p.PollEvery == nil || time.Duration(*p.PollEvery).Round(100*time.Millisecond) != 2*time.Second {
				t.Errorf("%d polls, %d of them unchanged, every %v; want 21, 20, 2 s", p.Polls, p.PollsSame, p.PollEvery)
			}
			return
		}
	}
	t.Error("no row for /flag")
}

// TestStandingWatchesHaveAnAge arms watches on two patterns; those that have fired stand no longer.
func TestStandingWatchesHaveAnAge(t *testing.T) {
	a := New(DefaultLimits)
	c := connect(a, 1, 0)
	for i := range 5 {
		watch(c, time.Duration(i)*time.Minute, fmt.Sprintf("/item/%d", i))
	}
	watch(c, 5*time.Minute, "/flag")
	c.Message(start.Add(6*time.Minute), drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: []byte("/item/0")})
	ask(c, 10*time.Minute, drivers.Message{Op: drivers.OpPing, Pos: 1})
	got := a.Report().Standing
	if len(got) != 2 || got[0].Path != "/item/#" || got[0].Watches != 4 || got[0].Oldest != 9*time.Minute ||
		got[0].AgeP50.Round(10*time.Second) != 7*time.Minute || got[1] != (observation.Standing{Path: "/flag", Watches: 1, AgeP50: 5 * time.Minute, Oldest: 5 * time.Minute}) {
		t.Errorf("got %+v, want 4 watches on /item/#, 7m at the median and 9m at most, and one on /flag of 5m", got)
	}
}

// TestNothingIsFoundInAQuietTrace is a session that reads a node once and is closed after its time-out.
func TestNothingIsFoundInAQuietTrace(t *testing.T) {
	a := New(DefaultLimits)
	c := connect(a, 1, 0)
	ask(c, 0, drivers.Message{Op: drivers.OpGet, Path: []byte("/flag"), Pos: 1, Digest: 1})
	ask(c, time.Minute, drivers.Message{Op: drivers.OpClose, Pos: 1})
	c.Close(start.Add(time.Minute))
	r := a.Report()
	if r.Rearming != (client.Rearming{}) || r.Churn != (client.Churn{Opened: 1, Closed: 1, MostAtOnce: 1}) || len(r.Standing) > 0 {
		t.Errorf("got %+v, %+v and %+v; want no watches armed again, no short session and no watch", r.Rearming, r.Churn, r.Standing)
	}
	for _, p := range r.Places {
		if p.Polls != 0 || p.PollEvery != nil {
			t.Errorf("%s is polled", p.Path)
		}
	}
}

// TestOneRepeatedReadIsNoPolling reads a value as sessions of a test suite do, of which each ends soon, and as
// clients that poll it.
func TestOneRepeatedReadIsNoPolling(t *testing.T) {
	for _, c := range []struct {
		name  string
		reads []int // of each session
		want  string
	}{
		{"one read is repeated", []int{2}, ""},
		{"one of three sessions repeats", []int{1, 1, 4}, ""},
		{"each looks twice", []int{2, 2, 2}, ""},
		{"two sessions repeat", []int{1, 2, 3}, "2 sessions repeatedly read the data without arming a watch"},
	} {
		a := New(DefaultLimits)
		at := time.Duration(0)
		for i, n := range c.reads {
			s := connect(a, int64(i)+1, at)
			for range n {
				at += time.Second // other operations between them repeat nothing
				ask(s, at, drivers.Message{Op: drivers.OpGet, Path: []byte("/flag"), Pos: 1, Digest: 1})
				ask(s, at, drivers.Message{Op: drivers.OpExists, Path: []byte("/other"), Pos: 1})
			}
			ask(s, at, drivers.Message{Op: drivers.OpClose, Pos: 1})
		}
		got := ""
		for _, p := range a.Report().Places {
			if p.Path == "/flag" && p.Form != nil {
				got = p.Form.Evidence
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestReadsOfTwoKindsRepeatNothing looks whether a node exists and then reads it, as clients do.
func TestReadsOfTwoKindsRepeatNothing(t *testing.T) {
	a := New(DefaultLimits)
	c := connect(a, 1, 0)
	ask(c, time.Second, drivers.Message{Op: drivers.OpExists, Path: []byte("/flag"), Pos: 1, Digest: 1})
	ask(c, time.Second, drivers.Message{Op: drivers.OpGet, Path: []byte("/flag"), Pos: 1, Digest: 1})
	if p := a.Report().Places; len(p) != 1 || p[0].Polls != 0 {
		t.Errorf("got %+v, want one row without a repeated read", p)
	}
}

// TestJoinedSessionsWatchWhatTheySetAgain has twelve sessions that were opened before the observation set their watches again. Each
// stands, once, until it fires: a change wakes as many as watch. What has changed meanwhile is told before the reply.
func TestJoinedSessionsWatchWhatTheySetAgain(t *testing.T) {
	for op, event := range map[drivers.Op]drivers.EventType{
		drivers.OpGet: drivers.DataChanged, drivers.OpExists: drivers.Created, drivers.OpChildren: drivers.ChildrenChanged,
		drivers.OpWatchNode: drivers.DataChanged, drivers.OpWatchTree: drivers.DataChanged,
	} {
		for _, meanwhile := range []bool{false, true} {
			s := newStage()
			s.session(99).get("/re")
			var all []actor
			for id := range int64(12) {
				c := s.a.Open(traffic.Connection{ID: uint64(id), Client: fmt.Sprintf("192.0.2.%d:5", id), At: s.now})
				c.Session(s.now, traffic.Session{ID: id + 1, Timeout: 10 * time.Second, Ordered: true, Resumed: true})
				p := actor{s, c, id + 1}
				m := drivers.Message{Kind: drivers.Request, Op: drivers.OpRearm, Parts: []drivers.TxnOp{{Op: op, Path: []byte("/re")}}}
				for range 2 { // twice changes nothing
					p.Message(s.now, m)
				}
				if meanwhile {
					p.told(event, "/re")
				}
				for range 2 {
					p.Message(s.now, drivers.Message{Kind: drivers.Reply, Op: drivers.OpRearm, Pos: 1})
				}
				all = append(all, p)
			}
			stands := int64(12)
			if meanwhile && !op.IsWatch() {
				stands = 0
			}
			if p := s.a.SoFar().Places[0]; p.Sessions != 12 || p.Watches != stands || p.Most != 12 && !meanwhile {
				t.Errorf("%v, told meanwhile %v: %d sessions, %d watches, at most %d; want 12 sessions and %d watches", op, meanwhile, p.Sessions, p.Watches, p.Most, stands)
			}
			if meanwhile {
				continue
			}
			for _, p := range all {
				p.told(event, "/re")
			}
			if p := s.a.Report().Places[0]; p.Sessions != 12 || p.FanoutMax != 12 || p.Watches != 0 && !op.IsWatch() {
				t.Errorf("%v: a change wakes %d of %d sessions, %d watches stand; want 12 of 12", op, p.FanoutMax, p.Sessions, p.Watches)
			}
		}
	}
}
