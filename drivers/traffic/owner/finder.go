package owner

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A Finder finds the owners of sockets. Its methods may be called from any goroutine.
type Finder struct {
	ready chan struct{} // has an element if a question may wait
	stop  chan struct{}
	over  chan struct{}
	look  func([]question) map[int]traffic.Process // by index; see lookUp

	mu      sync.Mutex
	waiting []question
}

// A question asks for the owner of one socket.
type question struct {
	local, remote netip.AddrPort // as the socket has them
	open          func() bool
	found         func(traffic.Process)
}

// New returns a Finder, which the caller closes.
func New() *Finder {
	f := &Finder{ready: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{})}
	f.look = new(table).lookUp
	go f.work()
	return f
}

// Close returns when no function that was given to [Finder.Find] is called any more.
func (f *Finder) Close() {
	close(f.stop)
	<-f.over
}

// maxWaiting is how many questions wait at once; owners of further sockets are not looked for.
const maxWaiting = 1 << 14

// Find calls found once, maybe from another goroutine, with the process that owns the other side of a connection of
// this process: of a client that has connected to it. The process is the zero one if it is not found, or if
// open returns false after the look: the ports of a connection that has ended may have passed to another one.
// Open must return true only while the connection is open. It is called from another goroutine. Close leaves
// what waits without a call.
func (f *Finder) Find(accepted net.Conn, open func() bool, found func(traffic.Process)) {
	q := question{open: open, found: found}
	q.local, q.remote = addressOf(accepted.RemoteAddr()), addressOf(accepted.LocalAddr())
	f.mu.Lock()
	asks := q.local.IsValid() && q.remote.IsValid() && q.isLocal() && len(f.waiting) < maxWaiting
	if asks {
		f.waiting = append(f.waiting, q)
	}
	f.mu.Unlock()
	if !asks {
		found(traffic.Process{})
		return
	}
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

func addressOf(a net.Addr) netip.AddrPort {
	t, is := a.(*net.TCPAddr)
	if !is {
		return netip.AddrPort{}
	}
	at := t.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

// isLocal reports whether a process of this machine may own the socket: one that connects to an address of
// its own machine has the same.
func (q question) isLocal() bool {
	return q.local.Addr().IsLoopback() || q.local.Addr() == q.remote.Addr()
}

// The Finder looks at once where it did not look lately, since a process may be short-lived. While
// connections keep coming it waits after each look, twice as long as after the one before, up to the
// longest pause. A look that takes long because there are many sockets and processes is followed by a
// longer pause, up to the longest one: on a busy machine a look is slow, too, and a connection must not
// have ended before the next one.
const (
	shortest = 10 * time.Millisecond
	longest  = 250 * time.Millisecond
	rest     = 8 // times as long as the look has taken
)

func (f *Finder) work() {
	defer close(f.over)
	pause, looked := shortest, time.Time{}
	for f.await(f.ready, nil) {
		from := time.Now()
		if from.Sub(looked) > longest+pause {
			pause = shortest
		}
		f.answer()
		looked = time.Now()
		t := time.NewTimer(pauseAfter(pause, looked.Sub(from)))
		if !f.await(nil, t.C) {
			t.Stop()
			return
		}
		pause = min(2*pause, longest)
	}
}

// pauseAfter returns how long to wait after a look that took so long, at least a pause.
func pauseAfter(pause, look time.Duration) time.Duration { return min(max(pause, rest*look), longest) }

// await waits for a question or for a time. It returns false after Close.
func (f *Finder) await(ready <-chan struct{}, at <-chan time.Time) bool {
	select {
	case <-f.stop:
		return false
	case <-ready:
	case <-at:
	}
	return true
}

// answer looks for the owners of all sockets that wait.
func (f *Finder) answer() {
	f.mu.Lock()
	all := f.waiting
	f.waiting = nil
	f.mu.Unlock()
	owners := f.look(all)
	for i, q := range all {
		q.found(owners[i])
	}
}
