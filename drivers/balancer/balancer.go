package balancer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// The servers on which sessions are opened.
const (
	All       = "all"
	Leader    = "leader"
	Followers = "followers"
)

// Names returns all of these, the default first.
func Names() []string { return []string{All, Leader, Followers} }

// Leads asks a server whether it is the leader. A server that cannot say is an error.
type Leads func(ctx context.Context, server string) (bool, error)

// A Balancer chooses servers for sessions.
//
// It chooses only where a session is opened. A session whose server fails connects to any
// other server, as it would without a choice: a session that waited for a server of the
// right kind could wait so long that it is lost.
type Balancer struct {
	over    string // one of Names, or "" for All
	servers []string
	leads   Leads

	turn  atomic.Uint32
	asks  chan struct{} // holds a value while a caller asks the servers; guards all fields below
	fit   []int         // indices of the servers to choose from, as of asked
	asked time.Time
}

// New returns a Balancer over servers. over is one of Names; "" means All.
func New(over string, servers []string, leads Leads) *Balancer {
	return &Balancer{over: over, servers: servers, leads: leads, asks: make(chan struct{}, 1)}
}

// Next returns the index of the server on which to open the next session. While no server
// fits, as during an election, it waits for one.
func (s *Balancer) Next(ctx context.Context) (int, error) {
	turn := int(s.turn.Add(1))
	if s.over == "" || s.over == All {
		return turn % len(s.servers), nil
	}
	select {
	case s.asks <- struct{}{}:
		defer func() { <-s.asks }()
	case <-ctx.Done():
		return 0, s.none(nil, ctx)
	}
	if err := s.refresh(ctx); err != nil {
		return 0, err
	}
	return s.fit[turn%len(s.fit)], nil
}

const (
	// lasting is how long an answer is taken as true: the leader changes seldom, and
	// thousands of sessions may be opened in a second.
	lasting = time.Second
	// patience is how long a server may take to answer: a stopped one never does.
	patience = 500 * time.Millisecond
	// again is how long to wait before asking again, if no server fits.
	again = 20 * time.Millisecond
)

// refresh finds out which servers fit, unless that is known, and waits until one does.
func (s *Balancer) refresh(ctx context.Context) error {
	for len(s.fit) == 0 || time.Since(s.asked) > lasting {
		fit, err := s.ask(ctx)
		if s.fit, s.asked = fit, time.Now(); len(fit) > 0 {
			return nil
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return s.none(err, ctx)
		}
	}
	return nil
}

// none returns the error for no server. It has what one of the servers answered, if any
// did.
func (s *Balancer) none(err error, ctx context.Context) error {
	why := context.Cause(ctx)
	if err != nil && !errors.Is(err, why) {
		why = fmt.Errorf("%w (%w)", err, why)
	}
	return fmt.Errorf("clients=%s: no server to open a session at: %w", s.over, why)
}

// ask asks all servers at the same time and returns those that fit. The error is that of
// a server that cannot say.
func (s *Balancer) ask(ctx context.Context) (fit []int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	leads, errs := make([]bool, len(s.servers)), make([]error, len(s.servers))
	var all sync.WaitGroup
	for i, server := range s.servers {
		all.Go(func() { leads[i], errs[i] = s.leads(ctx, server) })
	}
	all.Wait()
	for i := range s.servers {
		switch {
		case errs[i] != nil:
			err = errs[i]
		case leads[i] == (s.over == Leader):
			fit = append(fit, i)
		}
	}
	return fit, err
}
