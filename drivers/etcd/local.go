package etcd

import (
	"context"
	"crypto/tls"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers/cluster"
)

// How far a member that a run starts persists a write before it answers.
const (
	Fsync = "fsync" // on disk: etcd's default
	// NoFsync leaves that to the operating system: an acknowledged write survives the end of
	// the process, but not a crash of the machine.
	NoFsync = "no-fsync"
)

// ControlRole is the role of a member that compacts nothing: the control plane of a run from several machines, whose
// watches may be disconnected for long.
const ControlRole = "control"

// MemberName returns the name of a member, which no member of another cluster on this machine has:
// it contains the name of the cluster's directory.
func MemberName(p cluster.Place, number int) string {
	return filepath.Base(filepath.Dir(p.Dir)) + "-" + strconv.Itoa(number)
}

// Kind returns the kind of a member that a run starts.
func Kind() cluster.Kind {
	return cluster.Kind{Role: "etcd", Serves: Serves, Leads: Leads, OutlivesFullDisk: true}
}

// Serves returns when a member that a run starts accepts sessions, which requires that its cluster has a leader.
// The member must have the expected name, which another server on the same port would not have.
func Serves(ctx context.Context, p cluster.Place) error { return serves(ctx, nil, p) }

// ServesOver is Serves for members that speak TLS.
func ServesOver(encryption *tls.Config) func(context.Context, cluster.Place) error {
	return func(ctx context.Context, p cluster.Place) error { return serves(ctx, encryption, p) }
}

func serves(ctx context.Context, encryption *tls.Config, p cluster.Place) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !answers(ctx, encryption, p.Own().Clients, MemberName(p, p.Number)) {
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
func answers(ctx context.Context, encryption *tls.Config, address, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, TLS: encryption, DialTimeout: answerTime, Logger: zap.NewNop()})
	if err != nil {
		return false
	}
	defer client.Close()
	answer, err := client.MemberList(ctx)
	return err == nil && slices.ContainsFunc(answer.Members, func(m *pb.Member) bool {
		return m.ID == answer.Header.MemberId && m.Name == name
	})
}
