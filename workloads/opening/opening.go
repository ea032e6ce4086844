package opening

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/parallel"
)

// DefaultPatience is how long a run waits for a session unless its settings say another time.
const DefaultPatience = 10 * time.Second

// An Opening opens all sessions of a run. A service may accept some and then no more, for ever: for each session that is
// not open yet the Opening bounds the wait, and its errors say how many are open.
type Opening struct {
	Service  drivers.Service
	Patience time.Duration // how long to wait until one more session is open
	// Joining, if set, is called a few times a second during All, and where All fails: so many sessions are open.
	Joining func(open, sessions int)
}

// New returns an Opening with this patience; 0 means DefaultPatience.
func New(on drivers.Service, patience time.Duration, joining func(open, sessions int)) Opening {
	return Opening{Service: on, Patience: cmp.Or(patience, DefaultPatience), Joining: joining}
}

// Dial opens a session that no client has.
func (o Opening) Dial(ctx context.Context, options drivers.Options) (drivers.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	options.Patience = o.Patience
	return o.Service.Dial(ctx, options)
}

// All calls open for the sessions of clients, from 0 to sessions−1. It gives up when none more has been opened for as
// long as its patience lasts.
func (o Opening) All(ctx context.Context, sessions int, open func(ctx context.Context, i int) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(o.Patience, func() { cancel(context.DeadlineExceeded) })
	defer silent.Stop()
	var opened atomic.Int64
	defer o.report(&opened, sessions)()
	err := parallel.ForEach(sessions, func(i int) error {
		if err := open(within, i); err != nil {
			cancel(err) // the others need not wait
			return err
		}
		opened.Add(1)
		silent.Reset(o.Patience)
		return nil
	})
	if err != nil && o.Joining != nil {
		o.Joining(int(opened.Load()), sessions)
	}
	return o.explain(ctx, err, int(opened.Load()), sessions)
}

// Again calls open for one session that takes the place of a lost one. others returns how many of the sessions are open.
func (o Opening) Again(ctx context.Context, open func(context.Context) error, sessions int, others func() int) error {
	within, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	if err := open(within); err != nil {
		return o.explain(ctx, err, others(), sessions)
	}
	return nil
}

// reportEvery is the time between two calls of Joining.
const reportEvery = 250 * time.Millisecond

// report calls joining until the returned function is called.
func (o Opening) report(open *atomic.Int64, sessions int) (end func()) {
	if o.Joining == nil {
		return func() {}
	}
	ended := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		ticks := time.NewTicker(reportEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				o.Joining(int(open.Load()), sessions)
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		all.Wait()
	}
}

// explain returns the error of a session that could not be opened, with how many others are open: none, where other processes
// have taken all that the service accepts.
func (o Opening) explain(ctx context.Context, err error, open, sessions int) error {
	if err == nil || open == 0 && !errors.Is(err, drivers.ErrHungUp) || ctx.Err() != nil {
		return err
	}
	why := Shortage{Open: open, Sessions: sessions, Why: err.Error()}
	if errors.Is(err, drivers.ErrHungUp) {
		on := o.Service.Info()
		if why.Limits = on.URL; on.Ordered() {
			why.Setting = " (maxClientCnxns?)"
		}
	}
	return &Error{why, err}
}

// A Shortage says of a run, or of a part of one, that only some of its sessions could be opened.
type Shortage struct {
	Open, Sessions int
	Why            string // one of the others is not
	Limits         string // the URL of the service that accepts connections, and closes those that are too many; "" if that is not why
	Setting        string // which may be the setting of that, in brackets
}

func (s Shortage) Error() string {
	if s.Limits == "" {
		return fmt.Sprintf("%d of %d sessions are open, and no more: %v", s.Open, s.Sessions, s.Why)
	}
	return fmt.Sprintf("%s: %d of %d sessions are open; the service refuses further connections of this address%s: raise it, or use --agents",
		s.Limits, s.Open, s.Sessions, s.Setting)
}

// An Error is the error of a run of whose sessions only some could be opened.
type Error struct {
	Shortage
	err error // of one of the others
}

// Limited reports whether the service accepts connections, and closes those that are too many.
func (e *Error) Limited() bool { return e.Limits != "" }

// Unwrap returns the error of one of the sessions that are not open.
func (e *Error) Unwrap() error { return e.err }
