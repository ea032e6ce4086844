package lean

import (
	"bytes"
	"context"
	"runtime"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// request holds the arguments of a call.
type request struct {
	op      drivers.Op
	code    int32  // its opcode
	path    string // as the caller gave it
	data    []byte
	version int32 // or the mode, for a request that arms a persistent watch
	mode    drivers.Mode
	watch   drivers.Watch
	parts   []drivers.TxnOp // the watches that it arms again, or the sets of a transaction; for the probe
}

// call is one request and, once it is answered, its reply. It belongs to its caller until the
// caller abandons it. Then the connection frees it.
type call struct {
	request
	server  string // the path on the server
	asked   []byte // the same, for the probe; its memory is reused
	xid     int32
	size    int   // of the request, in bytes
	arms    bool  // the request arms a watch at the server
	covered bool  // arms is not needed, since a persistent watch gets the same events
	unasked bool  // no caller waits for it
	last    bool  // the last of the requests that arm the watches again
	before  *call // the read that this sync precedes
	conn    *Conn // set by Begin, for Await
	state   atomic.Int32
	done    chan struct{} // has room for one signal

	answer     wire.Err
	position   int64 // of the reply
	err        error // of the connection
	name       string
	bytes      []byte
	children   []drivers.Child
	stat       drivers.Stat
	stats      []drivers.Stat
	persistent *persistent
}

const (
	underWay int32 = iota
	finished
	abandoned
)

// newCall takes a call from the pool that all sessions of a service share.
func (c *Conn) newCall(r request) *call {
	k, ok := c.calls.Get().(*call)
	if !ok {
		k = &call{done: make(chan struct{}, 1)}
	}
	k.request, k.server = r, c.ensemble.Path(r.path)
	return k
}

// free returns the call to the pool.
func (c *Conn) free(k *call) {
	*k = call{asked: k.asked[:0], done: k.done}
	c.calls.Put(k)
}

// do makes a call. Without an error it returns the call, for the caller to read its results
// and free it.
func (c *Conn) do(ctx context.Context, r request) (*call, error) {
	k, err := c.begin(ctx, &r, (*link).ask)
	if err != nil {
		return nil, err
	}
	if err := c.await(ctx, k); err != nil {
		return nil, err
	}
	return k, nil
}

// begin passes a call to the connection, as soon as there is one.
func (c *Conn) begin(ctx context.Context, r *request, ask func(*link, *call) bool) (*call, error) {
	if ctx.Err() != nil {
		return nil, c.failed(r, context.Cause(ctx))
	}
	if !valid(r.path) {
		return nil, c.failed(r, errPath)
	}
	k := c.newCall(*r)
	for begun := false; !begun; {
		l, err := c.connected(ctx)
		if err != nil {
			c.free(k)
			return nil, c.failed(r, err)
		}
		begun = ask(l, k)
	}
	return k, nil
}

// await waits until the call is answered. If await returns an error, the call is freed, now or
// when it is answered.
func (c *Conn) await(ctx context.Context, k *call) error {
	op, path := k.op, k.path
	select {
	case <-k.done:
	case <-ctx.Done():
		if k.state.CompareAndSwap(underWay, abandoned) {
			return c.failed(&request{op: op, path: path}, context.Cause(ctx))
		}
		<-k.done
	}
	if err := k.failure(); err != nil {
		c.free(k)
		return c.failed(&request{op: op, path: path}, err)
	}
	return nil
}

// failure returns the error of the call. It is nil for an exists that found no node.
func (k *call) failure() error {
	switch {
	case k.err != nil:
		return k.err
	case k.answer == wire.OK, k.missed():
		return nil
	}
	return k.answer
}

// missed reports whether the call is an exists that found no node.
func (k *call) missed() bool { return k.code == wire.OpExists && k.answer == wire.ErrNoNode }

// finish reports whether a caller waits for the call. If so, the caller can no longer abandon
// it.
func (k *call) finish() bool {
	return !k.unasked && k.state.CompareAndSwap(underWay, finished)
}

// appendRecord appends the request's record after its header.
func (k *call) appendRecord(b []byte, acl []wire.ACL) []byte {
	switch k.code {
	case wire.OpCreate:
		return wire.CreateRequest{Path: k.server, Data: k.data, ACL: acl, Flags: int32(k.mode)}.Append(b)
	case wire.OpDelete:
		return wire.PathVersion{Path: k.server, Version: k.version}.Append(b)
	case wire.OpSetData:
		return wire.SetDataRequest{Path: k.server, Data: k.data, Version: k.version}.Append(b)
	case wire.OpExists, wire.OpGetData, wire.OpGetChildren:
		return wire.PathWatch{Path: k.server, Watch: k.arms}.Append(b)
	case wire.OpSync:
		return wire.Path{Path: k.server}.Append(b)
	case wire.OpAddWatch:
		return wire.AddWatchRequest{Path: k.server, Mode: k.version}.Append(b)
	case wire.OpRemoveWatches:
		return wire.PathWatcher{Path: k.server, Type: wire.WatcherAny}.Append(b)
	}
	return append(b, k.data...) // already encoded
}

// decode reads the reply's record after its header. It keeps copies.
func (k *call) decode(d *wire.Decoder) error {
	if k.code == wire.OpMulti {
		k.decodeTransaction(d)
		return d.Err()
	}
	if k.answer != wire.OK {
		return nil
	}
	switch k.code {
	case wire.OpCreate:
		path := d.Bytes()
		k.name = string(path[bytes.LastIndexByte(path, '/')+1:])
	case wire.OpGetData:
		k.bytes = bytes.Clone(d.Bytes())
		k.stat = stat(d)
	case wire.OpSetData, wire.OpExists:
		k.stat = stat(d)
	case wire.OpGetChildren:
		k.children = children(d)
	}
	return d.Err()
}

// send sends the queued requests, if they fit into the connection's buffers. It leaves
// requests that are queued meanwhile to a goroutine.
func (l *link) send() {
	l.mu.Lock()
	if l.unanswered > fits {
		l.mu.Unlock()
		go l.drain()
	} else if l.batch() {
		go l.drain()
	}
}

// handOver makes a goroutine send. The caller holds the lock.
func (l *link) handOver() {
	if !l.busy {
		l.busy = true
		go l.drain()
	}
}

// drain sends until the queue is empty.
func (l *link) drain() {
	for more := true; more; {
		runtime.Gosched()
		l.mu.Lock()
		more = l.batch()
	}
}

// batch sends the queued requests and reports whether there are more; if not, the link is
// idle. The caller holds the lock, which batch releases.
func (l *link) batch() (more bool) {
	out := l.out
	l.out = l.spare[:0]
	l.mu.Unlock()
	if _, err := l.net.Write(out); err != nil {
		l.net.Close() // the reader gets the error
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = nil
	if cap(out) <= keptBuffer {
		l.spare = out
	}
	l.busy = len(l.out) > 0
	return l.busy
}

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
