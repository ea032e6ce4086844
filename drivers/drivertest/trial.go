package drivertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// A trial is a running case: it has a node of its own, the sessions that it opened and
// the watches that it armed.
type trial struct {
	testing.TB
	service drivers.Service
	base    string
	admin   drivers.Conn // makes and removes base; the case leaves it alone

	mu          sync.Mutex
	clients     []*client
	audits      []*audit
	watches     []*persistentWatch
	heldReplies []*heldReply
}

func begin(ctx context.Context, t testing.TB, service drivers.Service) *trial {
	admin, err := service.Dial(ctx, drivers.Options{})
	if err != nil {
		t.Fatalf("opening a session: %v", err)
	}
	x := &trial{TB: t, service: service, admin: admin, base: "/drivertest-" + rand.Text()}
	if _, err := admin.Create(ctx, x.base, nil, 0); err != nil {
		admin.Close()
		t.Fatalf("creating the case's own node: %v", err)
	}
	return x
}

// end closes the case's sessions, audits its watches and removes its nodes.
func (x *trial) end() {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(x.Context()), patience, errHung)
	defer cancel()
	for _, g := range x.heldReplies {
		g.pass()
	}
	for _, c := range x.clients {
		if err := c.Close(); err != nil {
			x.Errorf("closing a session: %v", err)
		}
	}
	if !x.Failed() {
		x.audit(ctx)
		x.closeVigils(ctx)
	}
	if err := x.admin.Sync(ctx, "/"); err != nil {
		x.Errorf("syncing before the clean-up: %v", err)
	}
	if err := removeAll(ctx, x.admin, x.base); err != nil {
		x.Errorf("removing the case's nodes: %v", err)
	}
	if err := x.admin.Close(); err != nil {
		x.Errorf("closing the session that cleans up: %v", err)
	}
}

// removeAll removes a node and all below it, siblings at the same time. Ephemeral nodes
// may disappear by themselves meanwhile.
func removeAll(ctx context.Context, c drivers.Conn, path string) error {
	children, err := c.Children(ctx, path, nil)
	errs := make([]error, len(children))
	var wg sync.WaitGroup
	for i, child := range children {
		wg.Go(func() { errs[i] = removeAll(ctx, c, path+"/"+child.Name) })
	}
	wg.Wait()
	if err == nil {
		err = errors.Join(errs...)
	}
	if err == nil {
		err = c.Delete(ctx, path, drivers.AnyVersion)
	}
	return unless(err, drivers.ErrNoNode)
}

// path returns the path of a node below the case's own.
func (x *trial) path(names ...string) string {
	return x.base + "/" + strings.Join(names, "/")
}

// dial opens a session. It ends with the case at the latest.
func (x *trial) dial(ctx context.Context, o drivers.Options) *client {
	conn, err := x.service.Dial(ctx, o)
	if err != nil {
		x.Fatalf("opening a session: %v", err)
	}
	c := &client{Conn: conn, x: x}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clients = append(x.clients, c)
	return c
}

// pair opens two sessions with default options: one that acts and one that looks on.
func (x *trial) pair(ctx context.Context) (actor, onlooker *client) {
	return x.dial(ctx, drivers.Options{}), x.dial(ctx, drivers.Options{})
}

// expire ends a session from outside.
func (x *trial) expire(ctx context.Context, c *client) {
	e, ok := x.service.(drivers.Expirer)
	if !ok {
		x.Skipf("%T is no drivers.Expirer", x.service)
	}
	if err := e.Expire(ctx, c.Conn); err != nil {
		x.Fatalf("ending the session from outside: %v", err)
	}
}

// await fails the case if done is not closed in time.
func (x *trial) await(ctx context.Context, done <-chan struct{}, format string, args ...any) {
	x.Helper()
	select {
	case <-done:
	case <-ctx.Done():
		x.Fatalf("timed out waiting for %s", fmt.Sprintf(format, args...))
	}
}

// wants fails the case if err does not match the sentinel.
func (x *trial) wants(what string, err, sentinel error) {
	x.Helper()
	if !errors.Is(err, sentinel) {
		x.Fatalf("%s: error %v, want %v", what, err, sentinel)
	}
}

// atOnce runs the functions at the same time, waits for all of them and fails
// the case if any of them failed.
func (x *trial) atOnce(fs ...func() error) {
	x.Helper()
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		x.Fatal(err)
	}
}

// unless returns nil if the error matches one of those that are allowed, and err
// otherwise.
func unless(err error, may ...error) error {
	for _, m := range may {
		if errors.Is(err, m) {
			return nil
		}
	}
	return err
}

// A heldReply holds the first reply to an operation before the client sees it. The call stays
// unanswered until the case lets the reply pass or loses it. Its ask is a
// [drivers.Options.LoseReply].
type heldReply struct {
	op      drivers.Op
	skip    atomic.Int32  // replies to let pass first
	stopped chan struct{} // closed when the reply has arrived
	verdict chan bool     // whether the reply is lost
}

// holdReply holds the first reply to an operation of one session.
func (x *trial) holdReply(op drivers.Op) *heldReply {
	g := &heldReply{op: op, stopped: make(chan struct{}), verdict: make(chan bool, 1)}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heldReplies = append(x.heldReplies, g)
	return g
}

// holdReplyAtReconnect holds the reply that opens the session's second connection, so that the
// session stays disconnected.
func (x *trial) holdReplyAtReconnect() *heldReply {
	g := x.holdReply(drivers.OpOpen)
	g.skip.Store(1)
	return g
}

// losing returns a heldReply that loses the first reply to an operation.
func (x *trial) losing(op drivers.Op) *heldReply {
	g := x.holdReply(op)
	g.lose()
	return g
}

func (g *heldReply) ask(m drivers.Message) bool {
	if m.Op != g.op || g.skip.Add(-1) != -1 {
		return false
	}
	close(g.stopped)
	return <-g.verdict
}

// reached waits until the reply has arrived.
func (g *heldReply) reached(ctx context.Context) error {
	select {
	case <-g.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("timed out waiting for the reply to %v", g.op)
	}
}

func (g *heldReply) pass() { g.decide(false) }
func (g *heldReply) lose() { g.decide(true) }

// decide does nothing if the case has decided already.
func (g *heldReply) decide(lost bool) {
	select {
	case g.verdict <- lost:
	default:
	}
}

// either returns a LoseReply that asks both heldReplies.
func either(a, b *heldReply) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return a.ask(m) || b.ask(m) }
}

// A listener is a watch that records its events.
type listener struct {
	mu    sync.Mutex
	heard []drivers.Event
	first chan struct{} // closed by the first event
}

func listen() *listener { return &listener{first: make(chan struct{})} }

// hear is the [drivers.Watch].
func (l *listener) hear(e drivers.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, e)
	if len(l.heard) == 1 {
		close(l.first)
	}
}

func (l *listener) events() []drivers.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard)
}

// expect waits for the first event, which must be the given one.
func (l *listener) expect(ctx context.Context, want drivers.EventType, path string) error {
	select {
	case <-l.first:
	case <-ctx.Done():
		return fmt.Errorf("timed out waiting for a watch on %s to fire: %s", path, want)
	}
	e := l.events()[0]
	if e.Type != want || want != drivers.Lost && e.Path != path {
		return fmt.Errorf("the watch on %s got event %s %s, want %s", path, e.Path, e.Type, want)
	}
	return nil
}

// hears is like told, for the case's own goroutine.
func (x *trial) hears(ctx context.Context, l *listener, want drivers.EventType, path string) drivers.Event {
	x.Helper()
	if err := l.expect(ctx, want, path); err != nil {
		x.Fatal(err)
	}
	return l.events()[0]
}

// expectCalls checks the events that the listener has got so far: none if no types are given.
func (x *trial) expectCalls(l *listener, what string, want ...drivers.EventType) {
	x.Helper()
	var got []drivers.EventType
	for _, e := range l.events() {
		got = append(got, e.Type)
	}
	if !slices.Equal(got, want) {
		x.Fatalf("%s: the watch got %v, want %v", what, got, want)
	}
}
