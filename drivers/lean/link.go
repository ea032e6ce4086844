package lean

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A link is one connection of a session.
type link struct {
	conn   *Conn
	net    net.Conn
	in     wire.Frames // belongs to the goroutine that reads
	heard  atomic.Bool // something has arrived since the last beat
	silent atomic.Bool // it was closed since nothing had arrived
	held   atomic.Bool // a reply has arrived and is not processed: LoseReply is deciding, or it waits to be decoded

	mu         sync.Mutex // guards what follows, and is held while the probe is called
	out        []byte     // queued and not yet sent
	spare      []byte     // the buffer that was sent last, for reuse
	busy       bool       // a goroutine is sending
	sent       bool       // something was queued since the last beat
	xid        int32      // of the last request
	pending    queue
	unanswered int // bytes of the requests that are pending
	dead       bool
	lastHeard  time.Time
	lastSent   time.Time
}

const (
	// maxReply is the size in bytes of the largest packet that is accepted: a listing may be
	// larger than the largest request.
	maxReply = 64 << 20
	// keptBuffer is the size in bytes of the largest buffer that is kept for reuse.
	keptBuffer = 16 << 10
	// fits is the number of unanswered bytes that any connection can buffer: up to it, a write
	// does not block.
	fits = 16 << 10
)

func newLink(c *Conn, nc net.Conn) *link {
	now := time.Now()
	return &link{conn: c, net: nc, in: wire.NewFrames(nc, maxReply, keptBuffer), lastHeard: now, lastSent: now}
}

// ask sends a call. It returns false if the connection has ended.
func (l *link) ask(k *call) bool {
	l.mu.Lock()
	if !l.queue(k) || l.busy {
		defer l.mu.Unlock()
		return !l.dead
	}
	l.busy = true
	crowd := l.pending.len() > 1
	l.mu.Unlock()
	if crowd {
		runtime.Gosched() // lets callers that are about to ask join the batch
	}
	l.send()
	return true
}

// gather is like ask, for a caller that sends several calls together with flush.
func (l *link) gather(k *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue(k)
}

// flush sends the queued requests, unless another goroutine is sending.
func (l *link) flush() {
	l.mu.Lock()
	if l.busy || l.dead || len(l.out) == 0 {
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	l.send()
}

// queue adds a call, after the sync that it may need. It returns false if the connection has
// ended. The caller holds the lock.
func (l *link) queue(k *call) bool {
	if l.dead {
		return false
	}
	if l.conn.ensemble.SyncReads && k.op.IsRead() {
		s := l.conn.newCall(request{op: drivers.OpSync, code: wire.OpSync, path: k.path})
		s.unasked, s.before = true, k
		l.add(s)
	}
	l.add(k)
	return true
}

// post is like ask, for a caller that must not block and needs no answer.
func (l *link) post(k *call) {
	k.unasked = true
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead || !l.add(k) {
		l.conn.free(k)
		return
	}
	l.handOver()
}

// add appends a request to the queue. It returns false if the request is no longer needed. The
// caller holds the lock.
func (l *link) add(k *call) bool {
	if !l.conn.watches.asking(k) {
		return false
	}
	if l.xid++; l.xid < 0 {
		l.xid = 1
	}
	k.xid = l.xid
	start := len(l.out)
	b := wire.RequestHeader{Xid: k.xid, Op: k.code}.Append(wire.Begin(l.out))
	l.out = k.appendRecord(b, l.conn.acl)
	wire.End(l.out, start)
	k.size, k.data = len(l.out)-start, nil
	l.pending.push(k)
	l.unanswered += k.size
	l.sent = true
	l.reportRequest(k)
	return true
}

// cut ends the connection and returns the unanswered calls.
func (l *link) cut() queue {
	l.net.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report(drivers.Message{Kind: drivers.Cut})
	l.dead = true
	left := l.pending
	l.pending, l.out = queue{}, nil
	return left
}

// queue holds the unanswered calls in the order of their requests, which is also that of the
// replies. The zero queue is empty.
type queue struct {
	slots      []*call // length is a power of two
	head, tail uint    // slots[head:tail], modulo the length
}

func (q *queue) len() int { return int(q.tail - q.head) }

func (q *queue) push(k *call) {
	if q.len() == len(q.slots) {
		q.grow()
	}
	q.slots[q.tail&uint(len(q.slots)-1)] = k
	q.tail++
}

func (q *queue) grow() {
	slots := make([]*call, max(2, 2*len(q.slots)))
	for i := q.head; i != q.tail; i++ {
		slots[i&uint(len(slots)-1)] = q.slots[i&uint(len(q.slots)-1)]
	}
	q.slots = slots
}

// first returns the call to be answered next, or nil.
func (q *queue) first() *call {
	if q.len() == 0 {
		return nil
	}
	return q.slots[q.head&uint(len(q.slots)-1)]
}

// pop removes and returns the first call.
func (q *queue) pop() *call {
	k := q.first()
	if k != nil {
		q.slots[q.head&uint(len(q.slots)-1)] = nil
		q.head++
	}
	return k
}

// heartbeats keeps the sessions of a service alive, and detects silent servers, with one
// timer for all sessions. The zero value has no sessions.
type heartbeats struct {
	mu      sync.Mutex
	members map[*Conn]struct{}
	every   time.Duration // interval between two beats
	timer   *time.Timer   // nil without members
}

// beats is the number of beats in the shortest session timeout: a heartbeat is late by a beat
// or two.
const beats = 20

func (p *heartbeats) join(c *Conn, timeout time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.members == nil {
		p.members = make(map[*Conn]struct{})
	}
	p.members[c] = struct{}{}
	if every := timeout / beats; p.timer == nil || every < p.every {
		p.every = every
		p.stop()
		p.timer = time.AfterFunc(every, p.beat)
	}
}

func (p *heartbeats) leave(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.members, c)
	if len(p.members) == 0 {
		p.stop()
	}
}

func (p *heartbeats) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func (p *heartbeats) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	now := time.Now()
	for c := range p.members {
		if l := c.link.Load(); l != nil {
			l.beat(now, c.timeout())
		}
	}
	p.timer.Reset(p.every)
}

// beat sends a heartbeat if nothing was sent for a third of the session timeout. It closes the
// connection to a server that is silent.
func (l *link) beat(now time.Time, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard.Swap(false) || l.held.Load() {
		l.lastHeard = now
	}
	if l.sent {
		l.sent, l.lastSent = false, now
	}
	switch {
	case l.dead:
	case now.Sub(l.lastHeard) >= ensemble.Silence(timeout):
		l.silent.Store(true)
		l.net.Close() // the reader gets the error
	case now.Sub(l.lastSent) >= timeout/3:
		l.lastSent = now
		l.ping()
	}
}

// ping queues a heartbeat. The caller holds the lock.
func (l *link) ping() {
	start := len(l.out)
	l.out = wire.RequestHeader{Xid: wire.XidPing, Op: wire.OpPing}.Append(wire.Begin(l.out))
	wire.End(l.out, start)
	l.report(drivers.Message{Kind: drivers.Request, Op: drivers.OpPing, Size: len(l.out) - start})
	l.handOver()
}
