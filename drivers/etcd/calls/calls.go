// Package calls classifies etcd's calls by the closest operation of the contract of package
// drivers, for calls that other code made: a library on top of a session, or another program.
package calls

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/stampede-bench/stampede/drivers"
)

// A Call is one unary call.
type Call struct {
	Op   drivers.Op
	Key  []byte // nil if the call concerns no key
	Mode drivers.Mode
}

// Classify classifies a request.
func Classify(request any) Call {
	switch r := request.(type) {
	case *pb.TxnRequest:
		return ofTxn(r)
	case *pb.RangeRequest:
		return ofRange(r)
	case *pb.PutRequest:
		return Call{Op: drivers.OpSet, Key: r.Key}
	case *pb.DeleteRangeRequest:
		return Call{Op: drivers.OpDelete, Key: r.Key}
	case *pb.LeaseGrantRequest:
		return Call{Op: drivers.OpOpen}
	case *pb.LeaseRevokeRequest:
		return Call{Op: drivers.OpClose}
	}
	return Call{Op: drivers.OpOther}
}

// ofTxn classifies a transaction by the last thing it writes, since a library writes its own
// bookkeeping first. A transaction that writes nothing is classified by what it reads.
func ofTxn(r *pb.TxnRequest) Call {
	parts := Parts(r)
	for _, c := range slices.Backward(parts) {
		if c.Op.IsWrite() {
			return c
		}
	}
	for _, c := range parts {
		if c.Op.IsRead() {
			return c
		}
	}
	return Call{Op: drivers.OpOther}
}

// Parts returns the operations that a transaction executes if its conditions hold.
func Parts(r *pb.TxnRequest) []Call {
	parts := make([]Call, len(r.Success))
	for i, op := range r.Success {
		switch op := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			parts[i] = ofRange(op.RequestRange)
		case *pb.RequestOp_RequestPut:
			parts[i] = ofPut(r, op.RequestPut)
		case *pb.RequestOp_RequestDeleteRange:
			parts[i] = Classify(op.RequestDeleteRange)
		}
	}
	return parts
}

func ofPut(r *pb.TxnRequest, put *pb.PutRequest) Call {
	c := Call{Op: drivers.OpSet, Key: put.Key}
	if creates(r, put.Key) {
		c.Op = drivers.OpCreate
	}
	if put.Lease != 0 {
		c.Mode = drivers.Ephemeral
	}
	return c
}

// creates reports whether the transaction has the condition that the key does not exist.
func creates(r *pb.TxnRequest, key []byte) bool {
	return slices.ContainsFunc(r.Compare, func(c *pb.Compare) bool {
		never := c.Target == pb.Compare_CREATE && c.GetCreateRevision() == 0 ||
			c.Target == pb.Compare_VERSION && c.GetVersion() == 0
		return never && c.Result == pb.Compare_EQUAL && string(c.Key) == string(key)
	})
}

// ofRange returns a read of one node, or a list if it can return several.
func ofRange(r *pb.RangeRequest) Call {
	if len(r.RangeEnd) > 0 && r.Limit != 1 {
		return Call{Op: drivers.OpChildren, Key: r.Key}
	}
	return Call{Op: drivers.OpGet, Key: r.Key}
}

// Err returns the contract's error for an answer to the call: a write whose condition did not
// hold has failed.
func (c Call) Err(response any) error {
	r, ok := response.(*pb.TxnResponse)
	switch {
	case !ok || r.Succeeded || !c.Op.IsWrite():
		return nil
	case c.Op == drivers.OpCreate:
		return drivers.ErrNodeExists
	}
	return drivers.ErrBadVersion
}

// Change returns what an event says of its key.
func Change(e *mvccpb.Event) drivers.EventType {
	switch {
	case e.Type == mvccpb.Event_DELETE:
		return drivers.Deleted
	case e.GetKv().GetCreateRevision() == e.GetKv().GetModRevision():
		return drivers.Created
	}
	return drivers.DataChanged
}
