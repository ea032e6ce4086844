package replica

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A simClient is a client with one session at a time. It checks what it is answered.
type simClient struct {
	w         *world
	name      int
	conn      *simConn // nil while disconnected
	ready     bool     // the session is established on the connection
	session   int64
	password  [wire.PasswordSize]byte
	seen      int64 // the last zxid
	asked     []simCall
	xid       int
	value     int
	armed     map[string]armed
	connected time.Duration // since when
	away      time.Duration // until when it does not connect
	slow      bool          // asks seldom, and waits long for the answers
	holds     bool          // only acquires a lock, looks whether it still has it, and sends heartbeats
	pause     time.Duration // between its heartbeats
	locked    bool          // its session's node was the lock when it last asked
	wanted    int           // writes asked for when the ensemble has settled
	done      int           // and those acknowledged
}

// A simCall is a request without an answer.
type simCall struct {
	simRequest
	at    time.Duration
	sync  time.Duration // of a get: when the sync directly before it was called, or never
	entry *operation    // for the history
}

// armed is what the client knows of a node that it watches.
type armed struct {
	mzxid int64 // -1 if the node did not exist
	conn  *simConn
}

// holders is the number of clients that hold a lock. They send heartbeats at different intervals.
const holders = 2

func newClient(w *world, holds bool) *simClient {
	c := &simClient{w: w, name: len(w.clients), armed: map[string]armed{}, slow: w.chance(0.4), holds: holds}
	c.pause = time.Second
	if holds {
		c.pause = w.between(300*time.Millisecond, simTimeout*6/10*time.Millisecond)
	}
	c.sleep()
	c.beat()
	return c
}

func (c *simClient) sleep() {
	longest := 200 * time.Millisecond
	if c.slow {
		longest = 900 * time.Millisecond
	}
	c.w.after(c.w.between(5*time.Millisecond, longest), c.act)
}

// patience is how long the client waits for an answer.
func (c *simClient) patience() time.Duration {
	if c.slow {
		return 8 * time.Second
	}
	return 2 * time.Second
}

// beat sends heartbeats.
func (c *simClient) beat() {
	c.w.after(c.pause, func() {
		if c.ready {
			c.request(simRequest{op: opPing})
		}
		c.beat()
	})
}

// The longest time to an answer when there are no faults, and how long after them that holds: elections
// are over, and members that lacked entries have them.
const (
	longestWait = 2 * time.Second
	settling    = 6 * time.Second
)

// checkWait checks how long a request takes, or has taken so far.
func (c *simClient) checkWait(x *simCall) {
	if c.w.calm != never && x.at > c.w.calm+settling && c.w.now-x.at > longestWait {
		c.w.fail("client %d: request %d took %v without faults", c.name, x.xid, c.w.now-x.at)
	}
}

func (c *simClient) act() {
	c.sleep()
	if len(c.asked) > 0 {
		c.checkWait(&c.asked[0])
	}
	switch {
	case c.conn == nil && (c.w.stopped || c.w.now > c.away):
		c.dial()
	case c.conn == nil:
	case len(c.asked) > 0 && c.w.now-c.asked[0].at > c.patience():
		c.conn.broken = true
		c.conn.sever()
		c.lost(c.conn)
	case !c.ready || c.w.stopped || len(c.asked) >= 8:
	case c.holds:
		c.hold()
	default:
		c.random()
	}
}

func (c *simClient) dial() {
	for i := range c.password {
		if c.session == 0 {
			c.password[i] = byte(c.w.r.Uint32())
		}
	}
	c.conn = dial(c, c.w.nodes[c.w.r.IntN(len(c.w.nodes))])
	c.request(simRequest{op: opConnect, session: c.session, password: c.password, seen: c.seen})
}

// hold asks whether the client has the lock, and for the lock if it did not have it when it last asked. A slow
// holder only sends heartbeats, with few exceptions.
func (c *simClient) hold() {
	if !c.slow || !c.locked || c.w.chance(0.05) {
		c.request(simRequest{op: opGet, path: lockPath})
	}
	if !c.locked {
		c.write(simRequest{op: opCreate, path: lockPath, mode: tree.Ephemeral})
	}
}

const lockPath = "/lock"

// random asks for something.
func (c *simClient) random() {
	key := fmt.Sprintf("/r%d", c.w.r.IntN(3))
	switch n := c.w.r.IntN(100); {
	case n < 25:
		c.write(simRequest{op: opSet, path: key})
	case n < 35:
		c.write(simRequest{op: opCreate, path: key})
	case n < 38:
		c.write(simRequest{op: opDelete, path: key})
	case n < 42:
		c.write(simRequest{op: opMulti, path: key})
	case n < 50:
		c.write(simRequest{op: opCreate, path: fmt.Sprintf("/e%d", c.w.r.IntN(4)), mode: tree.Ephemeral})
	case n < 54:
		c.write(simRequest{op: opCreate, path: "/s", mode: tree.Sequential | tree.Ephemeral})
	case n < 75:
		c.request(simRequest{op: opGet, path: key, watch: c.w.chance(0.3)})
	case n < 85:
		c.request(simRequest{op: opGet, path: fmt.Sprintf("/e%d", c.w.r.IntN(4)), watch: c.w.chance(0.7)})
	case n < 98:
		c.request(simRequest{op: opSync})
		c.request(simRequest{op: opGet, path: key})
	case c.w.chance(0.5):
		c.write(simRequest{op: opClose})
	case c.w.calm == never:
		c.vanish()
	}
}

// vanish leaves the session alone for longer than its time-out, or a little shorter.
func (c *simClient) vanish() {
	x := c.conn
	x.broken = true
	x.sever()
	c.lost(x)
	c.away = c.w.now + c.w.between(simTimeout*3/4, simTimeout*2)*time.Millisecond
}

// write requests a write with a unique value.
func (c *simClient) write(r simRequest) {
	c.value++
	r.value = fmt.Sprintf("%d.%d", c.name, c.value)
	if c.w.calm != never && c.w.now > c.w.calm+settling { // the leader may have changed before
		c.wanted++
	}
	c.request(r)
}

func (c *simClient) request(r simRequest) {
	c.xid++
	r.xid = c.xid
	x := simCall{simRequest: r, at: c.w.now, sync: never}
	if last := len(c.asked) - 1; r.op == opGet && last >= 0 && c.asked[last].op == opSync {
		x.sync = c.asked[last].at
	}
	x.entry = c.w.oracle.called(c, &x)
	c.asked = append(c.asked, x)
	c.conn.ask(r)
}

// take takes a packet from the server.
func (c *simClient) take(x *simConn, p simReply) {
	if c.conn != x {
		return
	}
	c.w.note(uint64(c.name), uint64(p.zxid), uint64(p.request.xid))
	if p.request.xid == 0 {
		c.event(p)
		return
	}
	if len(c.asked) == 0 || c.asked[0].xid != p.request.xid {
		c.w.fail("client %d: request %d was answered in the wrong place", c.name, p.request.xid)
	}
	if p.zxid < c.seen {
		c.w.fail("client %d: zxid %x after %x", c.name, p.zxid, c.seen)
	}
	c.seen = p.zxid
	call := c.asked[0]
	c.asked = c.asked[1:]
	c.checkWait(&call)
	c.w.oracle.returned(c, &call, &p)
	if p.request.value != "" && c.w.calm != never {
		c.done++
	}
	switch p.request.op {
	case opConnect:
		c.established(p)
	case opClose:
		c.forget()
	case opGet:
		c.got(p)
	default:
		if p.err == wire.ErrSessionExpired && !c.closes() || p.err == wire.ErrSessionMoved {
			c.w.fail("client %d: error %d on the connection of the session's owner", c.name, p.err)
		}
	}
}

// closes reports whether the client has asked for the end of its session, which may have expired before
// that.
func (c *simClient) closes() bool {
	return slices.ContainsFunc(c.asked, func(x simCall) bool { return x.op == opClose })
}

func (c *simClient) established(p simReply) {
	if p.err != wire.OK {
		if c.session != 0 {
			c.w.oracle.ended(c)
		}
		c.forget()
		return
	}
	c.session, c.ready, c.connected = p.session, true, c.w.now
}

// forget starts over without a session.
func (c *simClient) forget() {
	x := c.conn
	c.session, c.locked = 0, false
	x.broken = true
	x.sever()
	c.lost(x)
}

// lost is told of the connection's end. Watches end with it.
func (c *simClient) lost(x *simConn) {
	if c.conn != x {
		return
	}
	for i := range c.asked {
		c.w.oracle.unanswered(&c.asked[i])
	}
	c.conn, c.ready, c.asked = nil, false, nil
	clear(c.armed)
}

func (c *simClient) event(p simReply) {
	if _, ok := c.armed[p.path]; !ok {
		// The reply of the read that armed the watch is sent before any event of the watch.
		c.w.fail("client %d: an event of %s without a watch", c.name, p.path)
	}
	delete(c.armed, p.path)
}

func (c *simClient) got(p simReply) {
	mzxid := int64(-1)
	if p.err == wire.OK {
		mzxid = p.stat.Mzxid
	}
	if p.request.path == lockPath {
		c.locked = p.err == wire.OK && p.stat.EphemeralOwner == c.session
	}
	if a, ok := c.armed[p.request.path]; ok && a.mzxid != mzxid {
		c.w.fail("client %d: a read of %s shows a change before its event", c.name, p.request.path)
	}
	if p.request.watch {
		c.armed[p.request.path] = armed{mzxid, c.conn}
	}
}

// settled checks the client when nothing happens any more.
func (c *simClient) settled() {
	if !c.ready {
		c.w.fail("client %d: not connected at the end", c.name)
	}
	if c.wanted > 0 && c.done == 0 {
		c.w.fail("client %d: no write was acknowledged after all faults ended", c.name)
	}
	for path, a := range c.armed {
		mzxid := int64(-1)
		if n := c.conn.node.m.state.tree.Find(path); n != nil {
			mzxid = n.Stat().Mzxid
		}
		if mzxid != a.mzxid {
			c.w.fail("client %d: the event of %s never came", c.name, path)
		}
	}
}
