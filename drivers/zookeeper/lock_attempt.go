package zookeeper

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

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
