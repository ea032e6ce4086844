package etcd

import (
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
)

// response is an answer that has every field.
func response(t testing.TB) []byte {
	t.Helper()
	b, err := proto.Marshal(&pb.RangeResponse{
		Header: &pb.ResponseHeader{ClusterId: 1, MemberId: 2, Revision: 300, RaftTerm: 4},
		Kvs: []*mvccpb.KeyValue{
			{Key: []byte("/p/2/a/größe"), CreateRevision: 7, ModRevision: 8, Version: 9, Value: []byte("v"), Lease: 10},
			{Key: []byte("/p/2/a/n-~1z.2"), CreateRevision: 200, ModRevision: 200, Version: 1},
		},
		More: true, Count: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestListing(t *testing.T) {
	l := listing{below: len("/p/2/a/")}
	if err := (listingCodec{}).Unmarshal(mem.BufferSlice{mem.SliceBuffer(response(t))}, &l); err != nil {
		t.Fatal(err)
	}
	want := []drivers.Child{{Name: "größe", Seq: drivers.NoSeq}, {Name: "n-~1z.2", Seq: 200}}
	if l.GetHeader().Revision != 300 || !slices.Equal(l.children, want) {
		t.Errorf("revision %d, children %+v; want 300, %+v", l.revision, l.children, want)
	}
}

// Any input is parsed or rejected.
func FuzzListing(f *testing.F) {
	f.Add(response(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := listing{below: 7}
		if ours, theirs := l.parse(b), proto.Unmarshal(b, new(pb.RangeResponse)); ours != nil && theirs == nil {
			t.Errorf("refused %x, which is an answer: %v", b, ours)
		}
	})
}
