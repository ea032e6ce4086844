package lean

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// connected waits for a connection that accepts calls.
func (c *Conn) connected(ctx context.Context) (*link, error) {
	for {
		if l := c.link.Load(); l != nil {
			return l, nil
		}
		wake, err := c.sleep()
		if err != nil {
			return nil, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// sleep returns a channel that is closed when there may be a connection: immediately if there
// is one since the caller last looked.
func (c *Conn) sleep() (wake <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil, drivers.ErrSessionLost
	}
	if c.wake == nil {
		c.wake = make(chan struct{})
	}
	wake = c.wake
	if c.link.Load() != nil {
		c.rouse()
	}
	return wake, nil
}

// rouse wakes the calls that wait for a connection. The caller holds the lock.
func (c *Conn) rouse() {
	if c.wake != nil {
		close(c.wake)
		c.wake = nil
	}
}
