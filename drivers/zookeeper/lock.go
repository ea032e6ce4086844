package zookeeper

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// sweepTime is how long Acquire waits for the removal of its node after it has failed. The
// removal continues until it succeeds or the session ends.
const sweepTime = time.Second

// libraryLock is the library's zk.Lock. It reads the name of its node off the wire, since the
// library does not return it. So it can guarantee what the library does not: when Acquire
// fails, or its context ends, the node is removed.
//
// It cannot end the library's Lock. That call continues to wait for its predecessor. When the
// predecessor is gone it lists the nodes again, and may wait again, until there is none ahead
// of it or the session ends. A lock with contexts would not make these reads. If a reply is
// lost meanwhile, the library may create its node again, which is removed when its turn comes.
type libraryLock struct {
	conn *Conn
	path string // as the caller gave it

	mu       sync.Mutex
	attempts []*attempt // whose Lock has not returned, or whose node may exist
	last     *attempt
	held     *attempt
}

// LibraryForm returns the library's form of a recipe. The library only has a lock.
func (c *Conn) LibraryForm(recipe, path string, _ int) any {
	if recipe == "lock" {
		return c.libraryLock(path)
	}
	return nil
}

// libraryLock returns the library's lock on a path. A session has at most one per path.
func (c *Conn) libraryLock(path string) *libraryLock {
	l := &libraryLock{conn: c, path: path}
	c.locks.add(c.ensemble.Path(path), l)
	return l
}

// Acquire blocks until the lock is held.
func (l *libraryLock) Acquire(ctx context.Context) (context.Context, error) {
	if err := l.ready(ctx); err != nil {
		return nil, l.conn.failed("lock", l.path, err)
	}
	a, err := l.begin()
	if err != nil {
		return nil, l.conn.failed("lock", l.path, err)
	}
	err = a.wait(ctx)
	if err == nil {
		err = l.number(ctx, a)
	}
	if err != nil {
		l.abandon(ctx, a)
		return nil, l.conn.failed("lock", l.path, err)
	}
	held, release := drivers.Bound(ctx, l.conn)
	a.release = release
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = a
	return held, nil
}

// ready waits until the library may be called and the name of the previous attempt is known:
// the next name then belongs to this attempt.
func (l *libraryLock) ready(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last != nil {
		select {
		case <-last.asked:
		case <-last.returned:
		case <-l.conn.done:
			return drivers.ErrSessionLost
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return l.conn.latch.Wait(ctx, l.conn.done)
}

// begin starts the library's Lock.
func (l *libraryLock) begin() (*attempt, error) {
	a := &attempt{
		lock:     zk.NewLock(l.conn.library, l.conn.ensemble.Path(l.path), l.conn.acl),
		asked:    make(chan struct{}),
		returned: make(chan struct{}),
		seq:      drivers.NoSeq,
	}
	l.mu.Lock()
	l.attempts = append(l.attempts, a)
	l.last = a
	l.mu.Unlock()
	return a, l.conn.locks.run(func() {
		defer close(a.returned)
		a.err = a.lock.Lock()
	})
}

// number lists the nodes if the reply with the sequence was lost.
func (l *libraryLock) number(ctx context.Context, a *attempt) error {
	if _, seq := l.named(a); seq != drivers.NoSeq {
		return nil
	}
	child, err := l.find(ctx, a)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a.seq = child.Seq
	return nil
}

// Token returns the sequence of the node.
func (l *libraryLock) Token() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return drivers.NoSeq
	}
	return l.held.seq
}

// Release releases the lock. If the context ends first, the release continues in the
// background.
func (l *libraryLock) Release(ctx context.Context) error {
	l.mu.Lock()
	a := l.held
	l.held = nil
	l.mu.Unlock()
	if a == nil {
		return nil
	}
	a.release()
	unlocked := make(chan error, 1)
	err := l.conn.locks.run(func() { unlocked <- l.unlock(context.WithoutCancel(ctx), a) })
	if err == nil {
		select {
		case err = <-unlocked:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return l.conn.failed("unlock", l.path, err)
	}
	return nil
}

// unlock calls the library's Unlock. If that fails it removes the node itself.
func (l *libraryLock) unlock(ctx context.Context, a *attempt) error {
	defer l.forget(a)
	if err := l.conn.latch.Wait(ctx, l.conn.done); err != nil {
		return err
	}
	err := a.lock.Unlock()
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return l.sweep(ctx, a)
	}
	return nil
}

// abandon removes the node of an attempt that failed or was cancelled. A session that has
// ended has no node.
func (l *libraryLock) abandon(ctx context.Context, a *attempt) {
	swept := make(chan struct{})
	err := l.conn.locks.run(func() { l.cleanUp(context.WithoutCancel(ctx), a, swept) })
	if err != nil {
		return
	}
	patience := time.NewTimer(sweepTime)
	defer patience.Stop()
	select {
	case <-swept:
	case <-patience.C:
	}
}

// cleanUp removes the node as soon as it may exist. If the library's Lock had not returned by
// then, cleanUp removes the node again when it has.
func (l *libraryLock) cleanUp(ctx context.Context, a *attempt, swept chan<- struct{}) {
	defer l.forget(a)
	select {
	case <-a.returned:
		l.sweep(ctx, a)
		close(swept)
		return
	default:
	}
	select {
	case <-a.asked:
		l.sweep(ctx, a)
	case <-a.returned:
	}
	close(swept)
	<-a.returned
	l.sweep(ctx, a)
}

// sweep removes the node if it exists. It only fails when the session has ended, and its node
// with it.
func (l *libraryLock) sweep(ctx context.Context, a *attempt) error {
	err := drivers.Repeat(ctx, func() error {
		child, err := l.find(ctx, a)
		if err != nil {
			return err
		}
		return l.conn.Delete(ctx, l.path+"/"+child.Name, drivers.AnyVersion)
	})
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// find finds the node by its GUID.
func (l *libraryLock) find(ctx context.Context, a *attempt) (drivers.Child, error) {
	guid, _ := l.named(a)
	if guid == "" {
		return drivers.Child{}, drivers.ErrNoNode
	}
	children, err := l.conn.Children(ctx, l.path, nil)
	if err != nil {
		return drivers.Child{}, err
	}
	for _, child := range children {
		if strings.HasPrefix(child.Name, guid) {
			return child, nil
		}
	}
	return drivers.Child{}, drivers.ErrNoNode
}

// protected is the prefix of the library's lock nodes, before the GUID.
const protected = "_c_"

// attempt is one call of the library's Lock. The mutex of its libraryLock guards guid and seq.
type attempt struct {
	lock     *zk.Lock
	asked    chan struct{} // closed when its create is first sent
	returned chan struct{} // closed when Lock has returned
	err      error         // of Lock, once returned is closed
	release  context.CancelFunc
	guid     string // the node's name without its sequence; "" before the create is sent
	seq      int64  // NoSeq until a reply contains it
}

// wait waits until the library's Lock returns.
func (a *attempt) wait(ctx context.Context) error {
	select {
	case <-a.returned:
		return a.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *libraryLock) named(a *attempt) (guid string, seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.guid, a.seq
}

// nameSent is called with the name of each create below the path before it is sent. The library
// uses a new GUID after it had to create the path first.
func (l *libraryLock) nameSent(name []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := func(a *attempt) bool { return a.guid == string(name) }
	if l.last == nil || !bytes.HasPrefix(name, []byte(protected)) || slices.ContainsFunc(l.attempts, known) {
		return
	}
	if l.last.guid == "" {
		close(l.last.asked)
	}
	l.last.guid = string(name)
}

// created is called with the name of each node created below the path.
func (l *libraryLock) created(name []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.attempts {
		if a.guid != "" && bytes.HasPrefix(name, []byte(a.guid)) {
			a.seq = ensemble.Sequence(string(name))
		}
	}
}

// forget removes an attempt that has ended.
func (l *libraryLock) forget(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts = slices.DeleteFunc(l.attempts, func(b *attempt) bool { return a == b })
}

// locks holds the library locks of one session. They read its creates off the wire.
type locks struct {
	some atomic.Bool

	mu      sync.Mutex
	byPath  map[string]*libraryLock // the path on the server
	running sync.WaitGroup          // goroutines that call the library
	closed  bool
}

// run calls f on a new goroutine, unless the session has ended.
func (s *locks) run(f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return drivers.ErrSessionLost
	}
	s.running.Go(f)
	return nil
}

// close waits for the goroutines, which end after the library has.
func (s *locks) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
}

func (s *locks) add(path string, l *libraryLock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byPath == nil {
		s.byPath = make(map[string]*libraryLock)
	}
	s.byPath[path] = l
	s.some.Store(true)
}

// lockOf returns the lock that a create below its path belongs to, or nil.
func (s *locks) lockOf(path []byte) (l *libraryLock, name []byte) {
	if !s.some.Load() {
		return nil, nil
	}
	cut := bytes.LastIndexByte(path, '/')
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byPath[string(path[:max(cut, 0)])], path[cut+1:]
}

func (s *locks) createSent(m *drivers.Message) {
	if l, name := s.lockOf(m.Path); l != nil {
		l.nameSent(name)
	}
}

func (s *locks) created(m *drivers.Message) {
	if m.Err != nil {
		return
	}
	if l, name := s.lockOf(m.Path); l != nil {
		l.created(name)
	}
}
