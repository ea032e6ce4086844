package etcd

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/drivers/local"
)

// Serves returns when a member that [RunMember] runs accepts sessions, which requires that its
// cluster has a leader. The member must have the expected name, which another server on the
// same port would not have.
func Serves(ctx context.Context, p local.Place) error {
	s, err := New(Config{Endpoints: []string{p.Own().Clients}})
	if err != nil {
		return err
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !s.isMember(ctx, memberName(p, p.Number)) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// isMember makes a linearizable request for the members, so that only a member in contact with
// the leader answers.
func (s *Service) isMember(ctx context.Context, name string) bool {
	c, err := s.direct(ctx, s.config.Endpoints[0])
	if err != nil {
		return false
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	answer, err := c.MemberList(ctx)
	return err == nil && slices.ContainsFunc(answer.Members, func(m *pb.Member) bool {
		return m.ID == answer.Header.MemberId && m.Name == name
	})
}

// Leads asks a server whether it is the leader. A single server is the leader.
func Leads(ctx context.Context, address string) (bool, error) {
	s, err := New(Config{Endpoints: []string{address}})
	if err != nil {
		return false, err
	}
	return s.leads(ctx, address)
}

func (s *Service) leads(ctx context.Context, address string) (bool, error) {
	c, err := s.direct(ctx, address)
	if err != nil {
		return false, err
	}
	defer c.Close()
	status, err := c.Status(ctx, address)
	switch {
	case err != nil:
		return false, fmt.Errorf("etcd %s: status: %w", address, err)
	case status.Leader == 0:
		return false, fmt.Errorf("etcd %s: status: it knows of no leader just now", address)
	}
	return status.Leader == status.Header.MemberId, nil
}

// direct returns a client of one server, for requests to that server. It checks first that the
// server accepts connections, since the library would wait for as long as it does not.
func (s *Service) direct(ctx context.Context, address string) (*clientv3.Client, error) {
	c, err := s.config.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c.Close()
	return clientv3.New(clientv3.Config{
		Endpoints:   []string{s.scheme() + address},
		TLS:         s.config.TLS,
		Username:    s.config.Username,
		Password:    string(s.config.Password),
		DialTimeout: s.config.DialTimeout,
		DialOptions: []grpc.DialOption{s.patience()},
		Logger:      zap.NewNop(),
	})
}
