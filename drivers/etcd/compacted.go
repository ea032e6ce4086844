package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// reread reads what a watch covers, because the session was away for so long
// that the server has compacted what it should have told since.
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

// caughtUp fires the watch if the read shows a change, and otherwise watches
// from the read on. A child that came and went meanwhile is not seen. After a
// failed read the connection is broken, and all watches are resumed on another.
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
	s.cancel(w) // the server keeps what it has given up, until it is told
	s.resume(w)
}

// sight is what was read anew.
func (w *watch) sight(r *pb.TxnResponse) sight {
	seen := sight{revision: r.Header.Revision, found: first(r, 0) != nil}
	if w.below != "" {
		seen.children = len(r.Responses[1].GetResponseRange().GetKvs())
	}
	return seen
}

// since is the change since the last read that another one shows, or 0.
func (w *watch) since(r *pb.TxnResponse) drivers.EventType {
	node := first(r, 0)
	anew := node != nil && node.CreateRevision > w.read.revision
	switch {
	case w.node == "": // the root neither comes nor goes
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
