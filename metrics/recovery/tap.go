package recovery

import (
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// A tap gets what one connection carries. What it gets waits in the queue, except the process: it may be found after
// the first messages, and holds for them, too.
type tap struct {
	a       *Analysis
	c       traffic.Connection
	process traffic.Process
	origin  *origin
	h       *holder       // nil while it is not known
	lease   int64         // that the next request names
	asked   []*request    // without an answer
	wrote   *request      // the latest write that was executed
	replied time.Time     // the latest reply
	closing bool          // the client ends the session
	numbers map[int]thing // the watches of etcd that it has armed
	ended   []parted      // those of them that the client has ended within lateness
	behind  bool          // faults stand between it and the client: see Received
	coming  []coming
	sets    []map[thing]standing // of the packets that set watches again, without an answer
	asks    bool                 // the client has sent a request
	heard   time.Time            // the first answer of the service
	last    time.Time            // the latest message
}

func newTap(a *Analysis) *tap { return &tap{a: a, numbers: map[int]thing{}} }

// A request was sent.
type request struct {
	at       time.Time
	op       drivers.Op
	path     string // of the first part of a transaction
	like     string // equal for two requests that ask for the same
	lease    int64
	revision int64     // from which a watch of etcd is to begin
	answered time.Time // if it is a write that was executed
	repeats  *row      // the one whose lost write it repeats, nil if there is none
}

// maxAsked is how many requests without an answer are kept of a connection, and maxFailed how many kinds of requests
// that failed are kept of a client.
const maxAsked, maxFailed = 4096, 256

// later does something with the tap when the faults of its time are known.
func (t *tap) later(at time.Time, do func()) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.enqueue(at, func() {
		t.locate()
		do()
	})
}

// Session reports the session of the connection, or a lease that it was granted.
func (t *tap) Session(at time.Time, s traffic.Session) {
	t.later(at, func() {
		if t.a.byProcess {
			t.granted(s)
		} else {
			t.attach(t.a.session(t, s))
		}
	})
}

// Message reports one packet.
func (t *tap) Message(at time.Time, m drivers.Message) {
	switch {
	case m.Kind == drivers.Cut, m.Op == drivers.OpPing && !t.a.byProcess:
		return
	case m.Op == drivers.OpPing && m.Kind == drivers.Reply:
		t.later(at, t.answers)
		return
	case m.Op == drivers.OpPing && m.Kind == drivers.Request: // keeps the lease alive that was named
		t.later(at, func() { t.lease, t.asks = 0, true })
		return
	}
	m = cloned(m)
	t.later(at, func() { t.message(&m) })
}

// Gap reports bytes that were not decoded. A packet may be cut in two by the fault itself.
func (t *tap) Gap(at time.Time, _ int64, cause traffic.Cause) {
	if cause != traffic.Unfinished {
		t.later(at, func() { t.origin.gap = t.a.at })
	}
}

// Members reports addresses of servers, which say nothing of a client.
func (t *tap) Members(time.Time, []string) {}

// Lease reports the lease that the next request names.
func (t *tap) Lease(at time.Time, id int64) {
	t.later(at, func() {
		t.lease = id
		t.a.uses(t, id)
	})
}

// Owner reports the process that has the client's side of the connection.
func (t *tap) Owner(p traffic.Process) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.process = p
	t.a.lives.add(p, t.a.Ended)
}

// Close reports the end of the connection.
func (t *tap) Close(at time.Time) { t.later(at, t.closed) }

// opened records that the client has connected.
func (t *tap) opened() {
	t.a.taps[t] = true
	t.origin.open++
	t.origin.tried = t.a.at
	t.a.count(reconnects, 1)
	t.a.attempt(reconnects, t.origin, nil, t.c.Server)
	if t.a.byProcess && t.process != (traffic.Process{}) {
		t.attach(t.a.ofProcess(t))
	}
}

// closed records that the connection has ended. What was not answered may be repeated.
func (t *tap) closed() {
	delete(t.a.taps, t)
	t.origin.open--
	t.origin.left = t.a.at
	for _, r := range t.asked {
		t.origin.fail(r)
	}
	if t.h != nil {
		t.a.detach(t)
	}
	t.asked, t.coming, t.sets = nil, nil, nil
}

// message follows a message.
func (t *tap) message(m *drivers.Message) {
	t.last = t.a.at
	if t.asks = t.asks || m.Kind == drivers.Request; m.Kind != drivers.Request {
		defer t.answers()
	}
	switch {
	case m.Kind == drivers.Reply && m.Op == drivers.OpOpen && m.Err != nil && !t.a.byProcess:
		t.a.count(retries, 1)
		t.a.refuse(t.origin)
	case m.Op == drivers.OpOpen && !t.a.byProcess:
	case t.h == nil && !t.attach(t.a.newHolder(t, 0)):
	case m.Kind == drivers.Request:
		t.request(m)
	case m.Kind == drivers.Reply:
		t.reply(m)
	case m.Kind == drivers.Notification && len(m.Path) > 0:
		t.fired(m)
		if !t.behind {
			t.notified(m)
		}
	}
}

func (t *tap) request(m *drivers.Message) {
	r := &request{at: t.a.at, op: m.Op, path: string(m.Path), lease: t.lease, revision: m.Pos}
	t.lease = 0
	if r.path == "" && len(m.Parts) > 0 {
		r.path = string(m.Parts[0].Path)
	}
	r.like = like(m)
	if t.origin.failed[r.like] {
		t.a.count(retries, 1)
		t.a.attempt(retries, t.origin, t.h, "")
	}
	t.closing = t.closing || m.Op == drivers.OpClose && !t.a.byProcess
	t.a.repeats(t, r)
	if m.Op == drivers.OpRearm && len(t.sets) < maxAsked {
		t.sets = append(t.sets, t.set(m.Parts))
	}
	if len(t.asked) < maxAsked {
		t.asked = append(t.asked, r)
	}
}

// like returns what a request asks for. The names of nodes that differ in numbers only are the same.
func like(m *drivers.Message) string {
	var b strings.Builder
	add := func(op drivers.Op, mode drivers.Mode, path []byte) {
		b.WriteByte(byte(op))
		b.WriteByte(byte(mode))
		if mode&drivers.Sequential != 0 {
			b.WriteString(pathname.Fold(string(path)))
		} else {
			b.Write(path)
		}
		b.WriteByte(0)
	}
	add(m.Op, m.Mode, m.Path)
	for _, p := range m.Parts {
		add(p.Op, p.Mode, p.Path)
	}
	return b.String()
}

func (t *tap) reply(m *drivers.Message) {
	t.replied = t.a.at
	r := &request{op: m.Op}
	if i := slices.IndexFunc(t.asked, func(r *request) bool { return r.op == m.Op }); i >= 0 {
		r = t.asked[i]
		t.asked = slices.Delete(t.asked, i, i+1)
	}
	switch {
	case m.Op.IsWrite() && m.Err != nil:
		t.origin.fail(r)
	case m.Op.IsWrite():
		t.wrote, r.answered = r, t.a.at
		t.a.repeated(r)
		fallthrough
	default:
		delete(t.origin.failed, r.like)
	}
	switch {
	case m.Op == drivers.OpClose && m.Err != nil:
	case m.Op == drivers.OpClose && t.a.byProcess:
		t.h.revoked(r.lease)
	case m.Op == drivers.OpClose:
		t.h.closed = t.a.at
	case m.Op == drivers.OpUnwatch && (m.Err == nil || m.Watch):
		t.unwatch(m)
	}
	if t.arms(m, r); !t.behind {
		t.receives(m)
	}
	if len(m.Parts) == 0 {
		t.answered(m, r)
	}
	for _, p := range m.Parts {
		t.answered(&drivers.Message{Op: p.Op, Path: p.Path, Mode: p.Mode, Err: p.Err, Pos: m.Pos}, r)
	}
}

// answered follows the answer to one write.
func (t *tap) answered(m *drivers.Message, r *request) {
	h, path := t.h, string(m.Path)
	switch {
	case path == "" || m.Err != nil || !m.Op.IsWrite():
	case m.Op == drivers.OpDelete:
		if o := t.a.owners[path]; o != nil {
			o.end(thing{path: path})
			delete(t.a.owners, path)
		}
		t.a.changed(h, path, true, m.Pos)
	default:
		if m.Op == drivers.OpCreate {
			t.a.recreates(h, path)
		}
		if m.Mode&drivers.Ephemeral != 0 || t.a.byProcess && r.lease != 0 {
			h.register(path, m.Mode&drivers.Sequential != 0, r.lease)
		}
		t.a.changed(h, path, m.Op == drivers.OpCreate, m.Pos)
	}
}

// The kinds of watches.
const (
	onData     = "data"
	onExists   = "exists" // in reports
	onChildren = "children"
	persistent = "persistent"
	recursive  = "recursive"
)

// watchOf returns the kind of watch that a reply has armed.
func watchOf(m *drivers.Message) string {
	switch {
	case m.Op == drivers.OpWatchTree:
		return recursive
	case m.Op == drivers.OpWatchNode:
		return persistent
	case m.Op == drivers.OpChildren, m.Event == drivers.ChildrenChanged:
		return onChildren
	}
	return onData
}

// ancestors returns the paths above one, the nearest first, each also as a prefix of etcd's keys, which ends in a slash.
func ancestors(path string) (all []string) {
	for up := pathname.Parent(path); up != ""; up = pathname.Parent(up) {
		all = append(all, up)
		if up != "/" {
			all = append(all, up+"/")
		}
	}
	return all
}
