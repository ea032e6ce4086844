package misdelivery

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/stampede-bench/stampede/drivers"
)

// A Notification is what a server says of one change: a packet of ZooKeeper, or an event of a watch of etcd.
type Notification struct {
	Path  string // of ZooKeeper; the key of etcd
	Watch int64  // of etcd, its number on the stream
	Event drivers.EventType
	Pos   int64 // zxid or revision
	Moved bool  // the client had another connection before

	response *pb.WatchResponse // of etcd, with the event alone
}

// A Fault returns what the client gets in place of a notification, and what it gets after the next answer on the same
// connection, of etcd after the next progress of the stream.
type Fault func(Notification) (now, later []Notification)

// None passes on every notification.
func None(n Notification) (now, later []Notification) { return []Notification{n}, nil }

// Drop loses notifications.
func Drop(Notification) (now, later []Notification) { return nil, nil }

// Double delivers notifications twice.
func Double(n Notification) (now, later []Notification) { return []Notification{n, n}, nil }

// Delay delivers notifications after the answer that follows them.
func Delay(n Notification) (now, later []Notification) { return nil, []Notification{n} }

// Misdirect delivers the notification of another path.
func Misdirect(n Notification) (now, later []Notification) {
	n.Path += "_"
	return []Notification{n}, nil
}

// Invent adds the notification of another path.
func Invent(n Notification) (now, later []Notification) {
	other := n
	other.Path += "_"
	return []Notification{n, other}, nil
}

// Mistype reports a deletion.
func Mistype(n Notification) (now, later []Notification) {
	n.Event = drivers.Deleted
	return []Notification{n}, nil
}

// Misplace reports the change at a later position than its own.
func Misplace(n Notification) (now, later []Notification) {
	n.Pos++
	return []Notification{n}, nil
}

// Swap returns the fault that delivers each two notifications in the other order, of etcd those of the same watch.
func Swap() Fault {
	var mu sync.Mutex
	held := map[int64]Notification{}
	return func(n Notification) (now, later []Notification) {
		mu.Lock()
		defer mu.Unlock()
		first, holds := held[n.Watch]
		if !holds {
			held[n.Watch] = n
			return nil, nil
		}
		delete(held, n.Watch)
		return []Notification{n, first}, nil
	}
}

// End returns the fault that delivers one notification and loses those after it.
func End() Fault {
	var delivered atomic.Bool
	return func(n Notification) (now, later []Notification) {
		if delivered.Swap(true) {
			return nil, nil
		}
		return None(n)
	}
}

// Only returns the fault that affects the notifications of paths with one of the endings.
func Only(f Fault, endings ...string) Fault {
	return when(f, func(n Notification) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(n.Path, e) })
	})
}

// Moved returns the fault that affects the notifications of clients that had another connection before.
func Moved(f Fault) Fault {
	return when(f, func(n Notification) bool { return n.Moved })
}

func when(f Fault, affects func(Notification) bool) Fault {
	return func(n Notification) (now, later []Notification) {
		if affects(n) {
			return f(n)
		}
		return None(n)
	}
}

// A line delivers the notifications of one connection, and those that the fault delays after the next answer.
type line struct {
	relay *Relay
	moved bool
	later []Notification
}

// line begins a line.
func (r *Relay) line() *line { return &line{relay: r, moved: r.lines.Add(1) > 1} }

// notified returns what the client gets in place of a notification.
func (l *line) notified(n Notification) []Notification {
	n.Moved = l.moved
	now, later := l.relay.fault(n)
	l.later = append(l.later, later...)
	return now
}

// answered returns what the client gets after an answer.
func (l *line) answered() (now []Notification) {
	now, l.later = l.later, nil
	return now
}
