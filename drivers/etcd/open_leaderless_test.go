package etcd

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/drivers"
)

// A leaderless member grants leases, and has lost its leader when the session's key is to be written.
type leaderless struct {
	pb.UnimplementedKVServer
	pb.UnimplementedLeaseServer
	leases  pb.LeaseClient // of the member that it stands for
	refused atomic.Int64
}

func (l *leaderless) LeaseGrant(ctx context.Context, r *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	return l.leases.LeaseGrant(ctx, r)
}

func (l *leaderless) Txn(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) {
	l.refused.Add(1)
	return nil, rpctypes.ErrGRPCNoLeader
}

// TestASessionOpensAlthoughTheLeaderIsLost opens a session at a member that loses its leader after it has granted the
// lease. The session goes on at another member.
func TestASessionOpensAlthoughTheLeaderIsLost(t *testing.T) {
	s := quick(t)
	member := s.config.Endpoints[0]
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{member}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lost := &leaderless{leases: pb.NewLeaseClient(c.ActiveConnection())}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterKVServer(server, lost)
	pb.RegisterLeaseServer(server, lost)
	go server.Serve(l)
	defer server.Stop()
	next := service(t, Config{Endpoints: []string{member, l.Addr().String()}, Prefix: s.config.Prefix}) // its first session takes the second endpoint
	create(t, dial(t, next, drivers.Options{}), "/made", 0)
	if lost.refused.Load() == 0 {
		t.Error("the session was not opened at the member that has lost its leader")
	}
}
