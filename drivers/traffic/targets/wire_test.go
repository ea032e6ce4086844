package targets_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// onTheWire has a test for each verb that clients of a program can be hit by. Each shows by requests, replies and connections that
// the verb does what the help says of it.
var onTheWire = map[faults.Verb]func(*testing.T, *stage){
	faults.Cut: cuts, faults.Expire: expires, faults.Lose: loses, faults.Hold: holds, faults.Silence: silences, faults.Delay: delays,
	faults.Throttle: throttles, faults.Restore: restores, faults.Move: moves,
}

// untested returns the verbs of the table that clients of a program can be hit by, and that have no test.
func untested(tests map[faults.Verb]func(*testing.T, *stage)) (verbs []string) {
	for _, row := range faults.Verbs() {
		_, parameter, _ := strings.Cut(row[1], " ")
		f, err := faults.Parse("at=0s " + row[0] + " clients=all " + strings.Trim(parameter, "[]"))
		ofPrograms := err == nil && (faults.Schedule{f}).Check(faults.Powers{Program: true, Members: 2}) == nil
		if ofPrograms && tests[faults.Verb(row[0])] == nil {
			verbs = append(verbs, row[0])
		}
	}
	return verbs
}

// TestEachVerbOnTheWire tests the verbs on each backend, and fails if one has no test.
func TestEachVerbOnTheWire(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, verb := range untested(onTheWire) {
		t.Errorf("%s has no test on the wire", verb)
	}
	for verb, test := range onTheWire {
		t.Run(string(verb), func(t *testing.T) { each(t, test) })
	}
}

func TestAVerbWithoutTestIsFound(t *testing.T) {
	some := map[faults.Verb]func(*testing.T, *stage){faults.Cut: func(*testing.T, *stage) {}}
	if got := untested(some); slices.Contains(got, "cut") || !slices.Contains(got, "delay") {
		t.Errorf("got %q, want delay and others, but not cut", got)
	}
}

// during begins a fault, which lasts until the returned function is called.
func (s *stage) during(t *testing.T, fault string) (restore func()) {
	t.Helper()
	f, err := faults.Parse("at=0s " + fault)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	struck, over := make(chan faults.Done, len(f.Steps)), make(chan error, 1)
	go func() {
		over <- faults.Schedule{f}.Do(ctx, faults.Subjects{Program: s, Servers: s.servers}, func(d faults.Done) { struck <- d })
	}()
	for range f.Steps {
		select {
		case <-struck:
		case err := <-over:
			t.Fatalf("%s ended: %v", fault, err)
		}
	}
	return func() {
		t.Helper()
		stop()
		must(t, <-over)
	}
}

// cuts breaks the connection of a session, which goes on by another one.
func cuts(t *testing.T, s *stage) {
	c, states := s.client(t)
	mine := s.path(t, "cut")
	_, err := c.Create(t.Context(), mine, nil, drivers.Ephemeral)
	must(t, err)
	await.True(t, "the proxy did not see the node", func() bool { return s.seen.count(drivers.Reply, drivers.OpCreate, s.wire(mine)) == 1 })
	before := s.seen.connections()
	s.do(t, "cut clients=all")
	awaitState(t, states, drivers.Disconnected)
	awaitState(t, states, drivers.Connected)
	if !exists(t, c, mine) || !exists(t, s.direct, mine) {
		t.Error("the session's node is gone")
	}
	await.True(t, "no further connection was seen", func() bool { return s.seen.connections() > before })
}

// expires ends the session at the service: its node is gone, and the client learns it.
func expires(t *testing.T, s *stage) {
	c, _ := s.client(t)
	mine := s.path(t, "expire")
	_, err := c.Create(t.Context(), mine, nil, drivers.Ephemeral)
	must(t, err)
	if done := s.do(t, "expire node="+s.wire(mine)); len(done) != 1 || len(done[0].Clients) != 1 {
		t.Fatalf("done: %+v", done)
	}
	if exists(t, s.direct, mine) {
		t.Error("the node of the session that has ended is still there")
	}
	await.Value(t, "the client learns that its session has ended", c.Done())
}

// loses has a request be executed, and its reply be lost with the connection.
func loses(t *testing.T, s *stage) {
	c, states := s.client(t)
	kept, lost := s.path(t, "kept"), s.path(t, "lost")
	_, err := c.Create(t.Context(), kept, nil, 0)
	must(t, err)
	s.do(t, "lose clients=all reply=create")
	_, err = c.Create(t.Context(), lost, nil, 0)
	if err == nil {
		t.Error("the reply was not lost")
	}
	awaitState(t, states, drivers.Disconnected)
	if !exists(t, s.direct, lost) {
		t.Error("the request was not executed")
	}
	await.True(t, "the proxy did not see the reply", func() bool { return s.seen.count(drivers.Reply, drivers.OpCreate, s.wire(lost)) == 1 })
	awaitState(t, states, drivers.Connected)
	_, err = c.Create(t.Context(), kept+"2", nil, 0)
	must(t, err) // only one reply is lost
}

// holds keeps a notification back while replies pass, and lets it pass at the end.
func holds(t *testing.T, s *stage) {
	c, _ := s.client(t)
	watched := s.path(t, "hold")
	_, err := s.direct.Create(t.Context(), watched, nil, 0)
	must(t, err)
	told := make(chan drivers.Event, 10)
	_, _, err = c.Get(t.Context(), watched, func(e drivers.Event) { told <- e })
	must(t, err)
	restore := s.during(t, "hold clients=all")
	_, err = s.direct.Set(t.Context(), watched, []byte("new"), drivers.AnyVersion)
	must(t, err)
	await.True(t, "the proxy did not see the notification", func() bool {
		return s.seen.notified(s.wire(watched)) == 1
	})
	if got, _, err := c.Get(t.Context(), watched, nil); err != nil || string(got) != "new" {
		t.Errorf("a read while notifications are held back: %q, %v", got, err)
	}
	select {
	case e := <-told:
		t.Errorf("%v came although it is held back", e)
	default:
	}
	if n := s.received.notified(s.wire(watched)); n != 0 {
		t.Errorf("%d notifications were taken as received while they are held back", n)
	}
	restore()
	await.Value(t, "the notification comes when it is let pass", told)
	if n := s.received.notified(s.wire(watched)); n != 1 {
		t.Errorf("%d notifications were received, want 1", n)
	}
}

// TestAnswersBehindANotification has etcd confirm a watch on a stream by which a notification is held back: what the stream
// says comes in order, so that the client has the watch after the notification.
func TestAnswersBehindANotification(t *testing.T) {
	testenv.SkipIfShort(t)
	s := newStage(t, "etcd", backendtest.SharedEtcd(t))
	c := s.library(t, nil)
	first, second := s.keys(t)
	answers := watch(t, c, first)
	restore := s.during(t, "hold clients=all")
	_, err := c.Put(t.Context(), first, "new")
	must(t, err)
	await.True(t, "the proxy did not see the notification", func() bool { return s.seen.notified(first) == 1 })
	confirmed := make(chan clientv3.WatchChan, 1)
	go func() { confirmed <- c.Watch(t.Context(), second, clientv3.WithCreatedNotify()) }()
	await.True(t, "the proxy did not see the confirmation", func() bool { return s.seen.count(drivers.Reply, drivers.OpWatchNode, second) == 1 })
	if n := s.received.count(drivers.Reply, drivers.OpWatchNode, second); n != 0 {
		t.Errorf("%d confirmations were taken as received while the stream is held back", n)
	}
	restore()
	if r, _ := next(t, answers); len(r.Events) != 1 {
		t.Errorf("got %+v, want the notification", r)
	}
	if r, _ := next(t, <-confirmed); !r.Created {
		t.Errorf("got %+v, want the confirmation", r)
	}
	if n := s.received.count(drivers.Reply, drivers.OpWatchNode, second); n != 1 {
		t.Errorf("%d confirmations were received, want 1", n)
	}
}

// silences lets nothing pass in one direction or in both, and all of it at the end.
func silences(t *testing.T, s *stage) {
	for _, direction := range []string{"in", "out", "both"} {
		c, _ := s.client(t)
		node := s.path(t, direction)
		restore := s.during(t, "silence clients=all direction="+direction)
		created := make(chan error, 1)
		go func() { _, err := c.Create(t.Context(), node, nil, 0); created <- err }()
		if direction == "in" {
			await.True(t, "the request did not arrive", func() bool { return exists(t, s.direct, node) })
		}
		select {
		case err := <-created:
			t.Errorf("%s: a reply came: %v", direction, err)
		case <-time.After(50 * time.Millisecond):
		}
		if direction != "in" && exists(t, s.direct, node) {
			t.Errorf("%s: the request arrived", direction)
		}
		if n := s.received.count(drivers.Reply, drivers.OpCreate, s.wire(node)); n != 0 {
			t.Errorf("%s: %d replies were taken as received", direction, n)
		}
		restore()
		if err := <-created; err != nil {
			t.Errorf("%s: %v", direction, err)
		}
		if n := s.received.count(drivers.Reply, drivers.OpCreate, s.wire(node)); n != 1 {
			t.Errorf("%s: %d replies were received, want 1", direction, n)
		}
	}
}

// delays passes a request and its reply later, each by the delay: neither arrives before, and both do then.
func delays(t *testing.T, s *stage) {
	c, _ := s.client(t)
	node := s.path(t, "delay")
	const by = 100 * time.Millisecond
	restore := s.during(t, "delay clients=all by="+by.String())
	began := time.Now()
	_, err := c.Create(t.Context(), node, nil, 0)
	must(t, err)
	if took := time.Since(began); took < 2*by {
		t.Errorf("the reply came after %v, want %v at the earliest", took, 2*by)
	}
	if !exists(t, s.direct, node) {
		t.Error("the request did not arrive")
	}
	restore()
}

// throttles passes data no faster than the rate: it arrives whole, and not before its bytes can have passed.
func throttles(t *testing.T, s *stage) {
	c, _ := s.client(t)
	node, data := s.path(t, "throttle"), strings.Repeat("stampede", 512)
	const rate = 16 << 10 // bytes a second
	restore := s.during(t, "throttle clients=all to=16k")
	began := time.Now()
	_, err := c.Create(t.Context(), node, []byte(data), 0)
	must(t, err)
	if took, least := time.Since(began), time.Duration(len(data))*time.Second/rate; took < least {
		t.Errorf("%d bytes passed in %v, want %v at least", len(data), took, least)
	}
	began = time.Now()
	got, _, err := c.Get(t.Context(), node, nil)
	must(t, err)
	if took, least := time.Since(began), time.Duration(len(data))*time.Second/rate; took < least {
		t.Errorf("%d bytes came back in %v, want %v at least", len(data), took, least)
	}
	if string(got) != data {
		t.Errorf("%d bytes came back, want those that were written", len(got))
	}
	restore()
}

// restores undoes what would outlast the test: requests are answered. What was under way when a delay was undone comes as
// late as it would have.
func restores(t *testing.T, s *stage) {
	c, _ := s.client(t)
	for _, fault := range []string{"throttle clients=all to=1", "silence clients=all", "hold clients=all"} {
		end := s.during(t, fault+", restore after=1ms")
		if !exists(t, c, "/") {
			t.Errorf("after %s: no answer", fault)
		}
		end()
	}
}

// moves has a session be connected to another member.
func moves(t *testing.T, s *stage) {
	second := s.again(t)
	s = newStage(t, s.scheme, s.server, second)
	c, states := s.client(t)
	await.True(t, "the proxy did not see the connection", func() bool { return s.seen.connections() > 0 })
	first := s.seen.earliest() // later ones ask each member of etcd for its cluster, and end
	s.do(t, "move clients=all")
	awaitState(t, states, drivers.Disconnected)
	awaitState(t, states, drivers.Connected)
	_, _, err := c.Exists(t.Context(), "/", nil)
	must(t, err)
	await.True(t, "it is connected to the same member again", func() bool { return s.seen.latest() != first })
}

// again returns another address of the stage's server.
func (s *stage) again(t *testing.T) string {
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: s.server}}, proxy.Options{Observer: new(record), Protocol: s.protocol})
	must(t, err)
	t.Cleanup(func() { p.Close() })
	return p.Addresses()[0]
}

// TestServersOnTheWire breaks servers that were started: a killed one closes the connections of its clients, and one that is
// stopped says nothing until it continues.
func TestServersOnTheWire(t *testing.T) {
	testenv.SkipIfShort(t)
	for scheme, url := range map[string]string{"native": "native:?durability=fsync", "zookeeper": "zookeeper:", "etcd": "etcd:?durability=no-fsync"} {
		t.Run(scheme, func(t *testing.T) {
			service := backendtest.Own(t, url).(drivers.Ensemble)
			s := newStage(t, scheme, service.Members()[0].Address())
			c, states := s.client(t)
			node := s.path(t, "server")
			_, err := c.Create(t.Context(), node, nil, 0)
			must(t, err)
			s.servers = service.Members()
			s.do(t, "kill members=all, restart after=1ms")
			awaitState(t, states, drivers.Disconnected)
			awaitState(t, states, drivers.Connected)
			if !exists(t, c, node) {
				t.Error("what was on its disk is gone")
			}
			before := s.seen.count(drivers.Reply, drivers.OpSet, s.wire(node))
			written := make(chan error, 1)
			proceed := s.during(t, "stop members=all")
			go func() {
				_, err := c.Set(t.Context(), node, nil, drivers.AnyVersion)
				written <- err
			}()
			await.True(t, "the request was not sent", func() bool { return s.seen.count(drivers.Request, drivers.OpSet, s.wire(node)) > before })
			if s.seen.count(drivers.Reply, drivers.OpSet, s.wire(node)) != before {
				t.Error("a server that was stopped has answered")
			}
			proceed()
			must(t, <-written)
		})
	}
}
