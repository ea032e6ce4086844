package server

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// Pipelined requests: the writer's own watches fire before the reply to the write, with its zxid,
// and replies keep the order of the requests.
func TestOwnEventsComeBeforeTheReply(t *testing.T) {
	r := openRaw(t, newServer(t))
	var b []byte
	b = append(b, request(1, wire.OpExists, wire.PathWatch{Path: "/a", Watch: true})...)
	b = append(b, request(2, wire.OpGetChildren, wire.PathWatch{Path: "/", Watch: true})...)
	b = append(b, request(3, wire.OpCreate, open("/a", 0))...)
	b = append(b, request(4, wire.OpGetData, wire.PathWatch{Path: "/a"})...)
	r.write(b)

	r.wantReply(r.read(), 1, wire.ErrNoNode)
	r.wantReply(r.read(), 2, wire.OK)
	created, children, reply := r.read(), r.read(), r.read()
	r.wantReply(created, wire.XidNotification, wire.OK)
	r.wantReply(children, wire.XidNotification, wire.OK)
	r.wantReply(reply, 3, wire.OK)
	if e, want := created.event(), (wire.WatcherEvent{Type: wire.EventCreated, State: 3, Path: "/a"}); e != want {
		t.Errorf("first %+v, want %+v", e, want)
	}
	if e, want := children.event(), (wire.WatcherEvent{Type: wire.EventChildrenChanged, State: 3, Path: "/"}); e != want {
		t.Errorf("then %+v, want %+v", e, want)
	}
	if created.Zxid != reply.Zxid || children.Zxid != reply.Zxid {
		t.Errorf("events at zxid %d and %d, the write at %d", created.Zxid, children.Zxid, reply.Zxid)
	}
	r.wantReply(r.read(), 4, wire.OK)
}

// A watcher that pipelines reads is notified of a change before the first reply that shows it,
// whenever the change happens.
func TestEventsComeBeforeRepliesThatShowTheChange(t *testing.T) {
	s := newServer(t)
	watcher, writer := openRaw(t, s), openRaw(t, s)
	writer.wantReply(writer.ask(1, wire.OpCreate, open("/a", 0)), 1, wire.OK)
	watcher.wantReply(watcher.ask(1, wire.OpGetData, wire.PathWatch{Path: "/a", Watch: true}), 1, wire.OK)

	const reads = 200
	var pipeline []byte
	for i := range int32(reads) {
		pipeline = append(pipeline, request(i+2, wire.OpGetData, wire.PathWatch{Path: "/a"})...)
	}
	go watcher.Write(pipeline)
	go writer.Write(request(2, wire.OpSetData, wire.SetDataRequest{Path: "/a", Data: []byte("new"), Version: -1}))

	told := false
	for next := int32(2); next < reads+2; {
		p := watcher.read()
		if p.Xid == wire.XidNotification {
			told = true
			continue
		}
		watcher.wantReply(p, next, wire.OK)
		next++
		if data := p.body.String(); data == "new" && !told {
			t.Fatal("the change was shown before its event")
		}
	}
	writer.wantReply(writer.read(), 2, wire.OK)
}

// Pipelined requests of each session are executed in order, and each request sees the session's
// earlier writes, while other sessions do the same.
func TestPipelinesKeepTheirOrder(t *testing.T) {
	s := newServer(t)
	const sessions, n = 4, 300
	var all sync.WaitGroup
	for i := range sessions {
		r, path := openTCP(t, s), fmt.Sprintf("/%d", i)
		b := request(-5, wire.OpCreate, open(path, 0))
		for v := range int32(n) {
			b = append(b, request(2*v, wire.OpSetData, wire.SetDataRequest{Path: path, Version: v})...)
			b = append(b, request(2*v+1, wire.OpExists, wire.PathWatch{Path: path})...)
		}
		all.Go(func() { r.Write(b) })
		all.Go(func() {
			r.wantReply(r.read(), -5, wire.OK)
			for xid := range int32(2 * n) {
				p := r.read()
				r.wantReply(p, xid, wire.OK)
				var stat wire.Stat
				if stat.Decode(&p.body); stat.Version != xid/2+1 {
					t.Errorf("reply %d shows version %d, want %d", xid, stat.Version, xid/2+1)
				}
			}
		})
	}
	all.Wait()
}

// A session with a data watch and a child watch on a node gets one notification of its deletion,
// and after that the parent's event.
func TestDeletionIsToldOnce(t *testing.T) {
	r := openRaw(t, newServer(t))
	r.ask(1, wire.OpCreate, open("/a", 0))
	r.ask(2, wire.OpGetData, wire.PathWatch{Path: "/a", Watch: true})
	r.ask(3, wire.OpGetChildren2, wire.PathWatch{Path: "/a", Watch: true})
	r.ask(4, wire.OpGetChildren2, wire.PathWatch{Path: "/", Watch: true})
	r.write(request(5, wire.OpDelete, wire.PathVersion{Path: "/a", Version: -1}))
	for _, want := range []wire.WatcherEvent{
		{Type: wire.EventDeleted, State: 3, Path: "/a"},
		{Type: wire.EventChildrenChanged, State: 3, Path: "/"},
	} {
		p := r.read()
		r.wantReply(p, wire.XidNotification, wire.OK)
		if e := p.event(); e != want {
			t.Errorf("%+v, want %+v", e, want)
		}
	}
	r.wantReply(r.read(), 5, wire.OK)
}

// getData and getChildren of a missing node arm no watch; exists does.
func TestOnlyExistsWatchesWhatIsMissing(t *testing.T) {
	s := newServer(t)
	r := openRaw(t, s)
	r.wantReply(r.ask(1, wire.OpGetData, wire.PathWatch{Path: "/a", Watch: true}), 1, wire.ErrNoNode)
	r.wantReply(r.ask(2, wire.OpGetChildren, wire.PathWatch{Path: "/a", Watch: true}), 2, wire.ErrNoNode)
	r.wantReply(r.ask(3, wire.OpCreate, open("/a", 0)), 3, wire.OK)
	r.wantReply(r.ask(4, wire.OpDelete, wire.PathVersion{Path: "/a", Version: 0}), 4, wire.OK)
	r.wantReply(r.ask(5, wire.OpExists, wire.PathWatch{Path: "/a", Watch: true}), 5, wire.ErrNoNode)
	r.wantReply(r.ask(6, wire.OpCreate, open("/a", 0)), wire.XidNotification, wire.OK)
	r.wantReply(r.read(), 6, wire.OK)
}

// Over a socket, many requests are answered with few writes.
func TestPipelineOverASocket(t *testing.T) {
	s := newServer(t)
	r := openTCP(t, s)
	const n = 5000
	var b []byte
	for i := range int32(n) {
		b = append(b, request(i, wire.OpCreate, open("/n-", wire.FlagSequential))...)
	}
	go r.Write(b)
	for i := range int32(n) {
		p := r.read()
		r.wantReply(p, i, wire.OK)
		if p.Zxid != int64(i)+2 {
			t.Fatalf("reply %d has zxid %d", i, p.Zxid)
		}
	}
}

// openTCP opens a session over a socket.
func openTCP(t *testing.T, s *Server) *raw {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	r := &raw{t, nc}
	r.connect(wire.ConnectRequest{Timeout: 10_000})
	return r
}
