package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// ephemeral returns the path of a node whose deletion makes a notification of 86 bytes.
func ephemeral(i int) string {
	return fmt.Sprintf("/ephemeral-node-of-a-session-that-owns-many-of-them-%06d", i)
}

// openOwner returns a session with n ephemeral nodes, and a session that watches all of them.
func openOwner(t *testing.T, s *Server, n int) (owner, watcher *raw) {
	owner, watcher = openRaw(t, s), openRaw(t, s)
	var creates, watches []byte
	for i := range n {
		creates = append(creates, request(int32(i), wire.OpCreate, open(ephemeral(i), wire.FlagEphemeral))...)
		watches = append(watches, request(int32(i), wire.OpExists, wire.PathWatch{Path: ephemeral(i), Watch: true})...)
	}
	askAll(owner, creates, n)
	askAll(watcher, watches, n)
	return owner, watcher
}

// askAll pipelines n requests and reads n replies.
func askAll(r *raw, requests []byte, n int) {
	go r.Write(requests)
	for i := range n {
		r.wantReply(r.read(), int32(i), wire.OK)
	}
}

// The owner of 20,000 ephemeral nodes closes its session in one transaction. A client that watches
// all of them gets a notification for each.
func TestHealthyWatcherOutlivesALargeTransaction(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const nodes = 20_000
		owner, watcher := openOwner(t, newServer(t), nodes)
		owner.wantReply(owner.ask(1, wire.OpCloseSession, nil), 1, wire.OK)
		deleted := map[string]bool{}
		for range nodes {
			if e := watcher.read().event(); e.Type == wire.EventDeleted {
				deleted[e.Path] = true
			}
		}
		if len(deleted) != nodes {
			t.Errorf("told of %d nodes, want %d", len(deleted), nodes)
		}
		watcher.wantReply(watcher.ask(1, wire.OpExists, wire.PathWatch{Path: "/"}), 1, wire.OK)
	})
}

// A watcher that reads more slowly than changes happen gets all notifications as long as it keeps
// reading: the server judges its progress, not the size of one backlog.
func TestSlowWatcherThatReadsIsNotCutOff(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := watchLongPath(t, newServer(t))
		const changes = 60 // 6 MB
		for i := range int32(changes) {
			w.change(i)
			if i%4 == 3 { // reads a quarter of its notifications
				w.wantChange()
			}
			time.Sleep(time.Second)
			w.heartbeat()
		}
		for range changes - changes/4 {
			w.wantChange()
		}
	})
}

// A watcher that has stopped reading is dropped by the next change after its backlog has reached
// the limit and its time is up, and not before.
func TestWatcherThatDoesNotReadIsCutOff(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := watchLongPath(t, s)
		for i := range int32(maxUnasked/longPath + 1) {
			w.change(i)
		}
		w.change(100)
		time.Sleep(stalledAfter - time.Nanosecond)
		w.change(101)
		wantWatches(t, s, 1) // the time is not up yet
		time.Sleep(time.Nanosecond)
		w.change(102)
		wantWatches(t, s, 0)
	})
}

// Changes that come faster than any timeout use no more memory than the limit and one transaction.
func TestBacklogOfAWatcherIsBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := watchLongPath(t, s)
		const fit = maxUnread/longPath + 1
		for i := range int32(fit) {
			w.change(i)
		}
		wantWatches(t, s, 1)
		w.change(fit)
		wantWatches(t, s, 0)
	})
}

func wantWatches(t *testing.T, s *Server, want int) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.watches.Len(); got != want {
		t.Errorf("%d watches, want %d", got, want)
	}
}

// longPath is the approximate size in bytes of a notification of a longWatch.
const longPath = 100_000

// A longWatch is a watcher of a node with a long path, and the node's writer.
type longWatch struct {
	t               *testing.T
	path            string
	watcher, writer *raw
}

func watchLongPath(t *testing.T, s *Server) longWatch {
	w := longWatch{t, "/" + strings.Repeat("a", longPath-1), openRaw(t, s), openRaw(t, s)}
	w.writer.wantReply(w.writer.ask(1, wire.OpCreate, open(w.path, 0)), 1, wire.OK)
	w.watcher.wantReply(w.watcher.ask(1, wire.OpAddWatch, wire.AddWatchRequest{Path: w.path, Mode: wire.AddWatchRecursive}), 1, wire.OK)
	return w
}

func (w longWatch) change(xid int32) {
	w.t.Helper()
	w.writer.wantReply(w.writer.ask(xid, wire.OpSetData, wire.SetDataRequest{Path: w.path, Version: -1}), xid, wire.OK)
}

// heartbeat renews the watcher's session without reading the reply.
func (w longWatch) heartbeat() { w.watcher.write(request(wire.XidPing, wire.OpPing, nil)) }

// wantChange reads heartbeat replies up to a notification.
func (w longWatch) wantChange() {
	w.t.Helper()
	p := w.watcher.read()
	for p.Xid == wire.XidPing {
		p = w.watcher.read()
	}
	if e := p.event(); e.Path != w.path {
		w.t.Fatalf("xid %d, an event of %.20s", p.Xid, e.Path)
	}
}
