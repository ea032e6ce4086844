package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

// libraryCall returns the query for a call that a library made on top of the session, or that
// opens or closes the session. It uses the closest operation of the contract.
func (t *tap) libraryCall(request any) *query {
	c := calls.Of(request)
	q := &query{op: c.Op, mode: c.Mode}
	if c.Key != nil {
		q.path = t.keys.Path(string(c.Key))
	}
	if _, ok := request.(*pb.TxnRequest); ok {
		q.judge = func(r *pb.TxnResponse) error { return c.Err(r) }
	}
	return q
}
