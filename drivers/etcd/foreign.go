package etcd

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/stampede-bench/stampede/drivers"
)

// foreign returns the query for a call that a library made on top of the session, or that
// opens or closes the session. It uses the closest operation of the contract.
func (t *tap) foreign(request any) *query {
	switch r := request.(type) {
	case *pb.TxnRequest:
		q := t.foreignTxn(r)
		q.judge = q.conditional
		return q
	case *pb.RangeRequest:
		return t.foreignRange(r)
	case *pb.PutRequest:
		return &query{op: drivers.OpSet, path: t.keys.path(string(r.Key))}
	case *pb.DeleteRangeRequest:
		return &query{op: drivers.OpDelete, path: t.keys.path(string(r.Key))}
	case *pb.LeaseGrantRequest:
		return &query{op: drivers.OpOpen}
	case *pb.LeaseRevokeRequest:
		return &query{op: drivers.OpClose}
	}
	return &query{op: drivers.OpOther}
}

// foreignTxn classifies a transaction by the last thing it writes, since a library writes its
// own bookkeeping first. A transaction that writes nothing is classified by what it reads.
func (t *tap) foreignTxn(r *pb.TxnRequest) *query {
	for _, op := range slices.Backward(r.Success) {
		if put := op.GetRequestPut(); put != nil {
			q := &query{op: drivers.OpSet, path: t.keys.path(string(put.Key))}
			if creates(r, put.Key) {
				q.op = drivers.OpCreate
			}
			if put.Lease != 0 {
				q.mode = drivers.Ephemeral
			}
			return q
		}
		if del := op.GetRequestDeleteRange(); del != nil {
			return &query{op: drivers.OpDelete, path: t.keys.path(string(del.Key))}
		}
	}
	for _, op := range r.Success {
		if read := op.GetRequestRange(); read != nil {
			return t.foreignRange(read)
		}
	}
	return &query{op: drivers.OpOther}
}

// creates reports whether the transaction has the condition that the key does not exist.
func creates(r *pb.TxnRequest, key []byte) bool {
	return slices.ContainsFunc(r.Compare, func(c *pb.Compare) bool {
		never := c.Target == pb.Compare_CREATE && c.GetCreateRevision() == 0 ||
			c.Target == pb.Compare_VERSION && c.GetVersion() == 0
		return never && c.Result == pb.Compare_EQUAL && string(c.Key) == string(key)
	})
}

// conditional returns the error of a write whose condition did not hold.
func (q *query) conditional(r *pb.TxnResponse) error {
	switch {
	case r.Succeeded || !q.op.IsWrite():
		return nil
	case q.op == drivers.OpCreate:
		return drivers.ErrNodeExists
	}
	return drivers.ErrBadVersion
}

// foreignRange returns a read of one node, or a list if it can return several.
func (t *tap) foreignRange(r *pb.RangeRequest) *query {
	q := &query{op: drivers.OpGet, path: t.keys.path(string(r.Key))}
	if len(r.RangeEnd) > 0 && r.Limit != 1 {
		q.op = drivers.OpChildren
	}
	return q
}
