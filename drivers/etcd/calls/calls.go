// Package calls classifies etcd's calls by the closest operation of the contract of package
// drivers, for calls that other code made: a library on top of a session, or another program.
package calls

import (
	"bytes"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// A Call is one unary call.
type Call struct {
	Op   drivers.Op
	Key  []byte // nil if the call concerns no key
	Mode drivers.Mode
	At   int64   // the revision whose state a read asks for, 0 for the current one
	many bool    // a read of a range of keys
	bare bool    // a read without values
	in   []place // of an operation of a transaction: those that lead to it, from outside, with its own
}

// A place is that of an operation in a transaction.
type place struct {
	index     int32
	otherwise bool // it is executed if a condition does not hold
}

// maxNested is how deep transactions may be nested: deeper ones are not decoded.
const maxNested = 8

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
		return Call{Op: drivers.OpDelete, Key: Covering(r.Key, r.RangeEnd)}
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
	parts, _ := Parts(r)
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

// Parts returns the operations that a transaction executes if its conditions hold, and those of the
// transactions nested in it. It returns false if they are nested too deep.
func Parts(r *pb.TxnRequest) (parts []Call, known bool) {
	all, known := Operations(r)
	return slices.DeleteFunc(all, Call.Otherwise), known
}

// Operations returns the operations of a transaction whether its conditions hold or not, and those of the transactions
// nested in it, in the order of [Parts]. It returns false if they are nested too deep.
func Operations(r *pb.TxnRequest) ([]Call, bool) { return appendOperations(nil, r, nil, nil) }

// Otherwise reports whether the operation of a transaction is executed only if a condition does not hold.
func (c Call) Otherwise() bool {
	return slices.ContainsFunc(c.in, func(p place) bool { return p.otherwise })
}

// appendOperations appends the operations of a transaction at a place, which is executed under further conditions.
func appendOperations(all []Call, r *pb.TxnRequest, in []place, outer []*pb.Compare) ([]Call, bool) {
	if len(in) > maxNested {
		return nil, false
	}
	conditions := append(slices.Clip(outer), r.Compare...)
	for i, op := range append(slices.Clip(r.Success), r.Failure...) {
		at := place{index: int32(i)}
		if otherwise := i - len(r.Success); otherwise >= 0 {
			at, conditions = place{int32(otherwise), true}, nil
		}
		var c Call
		switch op := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			c = ofRange(op.RequestRange)
		case *pb.RequestOp_RequestPut:
			c = ofPut(conditions, op.RequestPut)
		case *pb.RequestOp_RequestDeleteRange:
			c = Classify(op.RequestDeleteRange)
		case *pb.RequestOp_RequestTxn:
			var known bool
			if all, known = appendOperations(all, op.RequestTxn, append(slices.Clip(in), at), conditions); !known {
				return nil, false
			}
			continue
		default:
			continue
		}
		c.in = append(slices.Clip(in), at)
		all = append(all, c)
	}
	return all, true
}

func ofPut(conditions []*pb.Compare, put *pb.PutRequest) Call {
	c := Call{Op: drivers.OpSet, Key: put.Key}
	if creates(conditions, put.Key) {
		c.Op = drivers.OpCreate
	}
	if put.Lease != 0 {
		c.Mode = drivers.Ephemeral
	}
	return c
}

// creates reports whether one of the conditions is that the key does not exist.
func creates(conditions []*pb.Compare, key []byte) bool {
	return slices.ContainsFunc(conditions, func(c *pb.Compare) bool {
		never := c.Target == pb.Compare_CREATE && c.GetCreateRevision() == 0 ||
			c.Target == pb.Compare_VERSION && c.GetVersion() == 0
		return never && c.Result == pb.Compare_EQUAL && string(c.Key) == string(key)
	})
}

// ofRange returns a read of one node, or a list if it can return several.
func ofRange(r *pb.RangeRequest) Call {
	c := Call{Op: drivers.OpGet, Key: Covering(r.Key, r.RangeEnd), At: r.Revision, many: len(r.RangeEnd) > 0}
	c.bare = r.KeysOnly || r.CountOnly
	if c.many && r.Limit != 1 {
		c.Op = drivers.OpChildren
	}
	return c
}

// all is the end of a range without an end.
const all = "\x00"

// Covering returns a key such that all keys of a range begin with it: the one that begins the range, if
// it does not end later, else one that ends in a slash. All keys of the service are those below "/",
// whatever they begin with. Without an end the range is one key.
func Covering(key, end []byte) []byte {
	if len(end) == 0 || endsWithin(end, key) {
		return key
	}
	for i := bytes.LastIndexByte(key, '/'); i > 0; i = bytes.LastIndexByte(key[:i], '/') {
		if endsWithin(end, key[:i+1]) {
			return key[:i+1]
		}
	}
	return []byte("/")
}

// endsWithin reports whether a range that begins at or after a prefix ends with its keys or before.
func endsWithin(end, prefix []byte) bool {
	return string(end) != all && string(end) <= clientv3.GetPrefixRangeEnd(string(prefix))
}

// Executed reports whether an operation of a transaction was executed: whether the conditions of the transaction and of
// those around it held, or one did not where it is to be executed otherwise. So is each call that is no transaction.
func (c Call) Executed(response any) bool {
	r, ok := response.(*pb.TxnResponse)
	return !ok || c.surrounding(r) != nil
}

// surrounding returns the answer to the transaction that the operation is in, nil if the operation was not executed.
func (c Call) surrounding(r *pb.TxnResponse) *pb.TxnResponse {
	for i, p := range c.in {
		if r.GetSucceeded() == p.otherwise {
			return nil
		}
		if i == len(c.in)-1 {
			break
		}
		r = answerAt(r, p).GetResponseTxn()
	}
	return r
}

// answerAt returns the answer to the operation at a place, nil if the transaction has none.
func answerAt(r *pb.TxnResponse, p place) *pb.ResponseOp {
	if int(p.index) >= len(r.GetResponses()) {
		return nil
	}
	return r.Responses[p.index]
}

// Sight returns what the answer to a read shows, and false if it shows no key: the read was not executed, or the answer
// lacks keys of the range, as one that counts them, has a limit or filters them by revision. Of a single key it shows at
// least whether it is there.
func (c Call) Sight(response any) (s drivers.Sight, shows bool) {
	r, ok := response.(*pb.RangeResponse)
	if txn, in := response.(*pb.TxnResponse); in {
		if txn = c.surrounding(txn); txn != nil && len(c.in) > 0 {
			r = answerAt(txn, c.in[len(c.in)-1]).GetResponseRange()
		}
		ok = r != nil
	}
	if !ok || !c.Op.IsRead() {
		return s, false
	}
	whole := int64(len(r.Kvs)) >= r.Count   // a limit or a filter does not change the count
	none := r.Count == 0 && len(r.Kvs) == 0 // which is all that there is to show
	return drivers.Sight{Path: c.Key, Pos: c.At, Below: c.many, Values: none || whole && !c.bare}, whole || !c.many
}

// Err returns the contract's error for an answer to the call: a write whose condition did not
// hold has failed, and so has a delete that found nothing to delete.
func (c Call) Err(response any) error {
	switch {
	case !c.Op.IsWrite():
		return nil
	case c.Executed(response) && c.deletedNothing(response):
		return drivers.ErrNoNode
	case c.Executed(response):
		return nil
	case c.Op == drivers.OpCreate:
		return drivers.ErrNodeExists
	}
	return drivers.ErrBadVersion
}

// deletedNothing reports whether the call deletes, and the answer says that there was nothing to delete.
func (c Call) deletedNothing(response any) bool {
	r, _ := response.(*pb.DeleteRangeResponse)
	if txn, in := response.(*pb.TxnResponse); in && len(c.in) > 0 {
		r = answerAt(c.surrounding(txn), c.in[len(c.in)-1]).GetResponseDeleteRange()
	}
	return r != nil && r.Deleted == 0
}

// WroteOtherwise reports whether a transaction, or one nested in it, has written what it names for the
// case that a condition does not hold. [Parts] has no such operations.
func WroteOtherwise(r *pb.TxnResponse) bool { return wrote(r, false) }

// wrote reports whether a transaction has written otherwise, as all that it has written is if it is
// otherwise's.
func wrote(r *pb.TxnResponse, otherwise bool) bool {
	otherwise = otherwise || !r.GetSucceeded()
	return slices.ContainsFunc(r.GetResponses(), func(op *pb.ResponseOp) bool {
		if nested := op.GetResponseTxn(); nested != nil {
			return wrote(nested, otherwise)
		}
		return otherwise && op.GetResponseRange() == nil
	})
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
