package member

import (
	"context"
	"net"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers/cluster"
)

// Serves returns when a member that [Run] runs accepts sessions, which requires that its
// cluster has a leader. The member must have the expected name, which another server on the
// same port would not have.
func Serves(ctx context.Context, p cluster.Place) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !answers(ctx, p.Own().Clients, memberName(p, p.Number)) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// answerTime is how long a member has to answer before it is asked again.
const answerTime = time.Second

// answers reports whether the member with this name answers a linearizable request for the
// members, which it can do only in contact with the leader. It checks first that the member
// accepts connections, since the library would wait for as long as it does not.
func answers(ctx context.Context, address, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, DialTimeout: answerTime, Logger: zap.NewNop()})
	if err != nil {
		return false
	}
	defer client.Close()
	answer, err := client.MemberList(ctx)
	return err == nil && slices.ContainsFunc(answer.Members, func(m *pb.Member) bool {
		return m.ID == answer.Header.MemberId && m.Name == name
	})
}
