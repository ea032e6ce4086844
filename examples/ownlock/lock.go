package main

import (
	"context"
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A patientLock is one ephemeral node. Who finds it made waits, for twice as long
// each time, and tries again: nobody watches anything.
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

// Acquire tries until it has made the node.
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

// Token is that there is none: the node has no sequence.
func (l *patientLock) Token() int64 { return drivers.NoSeq }

// Release removes the node.
func (l *patientLock) Release(ctx context.Context) error {
	l.held()
	return l.conn.Delete(ctx, l.node, drivers.AnyVersion)
}
