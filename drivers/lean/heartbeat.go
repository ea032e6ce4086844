package lean

import (
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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
// connection if nothing arrived for two thirds of it.
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
	case now.Sub(l.lastHeard) >= timeout*2/3:
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
