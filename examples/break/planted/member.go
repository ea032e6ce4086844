package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/examples/break/plan"
)

// The nodes of the program.
const (
	members = "/app/members"
	config  = "/app/config"
	entries = "/app/log"
)

var acl = zk.WorldACL(zk.PermAll)

// A member is one client: a session, the node that stands for it, and the watch on the configuration.
type member struct {
	plan   plan.Plan
	number int
	start  time.Time

	ctx    context.Context
	end    context.CancelFunc
	conn   *zk.Conn
	closed chan struct{}   // closed when conn has tried to close its session
	events <-chan zk.Event // closed when conn has ended

	// granted has an element after a server opened or resumed the session.
	granted chan struct{}
	expired atomic.Bool
}

func open(ctx context.Context, p plan.Plan, number int, start time.Time, dial zk.Dialer) (*member, error) {
	m := &member{plan: p, number: number, start: start, granted: make(chan struct{}, 1), closed: make(chan struct{})}
	m.ctx, m.end = context.WithCancel(ctx)
	r := &route{member: m, pace: plan.NewPace(p.Retry, start), dial: dial}
	var err error
	m.conn, m.events, err = zk.Connect(p.Servers(), p.Timeout, zk.WithDialer(r.connect), zk.WithHostProvider(r),
		zk.WithEventCallback(m.onEvent), zk.WithLogger(silent{}))
	if err != nil {
		m.end()
		return nil, err
	}
	context.AfterFunc(m.ctx, func() { // ends calls that wait for a connection, too
		defer close(m.closed)
		m.conn.Close()
	})
	return m, nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// onEvent is called by the goroutine that connects, which it must not block.
func (m *member) onEvent(e zk.Event) {
	switch {
	case e.Type != zk.EventSession:
	case e.State == zk.StateHasSession:
		select {
		case m.granted <- struct{}{}:
		default:
		}
	case e.State == zk.StateExpired:
		m.expired.Store(true)
		if m.plan.OnExpiry == plan.GiveUp {
			m.end()
		}
	}
}

// close ends the session, and returns when its connection has ended.
func (m *member) close() {
	m.end()
	<-m.closed
	for range m.events {
	}
}

// prepare creates the nodes that all members share.
func (m *member) prepare() error {
	for _, path := range []string{"/app", members, config, entries} {
		err := m.untilAnswered(func() error {
			exists, _, err := m.conn.Exists(path)
			if err == nil && !exists {
				_, err = m.conn.Create(path, nil, 0, acl)
			}
			if errors.Is(err, zk.ErrNodeExists) {
				return nil
			}
			return err
		})
		switch {
		case err != nil:
			return fmt.Errorf("create %s: %w", path, err)
		case m.ctx.Err() != nil:
			return fmt.Errorf("no answer from %s within %s", m.plan.Address, m.plan.For)
		}
	}
	return nil
}

// run works until the time is over or the member gives up.
func (m *member) run() error {
	defer m.close()
	var work errgroup.Group
	work.Go(m.follow)
	work.Go(m.write)
	work.Go(m.keepRegistered)
	return work.Wait()
}

// keepRegistered registers the member, and does so again whenever its session was opened or resumed.
func (m *member) keepRegistered() error {
	var session int64
	for {
		select {
		case <-m.granted:
		case <-m.ctx.Done():
			if session == 0 && !m.expired.Load() {
				return fmt.Errorf("no session with %s within %s", m.plan.Address, m.plan.For)
			}
			return nil
		}
		first, before := session == 0, session
		session = m.conn.SessionID()
		if err := m.registerFor(session != before, first); err != nil {
			return err
		}
	}
}

// registerFor registers the member for its session, which may be a new one, or its first.
func (m *member) registerFor(fresh, first bool) error {
	switch {
	case !first && m.plan.Register == plan.Never:
		return nil
	case m.plan.Register != plan.Twice:
		return m.register()
	}
	if fresh {
		if err := m.registerBeside(); err != nil {
			return err
		}
	}
	if !first {
		return m.registerBeside()
	}
	return nil
}

// register looks for the member's node, and creates it unless this session has it.
func (m *member) register() error {
	path := fmt.Sprintf("%s/%d", members, m.number)
	err := m.untilAnswered(func() error {
		exists, stat, err := m.conn.Exists(path)
		switch {
		case err != nil:
			return err
		case exists && stat.EphemeralOwner == m.conn.SessionID():
			return nil
		case exists: // it stands for an earlier session of this member that has yet to expire
			if err := m.conn.Delete(path, stat.Version); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			}
		}
		_, err = m.conn.Create(path, nil, zk.FlagEphemeral, acl)
		return err
	})
	if err != nil {
		return fmt.Errorf("register %s: %w", path, err)
	}
	return nil
}

// registerBeside creates one sequential node more, whatever there is.
func (m *member) registerBeside() error {
	return m.untilAnswered(func() error {
		_, err := m.conn.Create(fmt.Sprintf("%s/%d-", members, m.number), nil, zk.FlagEphemeral|zk.FlagSequence, acl)
		return err
	})
}

// follow reads the configuration and watches it. After a broken connection, the library sets the watch again, unless
// a link keeps it from that.
func (m *member) follow() error {
	for watched := false; m.ctx.Err() == nil; {
		_, _, changed, err := m.conn.GetW(config)
		switch {
		case lost(err) && watched && m.plan.Watch == plan.Never:
			return nil
		case lost(err):
			continue
		case err != nil:
			return fmt.Errorf("read %s: %w", config, err)
		}
		watched = true
		select {
		case e := <-changed:
			if e.Type == zk.EventNotWatching && m.plan.Watch == plan.Never {
				return nil
			}
		case <-m.ctx.Done():
		}
	}
	return nil
}

// write appends the member's entries to the log.
func (m *member) write() error {
	for i := range m.plan.Writes {
		select {
		case <-time.After(time.Until(m.start.Add(m.plan.WriteAt(i)))):
		case <-m.ctx.Done():
			return nil
		}
		if err := m.append(fmt.Sprintf("%d-%d-", m.number, i)); err != nil {
			return fmt.Errorf("append to %s: %w", entries, err)
		}
	}
	return nil
}

// append creates an entry, and tries again if the reply was lost.
func (m *member) append(name string) error {
	tried := false
	return m.untilAnswered(func() error {
		if tried && !m.plan.Repeat {
			names, _, err := m.conn.Children(entries)
			done := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name) })
			if err != nil || done {
				return err
			}
		}
		tried = true
		_, err := m.conn.Create(entries+"/"+name, nil, zk.FlagSequence, acl)
		return err
	})
}

// untilAnswered repeats a call until the service has answered it or the member ends.
func (m *member) untilAnswered(call func() error) error {
	for {
		err := call()
		switch {
		case m.ctx.Err() != nil:
			return nil
		case !lost(err):
			return err
		}
	}
}

// lost reports whether no answer came, so that the request may have been carried out or not.
func lost(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrSessionExpired) || errors.Is(err, zk.ErrNoServer) ||
		errors.Is(err, zk.ErrClosing)
}
