package backendtest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
)

// shared are the servers of this test binary: processes beside it, of which
// there is one each as there is one of it.
var shared servers

// startTime is ample for a JVM on a machine that is busy with other tests.
const startTime = time.Minute

// servers are the services that were opened, by URL. The zero value has none.
type servers struct {
	mu     sync.Mutex
	opened map[string]opening
}

// An opening is how it went, once for all.
type opening struct {
	service drivers.Service
	err     error
}

func (s *servers) open(url string) (drivers.Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, done := s.opened[url]
	if !done {
		o.service, o.err = start(url)
		if s.opened == nil {
			s.opened = map[string]opening{}
		}
		s.opened[url] = o
	}
	return o.service, o.err
}

// start has no test's context: the service outlives the test that is first.
func start(url string) (drivers.Service, error) {
	target, err := backends.Parse(url)
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
