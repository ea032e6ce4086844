package etcd

import (
	"path"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// alive is a condition of every write: that the session lives, and that it has
// not reconnected since. Its key goes with its lease, and is written once for
// every connection, so that a write which was still on its way when an earlier
// connection broke is not done.
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

// is is the condition that a node is there, and has the version if it is not
// AnyVersion. etcd counts versions from one.
func is(key string, version int32) clientv3.Cmp {
	if version == drivers.AnyVersion {
		return present(key)
	}
	return clientv3.Compare(clientv3.Version(key), "=", int64(version)+1)
}

// metadata reads all of a node but its data. Asked for keys only, etcd 3.7 reads
// its index, which knows of no leases, unless it has to sort by value.
func metadata() []clientv3.OpOption {
	return []clientv3.OpOption{clientv3.WithKeysOnly(), clientv3.WithSort(clientv3.SortByValue, clientv3.SortNone)}
}

// count counts the children of a node.
func (c *Conn) count(path string) clientv3.Op {
	return clientv3.OpGet(c.keys.below(path), clientv3.WithPrefix(), clientv3.WithCountOnly())
}

// why reads, after a write whose conditions did not hold, what says which: the
// session, the node, and perhaps another one.
func (c *Conn) why(node string, other ...clientv3.Op) []clientv3.Op {
	return append([]clientv3.Op{
		clientv3.OpGet(c.key, clientv3.WithKeysOnly()),
		clientv3.OpGet(node, clientv3.WithKeysOnly()),
	}, other...)
}

// ousted says whether a write failed because of the session.
func (q *query) ousted(session *mvccpb.KeyValue) error {
	if session == nil {
		return drivers.ErrSessionLost
	}
	if session.Version != q.version {
		return errOusted
	}
	return nil
}

// always is the answer to a write to the root, which nobody can make or remove.
func always(err error) func(*pb.TxnResponse) error {
	return func(*pb.TxnResponse) error { return err }
}

func (c *Conn) create(name string, data []byte, mode drivers.Mode) *query {
	q := &query{op: drivers.OpCreate, path: name, made: name, mode: mode}
	if mode&drivers.Sequential != 0 {
		q.made = sequential(name, c.lease.id, c.made.Add(1))
	}
	if name == "/" {
		q.judge = always(drivers.ErrNodeExists)
		return q
	}
	key := c.keys.node(q.made)
	var options []clientv3.OpOption
	if mode&drivers.Ephemeral != 0 {
		options = append(options, clientv3.WithLease(clientv3.LeaseID(c.lease.id)))
	}
	q.when = []clientv3.Cmp{absent(key)}
	q.then = []clientv3.Op{clientv3.OpPut(key, string(data), options...)}
	q.other = c.why(key)
	if parent := path.Dir(name); parent != "/" { // the root is there and not ephemeral
		dir := c.keys.node(parent)
		q.when = append(q.when, present(dir), clientv3.Compare(clientv3.LeaseValue(dir), "=", 0))
		q.other = c.why(key, clientv3.OpGet(dir, metadata()...))
	}
	q.judge = q.created
	return q
}

// created says why a node was not created.
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

// remove compares the children's create revisions with 0, which holds where
// there are none. The server looks at all there are.
func (c *Conn) remove(path string, version int32) *query {
	q := &query{op: drivers.OpDelete, path: path}
	if path == "/" {
		q.judge = always(drivers.ErrUnsupported)
		return q
	}
	key := c.keys.node(path)
	q.when = []clientv3.Cmp{is(key, version), absent(c.keys.below(path)).WithPrefix()}
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
	key := c.keys.node(path)
	q.when = []clientv3.Cmp{is(key, version)}
	q.then = []clientv3.Op{
		clientv3.OpPut(key, string(data), clientv3.WithIgnoreLease()),
		clientv3.OpGet(key, metadata()...),
	}
	q.other = c.why(key)
	q.judge = func(r *pb.TxnResponse) error { return q.mismatch(r, version) }
	return q
}

// mismatch says why a write to a node was not done, if it was the session, the
// node or its version.
func (q *query) mismatch(r *pb.TxnResponse, version int32) error {
	if r.Succeeded {
		return nil
	}
	if err := q.ousted(first(r, 0)); err != nil {
		return err
	}
	switch node := first(r, 1); {
	case node == nil:
		return drivers.ErrNoNode
	case version != drivers.AnyVersion && node.Version != int64(version)+1:
		return drivers.ErrBadVersion
	}
	return nil
}

// lookAt reads a node, or all of it but its data. Of the root there is nothing to read.
func (c *Conn) lookAt(op drivers.Op, path string) *query {
	if path == "/" {
		return c.look(op, path)
	}
	q := &query{op: op, path: path, needed: true, one: &pb.RangeRequest{Key: []byte(c.keys.node(path))}}
	if op == drivers.OpExists {
		q.one.KeysOnly, q.one.SortTarget = true, pb.RangeRequest_VALUE // see metadata
	}
	return q
}

// listAll lists a node's children, and says whether there is a node.
func (c *Conn) listAll(path string) *query {
	below := c.keys.below(path)
	q := &query{op: drivers.OpChildren, path: path, below: len(below), then: []clientv3.Op{c.count(path),
		clientv3.OpGet(below, clientv3.WithPrefix(), clientv3.WithKeysOnly())}}
	if path != "/" {
		q.then[0] = clientv3.OpGet(c.keys.node(path), clientv3.WithKeysOnly())
		q.judge = found
	}
	return q
}

// children are those that listAll read.
func children(r *pb.TxnResponse, below int) []drivers.Child {
	kvs := r.Responses[1].GetResponseRange().GetKvs()
	all := make([]drivers.Child, len(kvs))
	for i, kv := range kvs {
		all[i] = named(string(kv.Key[below:]), kv.CreateRevision)
	}
	return all
}

func found(r *pb.TxnResponse) error {
	if first(r, 0) == nil {
		return drivers.ErrNoNode
	}
	return nil
}

// look is a read that says nothing but its revision.
func (c *Conn) look(op drivers.Op, path string) *query {
	return &query{op: op, path: path, one: &pb.RangeRequest{Key: []byte(c.key), CountOnly: true}}
}

// first is the first key of the i-th read of a transaction, or nil.
func first(r *pb.TxnResponse, i int) *mvccpb.KeyValue {
	kvs := r.Responses[i].GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}

// stat is what a read of a node tells besides its data; nothing of the root.
func stat(node *mvccpb.KeyValue) drivers.Stat {
	if node == nil {
		return drivers.Stat{}
	}
	return drivers.Stat{Version: int32(node.Version - 1), Created: node.CreateRevision, Modified: node.ModRevision,
		Ephemeral: node.Lease != 0}
}
