package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// servers are the shared servers: separate processes that end with this one.
type servers struct{ running []server }

type server struct {
	variable string // environment variable for its address
	service  drivers.Service
}

// startServers starts one server of each kind that is installed.
func startServers(ctx context.Context) (*servers, error) {
	s := new(servers)
	for _, kind := range []struct{ variable, url string }{
		{testenv.ZooKeeper, "zookeeper:"},
		{testenv.Etcd, "etcd:?durability=no-fsync"},
	} {
		service, err := start(ctx, kind.url)
		if errors.Is(err, zookeeper.ErrNotInstalled) {
			fmt.Fprintf(os.Stderr, "!!!!! %v: the tests that need it are SKIPPED\n", err)
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start %s %w", kind.url, err), s.close())
		}
		s.running = append(s.running, server{kind.variable, service})
	}
	return s, nil
}

func start(ctx context.Context, url string) (drivers.Service, error) {
	target, err := backends.Parse(url)
	if err != nil {
		return nil, err
	}
	return target.Open(ctx)
}

// environment returns the environment variables with the servers' addresses.
func (s *servers) environment() (variables []string) {
	for _, r := range s.running {
		address := r.service.(drivers.Ensemble).Members()[0].Address()
		variables = append(variables, r.variable+"="+address)
	}
	return variables
}

func (s *servers) close() error {
	var errs []error
	for _, r := range s.running {
		errs = append(errs, r.service.Close())
	}
	return errors.Join(errs...)
}
