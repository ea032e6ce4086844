package etcd

import (
	"cmp"
	"path"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// alive is a condition of every write: the session is alive and has not reconnected since. The
// session's key is deleted with its lease, and is written once for every connection. So a
// write that was still in flight when an earlier connection broke is not done. A session without a lease has no key, which
// has version 0 therefore.
func (c *Conn) alive(version int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.Version(c.key), "=", version)
}

// present and absent are conditions on a key.
func present(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), ">", 0)
}

func absent(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// hasVersion requires that the node exists, and has the version unless that is AnyVersion. etcd counts
// versions from one.
func hasVersion(key string, version int32) clientv3.Cmp {
	if version == drivers.AnyVersion {
		return present(key)
	}
	return clientv3.Compare(clientv3.Version(key), "=", int64(version)+1)
}

// metadata makes a read return all of a node but its data. For a read of keys only, etcd 3.7
// reads its index, which has no leases, unless it has to sort by value.
func metadata() []clientv3.OpOption {
	return []clientv3.OpOption{clientv3.WithKeysOnly(), clientv3.WithSort(clientv3.SortByValue, clientv3.SortNone)}
}

// count counts the children of a node.
func (c *Conn) count(path string) clientv3.Op {
	return clientv3.OpGet(c.keys.ChildPrefix(path), clientv3.WithPrefix(), clientv3.WithCountOnly())
}

// why returns the reads that explain why a write's conditions did not hold: of the session,
// the node, and perhaps another node.
func (c *Conn) why(node string, other ...clientv3.Op) []clientv3.Op {
	return append([]clientv3.Op{
		clientv3.OpGet(c.key, clientv3.WithKeysOnly()),
		clientv3.OpGet(node, clientv3.WithKeysOnly()),
	}, other...)
}

// ousted returns the error of a write that failed because of the session, or nil.
func (q *query) ousted(session *mvccpb.KeyValue) error {
	if q.version == 0 { // the session has no key
		return nil
	}
	if session == nil {
		return drivers.ErrSessionLost
	}
	if session.Version != q.version {
		return errOusted
	}
	return nil
}

// always is the judge of a write to the root, which cannot be created, written or removed.
func always(err error) func(*pb.TxnResponse) error {
	return func(*pb.TxnResponse) error { return err }
}

func (c *Conn) create(name string, data []byte, mode drivers.Mode) *query {
	q := &query{op: drivers.OpCreate, path: name, made: name, mode: mode}
	if mode&drivers.Sequential != 0 {
		q.made = keys.Sequential(name, c.lease.id, c.made.Add(1))
	}
	if name == "/" {
		q.judge = always(drivers.ErrNodeExists)
		return q
	}
	if mode != 0 && !c.leased() {
		q.judge = always(drivers.ErrUnsupported)
		return q
	}
	key := c.keys.Node(q.made)
	var options []clientv3.OpOption
	if mode&drivers.Ephemeral != 0 {
		options = append(options, clientv3.WithLease(clientv3.LeaseID(c.lease.id)))
	}
	q.when = []clientv3.Cmp{absent(key)}
	q.then = []clientv3.Op{clientv3.OpPut(key, string(data), options...)}
	q.other = c.why(key)
	if parent := path.Dir(name); parent != "/" { // the root exists and is not ephemeral
		dir := c.keys.Node(parent)
		q.when = append(q.when, present(dir), clientv3.Compare(clientv3.LeaseValue(dir), "=", 0))
		q.other = c.why(key, clientv3.OpGet(dir, metadata()...))
	}
	q.judge = q.created
	return q
}

// join creates a sequential node, and lists the last two children after that: the new one and
// the one created before it.
func (c *Conn) join(name string, data []byte, mode drivers.Mode) *query {
	q := c.create(name, data, mode)
	below := c.keys.ChildPrefix(path.Dir(name))
	q.below = len(below)
	q.then = append(q.then, clientv3.OpGet(below, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(2),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend)))
	return q
}

// created returns why a node was not created, or nil.
func (q *query) created(r *pb.TxnResponse) error {
	if r.Succeeded {
		return nil
	}
	if err := q.ousted(first(r, 0)); err != nil {
		return err
	}
	if len(r.Responses) > 2 {
		switch dir := first(r, 2); {
		case dir == nil:
			return drivers.ErrNoNode
		case dir.Lease != 0:
			return drivers.ErrNoChildrenForEphemerals
		}
	}
	return drivers.ErrNodeExists
}

// remove compares the children's create revisions with 0, which holds if there are no
// children. The server looks at all of them.
func (c *Conn) remove(path string, version int32) *query {
	q := &query{op: drivers.OpDelete, path: path}
	if path == "/" {
		q.judge = always(drivers.ErrUnsupported)
		return q
	}
	key := c.keys.Node(path)
	q.when = []clientv3.Cmp{hasVersion(key, version), absent(c.keys.ChildPrefix(path)).WithPrefix()}
	q.then = []clientv3.Op{clientv3.OpDelete(key)}
	q.other = c.why(key)
	q.judge = func(r *pb.TxnResponse) error {
		if err := q.mismatch(r, version); err != nil || r.Succeeded {
			return err
		}
		return drivers.ErrNotEmpty
	}
	return q
}

func (c *Conn) set(path string, data []byte, version int32) *query {
	q := &query{op: drivers.OpSet, path: path}
	if path == "/" {
		q.judge = always(drivers.ErrUnsupported)
		return q
	}
	key := c.keys.Node(path)
	q.when = []clientv3.Cmp{hasVersion(key, version)}
	q.then = []clientv3.Op{
		clientv3.OpPut(key, string(data), clientv3.WithIgnoreLease()),
		clientv3.OpGet(key, metadata()...),
	}
	q.other = c.why(key)
	q.judge = func(r *pb.TxnResponse) error { return q.mismatch(r, version) }
	return q
}

// setAll writes several nodes if all of them have their versions.
func (c *Conn) setAll(sets []drivers.Call) *query {
	q := &query{op: drivers.OpMulti, path: sets[0].Path, sets: make([]drivers.TxnOp, len(sets))}
	q.other = []clientv3.Op{clientv3.OpGet(c.key, clientv3.WithKeysOnly())}
	versions := make([]int32, len(sets))
	for i, s := range sets {
		key := c.keys.Node(s.Path)
		q.sets[i] = drivers.TxnOp{Op: drivers.OpSet, Path: []byte(s.Path)}
		q.when = append(q.when, hasVersion(key, s.Version))
		q.then = append(q.then, clientv3.OpPut(key, string(s.Data), clientv3.WithIgnoreLease()), clientv3.OpGet(key, metadata()...))
		q.other = append(q.other, clientv3.OpGet(key, clientv3.WithKeysOnly()))
		versions[i] = s.Version
	}
	q.judge = func(r *pb.TxnResponse) error { return q.anyMismatch(r, versions) }
	return q
}

// anyMismatch returns why no node of a transaction was written, and reports it for its parts: the session, or the
// first node that is missing or has another version.
func (q *query) anyMismatch(r *pb.TxnResponse, versions []int32) (why error) {
	if r.Succeeded {
		return nil
	}
	why = q.ousted(first(r, 0))
	for i, version := range versions {
		q.sets[i].Err = drivers.ErrUnsupported
		if err := differs(first(r, i+1), version); err != nil {
			q.sets[i].Err = err
			why = cmp.Or(why, err)
		}
	}
	return why
}

// mismatch returns why a write to a node was not done, if the session, the node or its version
// is the reason.
func (q *query) mismatch(r *pb.TxnResponse, version int32) error {
	if r.Succeeded {
		return nil
	}
	if err := q.ousted(first(r, 0)); err != nil {
		return err
	}
	return differs(first(r, 1), version)
}

// differs returns an error if a node is missing or has another version.
func differs(node *mvccpb.KeyValue, version int32) error {
	switch {
	case node == nil:
		return drivers.ErrNoNode
	case version != drivers.AnyVersion && node.Version != int64(version)+1:
		return drivers.ErrBadVersion
	}
	return nil
}

// lookAt reads a node, or for Exists all of it but its data. There is nothing to read of the
// root.
func (c *Conn) lookAt(op drivers.Op, path string) *query {
	if path == "/" {
		return c.look(op, path)
	}
	q := &query{op: op, path: path, needed: true, one: &pb.RangeRequest{Key: []byte(c.keys.Node(path))}}
	if op == drivers.OpExists {
		q.one.KeysOnly, q.one.SortTarget = true, pb.RangeRequest_VALUE // see metadata
	}
	return q
}

// listAll lists a node's children, and finds out whether the node exists.
func (c *Conn) listAll(path string) *query {
	below := c.keys.ChildPrefix(path)
	q := &query{op: drivers.OpChildren, path: path, below: len(below), then: []clientv3.Op{c.count(path),
		clientv3.OpGet(below, clientv3.WithPrefix(), clientv3.WithKeysOnly())}}
	if path != "/" {
		q.then[0] = clientv3.OpGet(c.keys.Node(path), clientv3.WithKeysOnly())
		q.judge = found
	}
	return q
}

// children returns the children that listAll or join read.
func children(r *pb.TxnResponse, below int) []drivers.Child {
	kvs := r.Responses[1].GetResponseRange().GetKvs()
	all := make([]drivers.Child, len(kvs))
	for i, kv := range kvs {
		all[i] = keys.Child(string(kv.Key[below:]), kv.CreateRevision)
	}
	return all
}

func found(r *pb.TxnResponse) error {
	if first(r, 0) == nil {
		return drivers.ErrNoNode
	}
	return nil
}

// look is a read that returns nothing but its revision.
func (c *Conn) look(op drivers.Op, path string) *query {
	return &query{op: op, path: path, one: &pb.RangeRequest{Key: []byte(c.key), CountOnly: true}}
}

// first returns the first key of the i-th response, or nil.
func first(r *pb.TxnResponse, i int) *mvccpb.KeyValue {
	kvs := r.Responses[i].GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}

// stat returns the Stat of a node; zero for the root.
func stat(node *mvccpb.KeyValue) drivers.Stat {
	if node == nil {
		return drivers.Stat{}
	}
	return drivers.Stat{Version: int32(node.Version - 1), Created: node.CreateRevision, Modified: node.ModRevision,
		Ephemeral: node.Lease != 0}
}
