package drivertest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A fakeConn is a session with a [fake]. What the service sends waits in the session's
// inbox, in order, for the one goroutine that acts as the client's receiver.
type fakeConn struct {
	f       *fake
	options drivers.Options
	done    chan struct{}

	mu      sync.Mutex
	inbox   []packet
	arrived chan struct{} // holds a value if the inbox has packets
	calls   map[*fakeCall]bool
	watches []*fakeWatch
	up      chan struct{} // closed while connected
	lost    bool
	firing  sync.Mutex // held while watches are called; before mu

	// For bugs.
	creates int64           // sequential nodes made
	data    []byte          // read last
	repeat  drivers.Event   // the last event reported
	late    func()          // a write that is still to be applied
	closed  bool            // Close was called
	armed   map[string]bool // paths ever watched
	delays  int             // events delayed so far
}

// A packet is a reply, or a notification, or the end of the connection or session.
type packet struct {
	call    *fakeCall
	reply   drivers.Message
	event   drivers.Event
	watches []*fakeWatch
	cut     bool
	end     bool
}

// A fakeCall is a call in progress.
type fakeCall struct {
	answered chan struct{}
	again    func() // executes it once more, for a bug
	watch    *fakeWatch
	err      error
	settled  bool
}

// An answer is what the service replies.
type answer struct {
	made    string // the path that was created
	size    int    // of the data
	missing bool   // exists: there is no node
	version int32  // number of changes to what was read
	keeps   *fakeKeep
	parts   []drivers.TxnOp // of a transaction, with their errors
	err     error
}

func (f *fake) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c := &fakeConn{
		f: f, options: o,
		done: make(chan struct{}), arrived: make(chan struct{}, 1), up: make(chan struct{}),
		calls: map[*fakeCall]bool{}, armed: map[string]bool{},
	}
	f.mu.Lock()
	f.conns[c] = true
	f.mu.Unlock()
	c.connect()
	c.opened()
	go c.receive()
	return c, nil
}

// connect opens a connection. After the first one, the events that were missed need
// nothing more: they stayed in the inbox.
func (c *fakeConn) connect() {
	c.report(drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen, Size: 45})
	c.lose(drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Size: 41})
	c.report(drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Size: 41})
}

// opened lets calls be sent.
func (c *fakeConn) opened() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.up)
}

func (c *fakeConn) report(m drivers.Message) {
	if c.options.Probe == nil || c.f.bug == probeMissesOpen && m.Op == drivers.OpOpen {
		return
	}
	switch c.f.bug {
	case probeMissesArming:
		if m.Op == drivers.OpWatchNode || m.Op == drivers.OpWatchTree {
			return
		}
	case probeMissesReplies:
		if m.Kind == drivers.Reply {
			return
		}
	case probeCountsTwice:
		c.options.Probe.Message(m)
	case probeWithoutSize:
		m.Size = 20
	}
	c.options.Probe.Message(m)
}

func (c *fakeConn) lose(m drivers.Message) bool {
	if c.options.LoseReply == nil || c.f.bug == losesUnasked && m.Op == drivers.OpSync {
		return false
	}
	return c.options.LoseReply(m)
}

func (c *fakeConn) push(p packet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.end && c.f.bug == closeForgetsCalls {
		c.inbox = nil
	}
	c.inbox = append(c.inbox, p)
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

func (c *fakeConn) next() (packet, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.inbox) == 0 {
		return packet{}, false
	}
	p := c.inbox[0]
	c.inbox = c.inbox[1:]
	return p, true
}

func (c *fakeConn) receive() {
	for {
		select {
		case <-c.arrived:
		case <-c.f.stop:
			return
		}
		for {
			p, ok := c.next()
			if !ok {
				break
			}
			if p.end && c.f.bug == replacesSession {
				c.f.mu.Lock()
				c.f.conns[c] = true
				c.f.mu.Unlock()
				continue
			}
			if p.end {
				c.finish()
				return
			}
			c.take(p)
		}
	}
}

func (c *fakeConn) take(p packet) {
	c.f.travel()
	if p.cut {
		c.cut()
		return
	}
	switch {
	case p.call == nil && c.f.bug == eventsLate:
		c.delays++
		go func(n int) {
			if c.f.pause(time.Duration(10-n%10) * time.Millisecond) {
				c.notified(p)
			}
		}(c.delays)
		return
	case p.call == nil:
		c.notified(p)
		return
	}
	if c.lose(p.reply) {
		c.cut(p.call)
		return
	}
	c.f.travel()
	c.report(p.reply)
	c.settle(p.call, nil)
}

func (c *fakeConn) notified(p packet) {
	c.firing.Lock()
	defer c.firing.Unlock()
	c.mu.Lock()
	var fire []drivers.Watch
	for _, w := range p.watches {
		if w.armed || c.f.bug == firesDeadWatches {
			fire = append(fire, w.fire)
		}
		w.armed = w.armed && w.stays || c.f.bug == lostAfterFired || c.f.bug == staysArmed
	}
	c.mu.Unlock()
	if len(fire) == 0 {
		return
	}
	m := drivers.Message{
		Kind: drivers.Notification, Path: []byte(p.event.Path), Event: p.event.Type, Pos: p.event.Pos, Size: 40,
	}
	if c.f.bug != probeMissesNotifications && m.Event != drivers.Rearmed {
		c.repeat = p.event
		c.report(m)
	}
	for _, w := range fire {
		w(p.event)
		if c.f.bug == firesTwice {
			w(p.event)
		}
	}
}

// settle ends a call with its answer, or with an error of the session. It
// returns false if the call had ended before.
func (c *fakeConn) settle(k *fakeCall, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.settled {
		return false
	}
	k.settled = true
	delete(c.calls, k)
	if err != nil {
		k.err = err
	}
	if k.watch != nil && k.err == nil {
		k.watch.armed = c.f.bug != neverFires
		c.watches = append(c.watches, k.watch)
	}
	close(k.answered)
	return true
}

// Cut cuts the connection after what has arrived.
func (c *fakeConn) Cut() { c.push(packet{cut: true}) }

// cut drops the connection, with the lost replies and all replies behind them.
func (c *fakeConn) cut(lost ...*fakeCall) {
	if c.f.bug == hidesCuts {
		for _, k := range lost {
			c.settle(k, nil)
		}
		return
	}
	c.mu.Lock()
	c.up = make(chan struct{})
	dropped := lost
	for _, p := range c.inbox {
		if p.call != nil {
			dropped = append(dropped, p.call)
		}
	}
	c.inbox = slices.DeleteFunc(c.inbox, func(p packet) bool { return p.call != nil })
	c.mu.Unlock()
	if c.f.bug != probeMissesCut {
		c.report(drivers.Message{Kind: drivers.Cut})
	}
	c.state(drivers.Disconnected)
	for _, k := range dropped {
		if c.f.bug == retriesWrites {
			c.f.mu.Lock()
			k.again()
			c.f.mu.Unlock()
		}
		c.settle(k, drivers.ErrConnectionLoss)
	}
	if c.f.bug == disconnectEndsSession {
		c.f.mu.Lock()
		c.f.endSession(c, true)
		c.f.mu.Unlock()
		return
	}
	c.connect()
	c.rearm() // what is armed from now on has missed nothing
	c.forget()
	c.opened()
	c.state(drivers.Connected)
}

// forget does to the watches, at a reconnect, what the bug wants.
func (c *fakeConn) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.f.bug {
	case losesNotifications:
		c.inbox = slices.DeleteFunc(c.inbox, func(p packet) bool { return !p.end })
	case losesLateNotifications:
		kept := 0
		c.inbox = slices.DeleteFunc(c.inbox, func(p packet) bool { kept++; return !p.end && kept > 100 })
	case watchesEndWithConnection:
		for _, w := range c.watches {
			w.armed = false
		}
	}
}

func (c *fakeConn) state(s drivers.State) {
	if c.options.OnState != nil && (c.f.bug != hidesStates || s == drivers.Disconnected) {
		c.options.OnState(s)
	}
}

// finish ends the session for this client.
func (c *fakeConn) finish() {
	c.firing.Lock()
	defer c.firing.Unlock()
	c.mu.Lock()
	c.lost = true
	var fire []drivers.Watch
	for _, w := range c.watches {
		if w.armed {
			fire = append(fire, w.fire)
		}
	}
	c.watches = nil
	calls := c.calls
	c.calls = map[*fakeCall]bool{}
	c.mu.Unlock()
	for k := range calls {
		if c.f.bug != closeForgetsCalls {
			c.settle(k, drivers.ErrSessionLost)
		}
	}
	c.state(drivers.SessionLost)
	for _, w := range fire {
		if c.f.bug != neverLost {
			w(drivers.Event{Type: drivers.Lost})
		}
		if c.f.bug == lostTwice {
			w(drivers.Event{Type: drivers.Lost})
		}
	}
	close(c.done)
}

func (c *fakeConn) Done() <-chan struct{} { return c.done }

func (c *fakeConn) Close() error {
	c.report(drivers.Message{Kind: drivers.Request, Op: drivers.OpClose, Size: 12})
	c.f.mu.Lock()
	c.f.endSession(c, c.f.bug != closeKeepsEphemerals)
	again := c.closed
	c.closed = true
	c.f.mu.Unlock()
	if c.f.bug == replacesSession {
		return nil
	}
	<-c.done
	if again && c.f.bug == closesOnce {
		return drivers.ErrSessionLost
	}
	return nil
}
