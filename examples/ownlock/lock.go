package main

import (
	"context"
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A patientLock is one ephemeral node. A client that finds the node waits and tries again, with
// a pause that doubles each time up to maxPause. No client sets a watch.
type patientLock struct {
	conn drivers.Conn
	node string
	held context.CancelFunc
}

func newPatientLock(c drivers.Conn, path string) *patientLock {
	return &patientLock{conn: c, node: path + "/holder"}
}

const (
	firstPause = time.Millisecond
	maxPause   = 32 * time.Millisecond
)

// Acquire tries until it has created the node.
func (l *patientLock) Acquire(ctx context.Context) (held context.Context, err error) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		_, err := l.conn.Create(ctx, l.node, nil, drivers.Ephemeral)
		if err == nil {
			held, l.held = drivers.Bound(ctx, l.conn)
			return held, nil
		}
		if !errors.Is(err, drivers.ErrNodeExists) {
			return nil, err
		}
		if err := drivers.Pause(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// Token returns NoSeq: the node has no sequence number, so the lock has no fencing token.
func (l *patientLock) Token() int64 { return drivers.NoSeq }

// Release deletes the node.
func (l *patientLock) Release(ctx context.Context) error {
	l.held()
	return l.conn.Delete(ctx, l.node, drivers.AnyVersion)
}
