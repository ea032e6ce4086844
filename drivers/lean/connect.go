package lean

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// connect tries the servers in turn until one accepts the session, the context ends, or
// further attempts are useless. The first attempts are made immediately. When every server has
// failed, connect pauses before each attempt.
func (c *Conn) connect(ctx context.Context) (*link, error) {
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

// pause waits for d, and reports whether the context is still active.
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

// timeout returns how long the service keeps the session; before that is granted, the
// requested timeout.
func (c *Conn) timeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.session.Timeout) * time.Millisecond
}

// attempt connects to a server and opens or resumes the session there. Each server gets an
// equal share of the session's timeout, and one share is left over.
func (c *Conn) attempt(ctx context.Context, address string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout()/time.Duration(len(c.ensemble.Servers)+1))
	defer cancel()
	nc, err := c.ensemble.Connect(ctx, address, c.options.Through)
	if err != nil {
		return nil, err
	}
	l := newLink(c, nc)
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
