package lean

import (
	"context"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// request is what one call asks for.
type request struct {
	op      drivers.Op
	code    int32  // its opcode
	path    string // as the caller knows it
	data    []byte
	version int32 // the mode, of what arms a lasting watch
	mode    drivers.Mode
	watch   drivers.Watch
}

// call is one request and, when it is answered, its reply. It belongs to whoever
// waits for it, until that one gives it up: then the connection frees it.
type call struct {
	request
	server  string // the path as the server knows it
	asked   []byte // the same, for the probe; room that is used again
	xid     int32
	size    int   // of the request, in bytes
	arms    bool  // its request asks to be notified
	covered bool  // it needs not, since a lasting watch is told of the same
	unasked bool  // nobody waits for it
	last    bool  // of the requests that arm the watches again
	before  *call // the read that this sync is made for
	conn    *Conn // on which it was begun, if somebody awaits it later
	state   atomic.Int32
	done    chan struct{} // has room for one

	answer   wire.Err
	position int64 // of the reply
	err      error // of the connection
	name     string
	bytes    []byte
	children []drivers.Child
	stat     drivers.Stat
	lasting  *lasting
}

const (
	underWay int32 = iota
	finished
	abandoned
)

// newCall takes a call out of those that all sessions of a service use again.
func (c *Conn) newCall(r request) *call {
	k, ok := c.calls.Get().(*call)
	if !ok {
		k = &call{done: make(chan struct{}, 1)}
	}
	k.request, k.server = r, c.ensemble.Path(r.path)
	return k
}

// free makes the call ready to be used again.
func (c *Conn) free(k *call) {
	*k = call{asked: k.asked[:0], done: k.done}
	c.calls.Put(k)
}

// do makes a call and returns it for its results to be read and then freed,
// unless there is an error.
func (c *Conn) do(ctx context.Context, r request) (*call, error) {
	k, err := c.begin(ctx, &r, (*line).ask)
	if err != nil {
		return nil, err
	}
	if err := c.await(ctx, k); err != nil {
		return nil, err
	}
	return k, nil
}

// begin gives a call to the connection, as soon as there is one.
func (c *Conn) begin(ctx context.Context, r *request, ask func(*line, *call) bool) (*call, error) {
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

// await waits until the call is answered. It is freed, now or when it is answered, if
// there is an error.
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

// failure is nil for an exists that found no node.
func (k *call) failure() error {
	switch {
	case k.err != nil:
		return k.err
	case k.answer == wire.OK, k.missed():
		return nil
	}
	return k.answer
}

// missed tells of an exists that found no node.
func (k *call) missed() bool { return k.code == wire.OpExists && k.answer == wire.ErrNoNode }

// finish tells whether somebody waits for the call, who can then not give it up
// any more.
func (k *call) finish() bool {
	return !k.unasked && k.state.CompareAndSwap(underWay, finished)
}
