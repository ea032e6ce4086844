package recipetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A sceneCase is one requirement of a recipe in which several clients follow what others do.
type sceneCase struct {
	name string
	why  string // what the case requires, and why
	run  func(ctx context.Context, x *scene)
}

// A scene is the state of such a case: a node of its own, and sessions that may run several
// calls at the same time.
type scene struct {
	testing.TB
	setting
	dir     string
	admin   drivers.Conn // creates, inspects and removes dir
	members []*member
	ledger  ledger
	library bool // the form is a library's
}

// playAll runs the cases on a shared service.
func playAll(t *testing.T, service drivers.Service, cases []sceneCase, library Library) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			library.excuse(t, c.name)
			t.Parallel()
			c.play(t, setting{service: service})
		})
	}
}

// playBubbled runs each case in a bubble, with a service of its own.
func playBubbled(t *testing.T, open func(t testing.TB) drivers.Service, cases []sceneCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				service := open(t)
				defer closed(t, service)
				c.play(t, setting{service: service, bubble: true})
			})
		})
	}
}

func (c sceneCase) play(t testing.TB, s setting) {
	defer func() {
		if t.Failed() {
			t.Logf("what is asked: %s", c.why)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errHung)
	defer cancel()
	admin, err := s.service.Dial(ctx, drivers.Options{})
	if err != nil {
		t.Fatalf("opening a session: %v", err)
	}
	x := &scene{TB: t, setting: s, admin: admin, dir: "/recipetest-" + rand.Text()}
	defer x.end()
	x.put(ctx, "", nil)
	c.run(ctx, x)
}

// end dismisses all members and removes the case's node.
func (x *scene) end() {
	x.dismiss()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(x.Context()), patience, errHung)
	defer cancel()
	if err := x.clear(ctx, x.dir); err != nil {
		x.Errorf("removing the case's node: %v", err)
	}
	if err := x.admin.Close(); err != nil {
		x.Errorf("closing the session that cleans up: %v", err)
	}
}

// dismiss cancels all calls and closes all sessions.
func (x *scene) dismiss() {
	for _, m := range x.members {
		m.replies.Store(nil)
		for _, c := range m.calls {
			c.cancel(errGivenUp)
		}
	}
	for _, m := range x.members {
		if err := m.conn.Close(); err != nil {
			x.Errorf("closing a session: %v", err)
		}
		for _, c := range m.calls {
			<-c.done
		}
	}
	x.members = nil
}

// clear removes a node and everything below it.
func (x *scene) clear(ctx context.Context, path string) error {
	children, err := x.admin.Children(ctx, path, nil)
	for _, c := range children {
		err = errors.Join(err, x.clear(ctx, path+"/"+c.Name))
	}
	if err == nil {
		err = x.admin.Delete(ctx, path, drivers.AnyVersion)
	}
	if errors.Is(err, drivers.ErrNoNode) { // an ephemeral node that was removed in the meantime
		return nil
	}
	return err
}

// put creates the case's node, or a node below it.
func (x *scene) put(ctx context.Context, name string, data []byte) {
	x.Helper()
	if _, err := x.admin.Create(ctx, x.dir+name, data, 0); err != nil {
		x.Fatalf("creating %s: %v", x.dir+name, err)
	}
}

// rest returns when every call has returned or is parked and no message is in flight. The
// proof: all calls are parked, every session is fenced, and no message has arrived since.
func (x *scene) rest(ctx context.Context) {
	x.Helper()
	for ctx.Err() == nil {
		if x.bubble {
			synctest.Wait() // rather than spin
		}
		before, parked := x.moves()
		for _, m := range x.members {
			if err := m.fence(ctx); err != nil {
				x.Fatalf("fencing a session: %v", err)
			}
		}
		if x.bubble {
			synctest.Wait()
		}
		after, still := x.moves()
		if parked && still && before == after {
			return
		}
	}
	x.Fatalf("coming to rest: %v", context.Cause(ctx))
}

// tick lets each polling client poll once.
func (x *scene) tick(ctx context.Context) {
	x.Helper()
	for _, m := range x.members {
		for _, c := range m.calls {
			c.spot.Tick()
		}
	}
	x.rest(ctx)
}

// settle is rest, then one more poll of each polling client.
func (x *scene) settle(ctx context.Context) {
	x.Helper()
	x.rest(ctx)
	x.tick(ctx)
}

// moves returns the number of messages that all sessions have seen, and whether all members
// are parked.
func (x *scene) moves() (messages int64, parked bool) {
	x.ledger.mu.Lock()
	messages = x.ledger.messages
	x.ledger.mu.Unlock()
	return messages, !slices.ContainsFunc(x.members, func(m *member) bool { return !m.parked() })
}

// A member is a session in a scene.
type member struct {
	x       *scene
	conn    drivers.Conn
	tally   tally
	replies atomic.Pointer[func(drivers.Message) bool] // which replies to lose
	calls   []*call
}

// A call is a call of a member, which may block. err is valid once done is closed.
type call struct {
	spot   drivers.Spot
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error
}

// member opens a session.
func (x *scene) member(ctx context.Context) *member {
	x.Helper()
	m := &member{x: x, tally: tally{ledger: &x.ledger}}
	conn, err := x.service.Dial(ctx, drivers.Options{
		Probe: &m.tally,
		LoseReply: func(message drivers.Message) bool {
			lose := m.replies.Load()
			return lose != nil && (*lose)(message)
		},
	})
	if err != nil {
		x.Fatalf("opening a session: %v", err)
	}
	m.conn = conn
	x.members = append(x.members, m)
	return m
}

// lose sets which replies are lost from now on.
func (m *member) lose(which func(drivers.Message) bool) { m.replies.Store(&which) }

// begin starts a call.
func (m *member) begin(ctx context.Context, do func(context.Context) error) *call {
	c := &call{done: make(chan struct{})}
	c.spot.Ticks = true
	ctx, c.cancel = context.WithCancelCause(drivers.WithSpot(ctx, &c.spot))
	m.calls = append(m.calls, c)
	go func() {
		defer close(c.done)
		c.err = do(ctx)
	}()
	return c
}

// failed waits until the call fails with the error.
func (m *member) failed(ctx context.Context, c *call, want error) {
	m.x.Helper()
	select {
	case <-c.done:
	case <-ctx.Done():
		m.x.Fatalf("a call does not return: %v", context.Cause(ctx))
	}
	if !errors.Is(c.err, want) {
		m.x.Fatalf("a call returned %v, want error %v", c.err, want)
	}
}

// fence returns when the session has received all notifications.
func (m *member) fence(ctx context.Context) error {
	err := drivers.Repeat(func() error { return m.conn.(drivers.Fencer).Fence(ctx) })
	if errors.Is(err, drivers.ErrSessionLost) {
		return nil
	}
	return err
}

// close closes the session.
func (m *member) close() {
	m.x.Helper()
	if err := m.conn.Close(); err != nil {
		m.x.Fatalf("closing a session: %v", err)
	}
}

func (m *member) parked() bool {
	return !slices.ContainsFunc(m.calls, func(c *call) bool {
		select {
		case <-c.done:
			return false
		default:
			parked, _ := c.spot.Parked()
			return !parked && !(m.x.library && m.tally.waits())
		}
	})
}
