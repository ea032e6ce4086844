package lean

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// connect tries the servers in turn until one takes the session, the context
// ends, or it is of no use to try further. The first attempts are made at once;
// when every server has failed, a pause goes before each.
func (c *Conn) connect(ctx context.Context) (*line, error) {
	servers := c.ensemble.Servers
	var last error
	for tries := 0; ; tries++ {
		if !pause(ctx, ensemble.Backoff(tries/len(servers))) {
			return nil, c.ensemble.Unreachable(context.Cause(ctx), last)
		}
		c.turn = (c.turn + 1) % len(servers)
		l, err := c.attempt(ctx, servers[c.turn])
		switch {
		case err == nil:
			return l, nil
		case ensemble.Refusal(err), errors.Is(err, errExpired), errors.Is(err, drivers.ErrRefused):
			return nil, c.ensemble.Unreachable(err, nil)
		case last == nil || ctx.Err() == nil:
			last = err
		}
	}
}

// pause tells whether the context has outlived it.
func pause(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// timeout is how long the service keeps the session, or is asked to.
func (c *Conn) timeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.session.Timeout) * time.Millisecond
}

// attempt connects to a server and takes the session up there. Of the time that
// the session has left, each server gets its share, and there is some to spare.
func (c *Conn) attempt(ctx context.Context, address string) (*line, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout()/time.Duration(len(c.ensemble.Servers)+1))
	defer cancel()
	nc, err := c.ensemble.Connect(ctx, address, c.options.Through)
	if err != nil {
		return nil, err
	}
	l := newLine(c, nc)
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	err = l.open()
	if err == nil {
		err = l.introduce()
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.cut()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return l, nil
}
