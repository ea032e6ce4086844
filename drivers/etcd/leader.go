package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

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
		return false, fmt.Errorf("etcd %s: status: the member knows no leader", address)
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
