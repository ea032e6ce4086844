package etcd

import (
	"context"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/library"
)

// A tape is a probe that records messages.
type tape struct {
	mu       sync.Mutex
	messages []drivers.Message
	watching chan struct{} // closed when the server has confirmed a library's watch
	once     sync.Once
}

func newTape() *tape { return &tape{watching: make(chan struct{})} }

func (p *tape) Message(m drivers.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.Path = append([]byte(nil), m.Path...)
	p.messages = append(p.messages, m)
	if m.Kind == drivers.Reply && m.Op == drivers.OpOther && m.Watch {
		p.once.Do(func() { close(p.watching) })
	}
}

// count counts the messages of a kind and operation.
func (p *tape) count(kind drivers.MessageKind, op drivers.Op) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.messages {
		if m.Kind == kind && m.Op == op {
			n++
		}
	}
	return n
}

// The library's lock passes from one session to another, and the probe counts the messages
// while the second one waits inside the library.
func TestLibraryLock(t *testing.T) {
	s := quick(t)
	probe := newTape()
	a, b := dial(t, s, drivers.Options{}), dial(t, s, drivers.Options{Probe: probe})
	create(t, a, "/lock", 0)
	first, second := a.LibraryForm("lock", "/lock", 0).(*library.Lock), b.LibraryForm("lock", "/lock", 0).(*library.Lock)
	if _, err := first.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := make(chan context.Context)
	go func() {
		held, err := second.Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- held
	}()
	<-probe.watching
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := probe.count(drivers.Notification, 0); n != 0 {
		t.Errorf("%d notifications while the lock is held, want none", n)
	}
	token := first.Token()
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := <-got
	if second.Token() <= token {
		t.Errorf("token %d after %d, want a higher one", second.Token(), token)
	}
	if err := second.Release(t.Context()); err != nil || held.Err() == nil {
		t.Errorf("release: %v; the held context: %v, want it to have ended", err, held.Err())
	}
	for op, want := range map[drivers.Op]int{drivers.OpCreate: 1, drivers.OpDelete: 1, drivers.OpGet: 3} {
		if n := probe.count(drivers.Request, op); n != want {
			t.Errorf("%d requests to %v, want %d", n, op, want)
		}
	}
	if n := probe.count(drivers.Notification, 0); n != 1 {
		t.Errorf("%d notifications, want 1", n)
	}
}

// A cancelled client leaves nothing behind that could block the next one.
func TestLibraryLockGivenUp(t *testing.T) {
	s := quick(t)
	probe := newTape()
	a, b := dial(t, s, drivers.Options{}), dial(t, s, drivers.Options{Probe: probe})
	create(t, a, "/lock", 0)
	first, second := a.LibraryForm("lock", "/lock", 0).(*library.Lock), b.LibraryForm("lock", "/lock", 0).(*library.Lock)
	if _, err := first.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, giveUp := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := second.Acquire(ctx)
		failed <- err
	}()
	<-probe.watching
	giveUp()
	if err := <-failed; err == nil {
		t.Error("acquired the lock that another client holds")
	}
	line, err := a.Children(t.Context(), "/lock", nil)
	if err != nil || len(line) != 1 {
		t.Errorf("the line is %v (%v), want the holder alone", line, err)
	}
}
