package calls

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/stampede-bench/stampede/drivers"
)

// TestCovering has ranges of each kind: one key, a prefix, a part of a prefix, all keys, and all from a
// key on.
func TestCovering(t *testing.T) {
	for _, c := range []struct{ key, end, want string }{
		{"/a", "", "/a"},
		{"/a", "/a\x00", "/a"},
		{"/a/", "/a0", "/a/"},
		{"/a", "/b", "/a"},
		{"job", "joc", "job"},
		{"/a/k5\x00", "/a0", "/a/"},
		{"/a/1", "/a/5", "/a/"},
		{"/a/b/1", "/a/c/5", "/a/"},
		{"/a/1", "/b/5", "/"},
		{"a", "c", "/"},
		{"a\xff", "b", "a\xff"},
		{"\xff", "\x00", "/"},
		{"", "\x00", "/"},
		{"\x00", "\x00", "/"},
		{"/a", "\x00", "/"},
		{"/", "0", "/"},
		{"", "", ""},
	} {
		if got := string(Covering([]byte(c.key), []byte(c.end))); got != c.want {
			t.Errorf("[%q, %q) is covered by %q, want %q", c.key, c.end, got, c.want)
		}
	}
	all := Classify(&pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}})
	if all.Op != drivers.OpChildren || string(all.Key) != "/" {
		t.Errorf("a read of all keys is %v of %q, want a list of /", all.Op, all.Key)
	}
}

// TestADeleteThatFindsNothingFails has a key deleted that exists and one that does not, by a call of its own and in a transaction.
func TestADeleteThatFindsNothingFails(t *testing.T) {
	one := &pb.DeleteRangeRequest{Key: []byte("/a")}
	txn := &pb.TxnRequest{Success: []*pb.RequestOp{{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: one}}}}
	for deleted, want := range map[int64]error{0: drivers.ErrNoNode, 1: nil} {
		answer := &pb.DeleteRangeResponse{Deleted: deleted}
		if err := Classify(one).Err(answer); err != want {
			t.Errorf("%d deleted: %v, want %v", deleted, err, want)
		}
		in := &pb.TxnResponse{Succeeded: true, Responses: []*pb.ResponseOp{{Response: &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: answer}}}}
		if err := Classify(txn).Err(in); err != want {
			t.Errorf("%d deleted in a transaction: %v, want %v", deleted, err, want)
		}
	}
	if err := Classify(txn).Err(&pb.TxnResponse{}); err != drivers.ErrBadVersion {
		t.Errorf("a transaction whose condition does not hold: %v", err)
	}
}
