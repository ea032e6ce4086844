package backendtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
)

// shared has the servers of this test binary: one process of each kind beside it.
var shared servers

// startTime is how long a server may take to start. Even a JVM on a busy machine is faster: only a
// defect takes that long.
const startTime = 10 * time.Minute

// servers has the services that were opened. The zero value has none.
type servers struct {
	mu     sync.Mutex
	opened map[wanted]opening
}

// A wanted service is identified by what a test asked for.
type wanted struct {
	url       string
	divisible bool
}

// An opening is the result of opening a service, which is done once.
type opening struct {
	service drivers.Service
	err     error
}

func (s *servers) open(url string, with backends.Options) (drivers.Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := wanted{url, with.Divisible}
	o, done := s.opened[w]
	if !done {
		o.service, o.err = start(url, with)
		if s.opened == nil {
			s.opened = map[wanted]opening{}
		}
		s.opened[w] = o
	}
	return o.service, o.err
}

// start does not use a test's context: the service outlives the first test that uses it.
func start(url string, with backends.Options) (drivers.Service, error) {
	target, err := backends.Parse(url)
	if err == nil {
		target, err = target.With(with)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	return target.Open(ctx)
}

func (s *servers) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, o := range s.opened {
		if o.err == nil {
			errs = append(errs, o.service.Close())
		}
	}
	return errors.Join(errs...)
}
