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

// A sceneCase is one thing that is asked of a recipe in which several follow what
// others do.
type sceneCase struct {
	name string
	why  string // what is asked for, and why
	run  func(ctx context.Context, x *scene)
}

// A scene is one such case while it runs: a node of its own, and sessions that do
// several things at once.
type scene struct {
	testing.TB
	setting
	dir     string
	admin   drivers.Conn // makes, inspects and removes dir
	members []*member
	ledger  ledger
	library bool // the form is a library's
}

// playAll runs the cases on a service that they share.
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

// end dismisses everybody and removes what the case was about.
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

// dismiss ends what goes on and closes all sessions.
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

// clear removes a node with all that is below it.
func (x *scene) clear(ctx context.Context, path string) error {
	children, err := x.admin.Children(ctx, path, nil)
	for _, c := range children {
		err = errors.Join(err, x.clear(ctx, path+"/"+c.Name))
	}
	if err == nil {
		err = x.admin.Delete(ctx, path, drivers.AnyVersion)
	}
	if errors.Is(err, drivers.ErrNoNode) { // an ephemeral one, meanwhile
		return nil
	}
	return err
}

// put makes a node below the case's own, or that one.
func (x *scene) put(ctx context.Context, name string, data []byte) {
	x.Helper()
	if _, err := x.admin.Create(ctx, x.dir+name, data, 0); err != nil {
		x.Fatalf("creating %s: %v", x.dir+name, err)
	}
}

// rest returns when everybody is parked or has nothing to do and nothing is under
// way any more. That is proved: all are parked, every session is fenced, and that
// has moved nobody.
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

// tick lets everybody who polls do so once.
func (x *scene) tick(ctx context.Context) {
	x.Helper()
	for _, m := range x.members {
		for _, c := range m.calls {
			c.spot.Tick()
		}
	}
	x.rest(ctx)
}

// settle is rest, and those who poll have done so once more.
func (x *scene) settle(ctx context.Context) {
	x.Helper()
	x.rest(ctx)
	x.tick(ctx)
}

// moves is how many messages all sessions have seen, and whether nobody is on
// the move.
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
	replies atomic.Pointer[func(drivers.Message) bool] // which to lose
	calls   []*call
}

// A call is something that a member does, which may go on. err is there when done
// is closed.
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

// lose says which replies are lost from now on.
func (m *member) lose(which func(drivers.Message) bool) { m.replies.Store(&which) }

// begin begins something.
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

// fence returns when the session has been handed all notifications.
func (m *member) fence(ctx context.Context) error {
	err := drivers.Repeat(func() error { return m.conn.(drivers.Fencer).Fence(ctx) })
	if errors.Is(err, drivers.ErrSessionLost) {
		return nil
	}
	return err
}

// close ends the session.
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
