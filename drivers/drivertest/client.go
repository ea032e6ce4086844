package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// A client is a session of a case. Every watch armed through it is audited at the end of
// the case. The methods with lower-case names make the Conn's calls in steps that must
// succeed: they fail the case otherwise, so only the case's own goroutine may use them.
type client struct {
	drivers.Conn
	x *trial
}

func (c *client) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	w, returned := c.x.audited("exists "+path, w)
	stat, found, err := c.Conn.Exists(ctx, path, w)
	returned(err)
	return stat, found, err
}

func (c *client) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	w, returned := c.x.audited("get "+path, w)
	data, stat, err := c.Conn.Get(ctx, path, w)
	returned(err)
	return data, stat, err
}

func (c *client) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	w, returned := c.x.audited("children of "+path, w)
	children, err := c.Conn.Children(ctx, path, w)
	returned(err)
	return children, err
}

func (c *client) create(ctx context.Context, path, data string, mode drivers.Mode) drivers.Child {
	c.x.Helper()
	child, err := c.Create(ctx, path, []byte(data), mode)
	if err != nil {
		c.x.Fatalf("create %s: %v", path, err)
	}
	return child
}

func (c *client) remove(ctx context.Context, path string) {
	c.x.Helper()
	if err := c.Delete(ctx, path, drivers.AnyVersion); err != nil {
		c.x.Fatalf("delete %s: %v", path, err)
	}
}

func (c *client) exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool) {
	c.x.Helper()
	stat, found, err := c.Exists(ctx, path, w)
	if err != nil {
		c.x.Fatalf("exists %s: %v", path, err)
	}
	return stat, found
}

func (c *client) get(ctx context.Context, path string, w drivers.Watch) (string, drivers.Stat) {
	c.x.Helper()
	data, stat, err := c.Get(ctx, path, w)
	if err != nil {
		c.x.Fatalf("get %s: %v", path, err)
	}
	return string(data), stat
}

func (c *client) set(ctx context.Context, path, data string) drivers.Stat {
	c.x.Helper()
	stat, err := c.Set(ctx, path, []byte(data), drivers.AnyVersion)
	if err != nil {
		c.x.Fatalf("set %s: %v", path, err)
	}
	return stat
}

func (c *client) children(ctx context.Context, path string, w drivers.Watch) []drivers.Child {
	c.x.Helper()
	children, err := c.Children(ctx, path, w)
	if err != nil {
		c.x.Fatalf("children of %s: %v", path, err)
	}
	return children
}

// sync makes the writes of other sessions visible to this session's reads.
func (c *client) sync(ctx context.Context) {
	c.x.Helper()
	if err := c.Sync(ctx, c.x.base); err != nil {
		c.x.Fatalf("sync: %v", err)
	}
}

// flush returns when every notification for earlier writes has reached its watch.
func (c *client) flush(ctx context.Context) {
	c.x.Helper()
	f, ok := c.Conn.(drivers.Flusher)
	if !ok {
		c.x.Fatalf("%T is no drivers.Flusher: it cannot be shown that a watch did not fire", c.Conn)
	}
	if err := f.Flush(ctx); err != nil {
		c.x.Fatalf("flush: %v", err)
	}
}

// close ends the session.
func (c *client) close() {
	c.x.Helper()
	if err := c.Close(); err != nil {
		c.x.Fatalf("close: %v", err)
	}
}

// A recording is a [drivers.Probe] that records every message of one session, except for the
// heartbeats, whose number depends on time.
type recording struct {
	mu       sync.Mutex
	messages []drivers.Message
	grown    chan struct{} // closed and replaced with every message
}

func newRecording() *recording { return &recording{grown: make(chan struct{})} }

// Message records a copy of the message.
func (t *recording) Message(m drivers.Message) {
	if m.Op == drivers.OpPing {
		return
	}
	m.Path, m.Parts = bytes.Clone(m.Path), slices.Clone(m.Parts)
	for i := range m.Parts {
		m.Parts[i].Path = bytes.Clone(m.Parts[i].Path)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages = append(t.messages, m)
	close(t.grown)
	t.grown = make(chan struct{})
}

// matching returns the wanted messages recorded so far, and a channel that is closed at
// the next message.
func (t *recording) matching(wanted func(drivers.Message) bool) ([]drivers.Message, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []drivers.Message
	for _, m := range t.messages {
		if wanted(m) {
			found = append(found, m)
		}
	}
	return found, t.grown
}

// all returns the wanted messages recorded so far.
func (t *recording) all(wanted func(drivers.Message) bool) []drivers.Message {
	found, _ := t.matching(wanted)
	return found
}

func requestOf(op drivers.Op) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return m.Kind == drivers.Request && m.Op == op }
}

func replyTo(op drivers.Op) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return m.Kind == drivers.Reply && m.Op == op }
}

func ofKind(kind drivers.MessageKind) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return m.Kind == kind }
}

// grows waits until at least n wanted messages were recorded.
func (t *recording) grows(ctx context.Context, n int, wanted func(drivers.Message) bool) error {
	for {
		found, grown := t.matching(wanted)
		if len(found) >= n {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return fmt.Errorf("timed out waiting for the probe to see %d messages, saw %d", n, len(found))
		}
	}
}

// An audit follows one watch from the call that arms it to the end of the case, whatever
// the case itself checks.
type audit struct {
	what string

	mu    sync.Mutex
	armed bool // the call returned nil
	calls int
	first chan struct{} // closed by the first call
}

// audited returns the watch to pass on, and the function to call when the arming call has
// returned.
func (x *trial) audited(what string, w drivers.Watch) (drivers.Watch, func(error)) {
	if w == nil {
		return nil, func(error) {}
	}
	a := &audit{what: what, first: make(chan struct{})}
	x.mu.Lock()
	x.audits = append(x.audits, a)
	x.mu.Unlock()
	fire := func(e drivers.Event) {
		a.fired()
		w(e)
	}
	return fire, a.returned
}

func (a *audit) fired() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	if a.calls == 1 {
		close(a.first)
	}
}

func (a *audit) returned(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.armed = err == nil
}

// audit checks, when all sessions have ended, that every armed watch was called exactly
// once, and that no watch of a failed call was called.
func (x *trial) audit(ctx context.Context) {
	for _, a := range x.audits {
		if a.isArmed() {
			x.await(ctx, a.first, "the watch of %s: it was armed and never called, not even when the session ended", a.what)
		}
	}
	for _, a := range x.audits {
		a.mu.Lock()
		switch {
		case a.armed && a.calls != 1:
			x.Errorf("the watch of %s was called %d times, want once", a.what, a.calls)
		case !a.armed && a.calls != 0:
			x.Errorf("the watch of %s was called %d times, though the call that was to arm it failed", a.what, a.calls)
		}
		a.mu.Unlock()
	}
}

func (a *audit) isArmed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.armed
}
