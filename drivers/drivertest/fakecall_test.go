package drivertest

import (
	"context"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// call sends a request to the service and waits for the reply. do executes the request,
// with the service locked.
func (c *fakeConn) call(ctx context.Context, m drivers.Message, w drivers.Watch, do func() answer) error {
	k := &fakeCall{answered: make(chan struct{})}
	c.f.travel()
	if err := c.send(ctx, k, m, w, do); err != nil {
		return err
	}
	switch c.f.bug {
	case ignoresContext:
		waiting, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), 2*patience, errHung)
		defer cancel()
		ctx = waiting
	case watchesEndWithContext:
		context.AfterFunc(ctx, func() { c.disarm(k) })
	}
	select {
	case <-k.answered:
	case <-ctx.Done():
		if c.settle(k, context.Cause(ctx)) && m.Op == drivers.OpSet && c.f.bug == appliesCancelledLate {
			c.late = k.again
		}
	}
	return k.err
}

func (c *fakeConn) disarm(k *fakeCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.watch != nil {
		k.watch.armed = false
	}
}

// send waits for a connection and sends the request.
func (c *fakeConn) send(ctx context.Context, k *fakeCall, m drivers.Message, w drivers.Watch, do func() answer) error {
	done := c.done
	if c.f.bug == answersAfterEnd {
		done = nil
	}
	for {
		if ctx.Err() != nil && c.f.bug != ignoresContext {
			return context.Cause(ctx)
		}
		c.mu.Lock()
		up := c.up
		c.mu.Unlock()
		if c.f.bug == failsWhileAway {
			select {
			case <-up:
			default:
				return drivers.ErrConnectionLoss
			}
		}
		select {
		case <-up:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-done:
			return drivers.ErrSessionLost
		}
		if sent, err := c.ask(up, k, m, w, do); sent || err != nil {
			return err
		}
	}
}

// ask returns false if the connection that was up is broken.
func (c *fakeConn) ask(up chan struct{}, k *fakeCall, m drivers.Message, w drivers.Watch, do func() answer) (bool, error) {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	c.mu.Lock()
	current, lost := c.up == up, c.lost
	if current && !lost && f.conns[c] {
		c.calls[k] = true
	}
	c.mu.Unlock()
	if lost || !f.conns[c] {
		if f.bug == answersAfterEnd {
			close(k.answered)
			return true, do().err
		}
		return false, drivers.ErrSessionLost
	}
	if !current {
		return false, nil
	}
	c.perform(k, m, w, do)
	return true, nil
}

func (c *fakeConn) perform(k *fakeCall, m drivers.Message, w drivers.Watch, do func() answer) {
	m.Kind, m.Watch = drivers.Request, w != nil && m.Op != drivers.OpFlush
	m.Size += 20 + len(m.Path)
	c.report(m)
	c.f.writer = c
	a := do()
	k.err, k.again = a.err, func() { do() }
	reply := m
	reply.Kind, reply.Err, reply.Pos, reply.Size = drivers.Reply, a.err, c.f.pos, 20+a.size
	if w != nil && (a.err == nil || c.f.bug == armsOnErrors) {
		c.arm(k, m, w, a)
	}
	if a.parts != nil {
		reply.Parts = a.parts
	}
	if a.missing {
		reply.Err = drivers.ErrNoNode
	}
	if a.made != "" {
		reply.Path = []byte(a.made)
	}
	switch c.f.bug {
	case probePosIsZero:
		reply.Pos = 0
	case probeHidesErrors:
		reply.Err = nil
	}
	c.push(packet{call: k, reply: reply})
	if c.f.bug == firesForContained && k.watch != nil && a.version > 0 {
		e := drivers.Event{Type: drivers.DataChanged, Path: string(m.Path)}
		c.push(packet{event: e, watches: []*fakeWatch{k.watch}})
	}
}

// arm adds the watch to the table of what it covers.
func (c *fakeConn) arm(k *fakeCall, m drivers.Message, w drivers.Watch, a answer) {
	f := c.f
	p := string(m.Path)
	k.watch = &fakeWatch{conn: c, fire: w, armed: a.err != nil} // armed by a call that failed: a bug
	if a.keeps != nil {
		f.enter(a.keeps, k.watch)
		return
	}
	table := fakeTable{p, m.Op == drivers.OpChildren && f.bug != listWatchesData}
	switch f.bug {
	case armsLate:
		// The read is done, the watch is not armed yet.
		f.mu.Unlock()
		f.pause(time.Microsecond)
		f.mu.Lock()
	case armsOnce:
		if c.armed[p] {
			return
		}
		c.armed[p] = true
	case readsEndKeeping:
		f.keeps = slices.DeleteFunc(f.keeps, func(k *fakeKeep) bool { return k.conn == c && k.path == p })
	case armsFew:
		if c.creates++; c.creates > 100 {
			return
		}
	case watchesChildrenToo:
		f.watches[fakeTable{p, true}] = append(f.watches[fakeTable{p, true}], k.watch)
	}
	f.watches[table] = append(f.watches[table], k.watch)
}
