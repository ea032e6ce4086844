package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// reread reads what a watch covers. It is called when the server has compacted the events that
// the watch missed while the session was disconnected.
func (c *Conn) reread(w *watch) {
	q := &query{op: drivers.OpOther, path: w.path, then: []clientv3.Op{c.count("/")}}
	if w.node != "" {
		q.then[0] = clientv3.OpGet(w.node, metadata()...)
	}
	if w.below != "" {
		q.then = append(q.then, clientv3.OpGet(w.below, clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	}
	a := c.exchange(q)
	c.watches.caughtUp(w, a.TxnResponse, a.err)
}

// caughtUp fires the watch if the read shows a change. Otherwise it watches from the revision
// of the read. It misses a child that was created and deleted in between. If the read failed,
// the connection is broken, and all watches are resumed on the next connection.
func (s *watcher) caughtUp(w *watch, read *pb.TxnResponse, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rereads--
	s.advance()
	if err != nil || w.phase != armed || s.stream == nil {
		return
	}
	if what := w.since(read); what != 0 {
		s.fire(w, early{event: drivers.Event{Type: what, Path: w.path}, size: size(read)})
		return
	}
	w.read = w.sight(read)
	s.cancel(w) // the server keeps a watch that it has given up until the client cancels it
	s.resume(w)
}

// sight returns what the new read shows.
func (w *watch) sight(r *pb.TxnResponse) sight {
	seen := sight{revision: r.Header.Revision, found: first(r, 0) != nil}
	if w.below != "" {
		seen.children = len(r.Responses[1].GetResponseRange().GetKvs())
	}
	return seen
}

// since returns the change that a new read shows since the last one, or 0.
func (w *watch) since(r *pb.TxnResponse) drivers.EventType {
	node := first(r, 0)
	anew := node != nil && node.CreateRevision > w.read.revision
	switch {
	case w.node == "": // the root is never created or deleted
	case w.read.found && (node == nil || anew):
		return drivers.Deleted
	case anew:
		return drivers.Created
	}
	if w.below == "" {
		if node != nil && node.ModRevision > w.read.revision {
			return drivers.DataChanged
		}
		return 0
	}
	children := r.Responses[1].GetResponseRange().GetKvs()
	changed := len(children) != w.read.children
	for _, child := range children {
		changed = changed || child.CreateRevision > w.read.revision
	}
	if changed {
		return drivers.ChildrenChanged
	}
	return 0
}
