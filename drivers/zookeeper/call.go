package zookeeper

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// request holds the arguments of a call.
type request struct {
	op      drivers.Op
	path    string // as the caller gave it
	data    []byte
	version int32
	mode    drivers.Mode
	watch   drivers.Watch
	sets    []any // of a transaction, as the library takes them
}

// call is one call of the library with a goroutine that makes it, since the library has no
// contexts. Both are reused.
type call struct {
	conn  *Conn
	start chan struct{} // closed when the session has ended
	done  chan struct{}
	state atomic.Int32

	request
	server string // the path on the server
	armed  *watch // nil if no watch is asked for

	name     string
	bytes    []byte
	children []string
	stat     *zk.Stat
	results  []zk.MultiResponse
	found    bool
	err      error
}

const (
	running int32 = iota
	finished
	abandoned
)

// calls is the pool of idle calls. The last one used is taken first.
type calls struct {
	mu      sync.Mutex
	idle    []*call
	closed  bool
	workers sync.WaitGroup
}

// take returns an idle call or a new one, or nil if the session has ended.
func (s *calls) take(c *Conn) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if n := len(s.idle) - 1; n >= 0 {
		k := s.idle[n]
		s.idle = s.idle[:n]
		return k
	}
	k := &call{conn: c, start: make(chan struct{}, 1), done: make(chan struct{}, 1)}
	s.workers.Go(k.work)
	return k
}

// put returns the call to the pool.
func (s *calls) put(k *call) {
	k.request, k.armed = request{}, nil
	k.bytes, k.children, k.stat, k.results = nil, nil, nil, nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(k.start)
		return
	}
	s.idle = append(s.idle, k)
}

// close ends the goroutines, once the library has returned to them.
func (s *calls) close() {
	s.mu.Lock()
	s.closed = true
	for _, k := range s.idle {
		close(k.start)
	}
	s.idle = nil
	s.mu.Unlock()
	s.workers.Wait()
}

// do makes a call. Without an error it returns the call, for the caller to read its results
// and put it back.
func (c *Conn) do(ctx context.Context, r request) (*call, error) {
	k, err := c.prepare(ctx, r)
	if err != nil {
		return nil, c.failed(r.op.String(), r.path, err)
	}
	if ctx.Done() == nil { // the caller cannot cancel, so the call needs no goroutine
		k.ask()
	} else if k.start <- struct{}{}; !c.answered(ctx, k) {
		return nil, c.failed(r.op.String(), r.path, context.Cause(ctx))
	}
	if k.armed != nil {
		c.watches.returned(k.armed, k.err)
	}
	if err := k.err; err != nil {
		c.calls.put(k)
		return nil, c.failed(r.op.String(), r.path, err)
	}
	return k, nil
}

// answered waits for the call. It returns false if the context ended and the call was
// abandoned.
func (c *Conn) answered(ctx context.Context, k *call) bool {
	select {
	case <-k.done:
		return true
	case <-ctx.Done():
		return !c.abandon(k)
	}
}

// prepare does what must be done before the library is called.
func (c *Conn) prepare(ctx context.Context, r request) (*call, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	server := c.ensemble.Path(r.path)
	var w *watch
	if r.watch != nil {
		w = &watch{call: r.watch, path: r.path, server: server, op: r.op}
		if err := c.watches.begin(ctx, w); err != nil {
			return nil, err
		}
	}
	err := c.latch.Wait(ctx, c.done)
	var k *call
	if err == nil {
		if k = c.calls.take(c); k != nil {
			k.request, k.server, k.armed = r, server, w
			k.data = bytes.Clone(r.data) // since the caller may change its data when do has returned
			k.state.Store(running)
			return k, nil
		}
		err = drivers.ErrSessionLost
	}
	if w != nil {
		c.watches.returned(w, err)
	}
	return nil, err
}

// abandon leaves the call to its goroutine. It returns false if the call is answered, or is
// about to be: then its results can be read.
func (c *Conn) abandon(k *call) bool {
	if k.armed != nil && !c.watches.abandon(k.armed) {
		<-k.done
		return false
	}
	write := k.op.IsWrite()
	if write {
		c.latch.Hold()
	}
	if k.state.CompareAndSwap(running, abandoned) {
		return true
	}
	if write {
		c.latch.Release()
	}
	<-k.done
	if k.armed != nil { // its watch is dropped, so it can no longer succeed
		c.watches.returned(k.armed, k.err)
		c.calls.put(k)
		return true
	}
	return false
}

// work makes one call after the other.
func (k *call) work() {
	for range k.start {
		k.ask()
		if k.state.CompareAndSwap(running, finished) {
			k.done <- struct{}{}
			continue
		}
		if k.op.IsWrite() {
			k.conn.latch.Release()
		}
		if k.armed != nil {
			k.conn.watches.returned(k.armed, k.err)
		}
		k.conn.calls.put(k)
	}
}

// ask calls the library. It ignores the channels of the library's watches: each has room for
// its one event.
func (k *call) ask() {
	library := k.conn.library
	switch k.op {
	case drivers.OpOther:
		k.err = library.AddAuth(ensemble.Scheme, k.conn.ensemble.User.Digest())
	case drivers.OpCreate:
		k.name, k.err = library.Create(k.server, k.data, int32(k.mode), k.conn.acl)
	case drivers.OpDelete:
		k.err = library.Delete(k.server, k.version)
	case drivers.OpSet:
		k.stat, k.err = library.Set(k.server, k.data, k.version)
	case drivers.OpMulti:
		k.results, k.err = library.Multi(k.sets...)
	case drivers.OpExists:
		if k.watch == nil {
			k.found, k.stat, k.err = library.Exists(k.server)
		} else {
			k.found, k.stat, _, k.err = library.ExistsW(k.server)
		}
	case drivers.OpGet:
		if k.watch == nil {
			k.bytes, k.stat, k.err = library.Get(k.server)
		} else {
			k.bytes, k.stat, _, k.err = library.GetW(k.server)
		}
	case drivers.OpChildren:
		if k.watch == nil {
			k.children, k.stat, k.err = library.Children(k.server)
		} else {
			k.children, k.stat, _, k.err = library.ChildrenW(k.server)
		}
	case drivers.OpSync, drivers.OpFlush:
		_, k.err = library.Sync(k.server)
	}
}
