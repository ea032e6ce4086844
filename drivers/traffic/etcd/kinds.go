package etcd

import (
	"hash/maphash"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// The methods that are streams.
const (
	watchMethod     = "/etcdserverpb.Watch/Watch"
	keepAliveMethod = "/etcdserverpb.Lease/LeaseKeepAlive"
)

// A kind is a unary method whose messages are decoded.
type kind struct{ request, response func() proto.Message }

var kinds = map[string]kind{
	"/etcdserverpb.KV/Range":       {message[pb.RangeRequest], message[pb.RangeResponse]},
	"/etcdserverpb.KV/Put":         {message[pb.PutRequest], message[pb.PutResponse]},
	"/etcdserverpb.KV/DeleteRange": {message[pb.DeleteRangeRequest], message[pb.DeleteRangeResponse]},
	"/etcdserverpb.KV/Txn":         {message[pb.TxnRequest], message[pb.TxnResponse]},
	"/etcdserverpb.Lease/LeaseGrant": {
		message[pb.LeaseGrantRequest], message[pb.LeaseGrantResponse],
	},
	"/etcdserverpb.Lease/LeaseRevoke": {
		message[pb.LeaseRevokeRequest], message[pb.LeaseRevokeResponse],
	},
}

// message makes an empty message.
func message[T any, M interface {
	*T
	proto.Message
}]() proto.Message {
	return M(new(T))
}

// seed makes the digests of this process differ from those of others.
var seed = maphash.MakeSeed()

// answer adds what a response says.
func (d *decoder) answer(s *stream, m *drivers.Message, response proto.Message) {
	if r, ok := response.(interface{ GetHeader() *pb.ResponseHeader }); ok {
		m.Pos = r.GetHeader().GetRevision()
	}
	m.Err = s.call.Err(response)
	switch r := response.(type) {
	case *pb.LeaseGrantResponse:
		d.tap.Session(d.at, traffic.Session{ID: r.ID, Timeout: time.Duration(r.TTL) * time.Second})
	case *pb.RangeResponse:
		m.Digest = digest(r)
	case *pb.TxnResponse:
		m.Parts = s.answeredParts(r)
	}
}

// answeredParts returns the parts of an answered transaction. Which of its conditions failed is not
// known: all parts that write have failed then. Nothing is known of reads if it failed, because
// it executed others.
func (s *stream) answeredParts(r *pb.TxnResponse) (parts []drivers.Part) {
	for _, p := range s.parts {
		p.Err = calls.Call{Op: p.Op}.Err(r)
		if r.Succeeded || p.Op.IsWrite() {
			parts = append(parts, p)
		}
	}
	return parts
}

// digest is equal for two ranges that returned the same keys and values. The header, which has
// the revision of the whole store, is no part of it.
func digest(r *pb.RangeResponse) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, kv := range r.Kvs {
		h.Write(kv.Key)
		maphash.WriteComparable(&h, kv.ModRevision)
	}
	return h.Sum64()
}
