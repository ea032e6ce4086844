package main

import (
	"context"
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A patientLock is one ephemeral node. A client that finds the node waits and tries again, with
// a pause that doubles each time up to maxPause. No client sets a watch.
type patientLock struct {
	conn drivers.Conn
	node *protected.Claim // creates the node once, even if replies are lost
	end  context.CancelFunc
}

func newPatientLock(c drivers.Conn, path string) *patientLock {
	return &patientLock{conn: drivers.Steady(c), node: protected.NewSingleNode(c, path+"/holder"), end: func() {}}
}

const (
	firstPause = time.Millisecond
	maxPause   = 32 * time.Millisecond
)

// Acquire tries until it has created the node. The context that it returns is for the work under
// the lock: it ends when ctx does, when the lock is released, and when the session is lost. If
// Acquire fails, it leaves no node behind.
func (l *patientLock) Acquire(ctx context.Context) (held context.Context, err error) {
	if err := l.wait(ctx); err != nil {
		return nil, errors.Join(err, l.node.Abandon(ctx))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *patientLock) wait(ctx context.Context) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := l.node.Create(ctx)
		if !errors.Is(err, drivers.ErrNodeExists) {
			return err
		}
		if err := drivers.Pause(ctx, pause); err != nil {
			return err
		}
	}
}

// Token returns NoSeq: the node has no sequence number, so the lock has no fencing token.
func (l *patientLock) Token() int64 { return drivers.NoSeq }

// Release deletes the node.
func (l *patientLock) Release(ctx context.Context) error {
	l.end()
	return l.node.Remove(ctx)
}
