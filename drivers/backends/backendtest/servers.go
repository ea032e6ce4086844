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

// startTime is how long a server may take to start. Only a defect takes that long, not
// a JVM on a busy machine.
const startTime = 10 * time.Minute

// servers are the services that were opened. The zero value has none.
type servers struct {
	mu     sync.Mutex
	opened map[wanted]opening
}

// A wanted service is what was asked for.
type wanted struct {
	url       string
	divisible bool
}

// An opening is how it went, once for all.
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

// start has no test's context: the service outlives the test that is first.
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
