package etcd

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

type checkedProbe struct{ *delivery.Session }

func (p checkedProbe) Message(m drivers.Message) { p.Session.Message(&m) }

// A checkedTap is a tap whose streams are checked. It gets the responses of a server.
type checkedTap struct {
	*watcher
	writer *delivery.Session
	t      *testing.T
	found  []string
	ids    int64
}

func newCheckedTap(t *testing.T) *checkedTap {
	c := &checkedTap{t: t}
	checker := delivery.New(func(v delivery.Violation) { c.found = append(c.found, v.String()) })
	c.writer = checker.Session()
	space := keys.Space("p")
	c.watcher = newWatcher(newTap(drivers.Options{Probe: checkedProbe{checker.Session()}}, space, nil), space)
	return c
}

// begins begins a stream on the current connection.
func (c *checkedTap) begins() *stream {
	s := &stream{tap: c.tap, breaks: c.tap.broke(), end: func() {}, more: make(chan struct{}, 1)}
	c.stream = s
	return s
}

// watches creates a watch of /x that the server confirms with the revision.
func (c *checkedTap) watches(s *stream, from, confirmed int64) (id int64) {
	c.ids++
	s.create(&pb.WatchCreateRequest{WatchId: c.ids, Key: []byte("p/1/x"), StartRevision: from}, drivers.OpOther, "/x")
	c.sends(s, &pb.WatchResponse{WatchId: c.ids, Created: true, Header: &pb.ResponseHeader{Revision: confirmed}})
	return c.ids
}

func (c *checkedTap) sends(s *stream, r *pb.WatchResponse) {
	_ = s.handle(r, func(*pb.WatchResponse, int64, int) {})
}

func (c *checkedTap) changes(s *stream, id, revision int64) {
	c.sends(s, &pb.WatchResponse{WatchId: id, Header: &pb.ResponseHeader{Revision: revision},
		Events: []*mvccpb.Event{{Kv: &mvccpb.KeyValue{Key: []byte("p/1/x"), ModRevision: revision, CreateRevision: 1, Version: 2}}}})
}

func (c *checkedTap) progresses(s *stream, revision int64) {
	c.sends(s, &pb.WatchResponse{WatchId: clientv3.InvalidWatchID, Header: &pb.ResponseHeader{Revision: revision}})
}

func (c *checkedTap) writes(revision int64) {
	c.writer.Message(&drivers.Message{Kind: drivers.Reply, Op: drivers.OpSet, Path: []byte("/x"), Pos: revision})
}

func (c *checkedTap) wants(want ...string) {
	c.t.Helper()
	if len(c.found) != len(want) || len(want) > 0 && c.found[0] != want[0] {
		c.t.Errorf("%q, want %q", c.found, want)
	}
}

// A watch that the server confirms with a revision may have begun before it.
func TestEventBeforeTheConfirmedRevision(t *testing.T) {
	c := newCheckedTap(t)
	s := c.begins()
	id := c.watches(s, 0, 10)
	c.changes(s, id, 10)
	c.writes(10)
	c.changes(s, id, 11)
	c.wants()
	c.writes(12)
	c.progresses(s, 12)
	c.wants("no notification for data changed of /x at position 12, though a later answer has come")
}

// A session that has begun another stream on its connection is owed nothing by the one before.
func TestStreamThatTheSessionHasLeft(t *testing.T) {
	c := newCheckedTap(t)
	old := c.begins()
	former := c.watches(old, 0, 10)
	c.leave()
	s := c.begins()
	id := c.watches(s, 10, 10)
	c.changes(old, former, 11)
	c.changes(s, id, 12)
	c.writes(12)
	c.progresses(s, 12)
	c.wants()
}

// Responses that come after a cut are not judged.
func TestResponseAfterACut(t *testing.T) {
	c := newCheckedTap(t)
	c.tap.broken = func() {}
	old := c.begins()
	former := c.watches(old, 0, 10)
	c.tap.cut(old.breaks)
	s := c.begins()
	c.changes(old, former, 11)
	id := c.watches(s, 10, 11)
	c.changes(old, former, 12)
	c.changes(s, id, 11)
	c.changes(s, id, 12)
	c.wants()
}
