package etcd

import (
	"context"
	"net"
)

// A link is one network connection of a session. It tells the tap when it
// broke, before the library learns of it.
type link struct {
	net.Conn
	tap *tap
}

func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if err != nil {
		l.tap.unlinked(l)
	}
	return n, err
}

func (l *link) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if err != nil {
		l.tap.unlinked(l)
	}
	return n, err
}

// Close is called by the library: when it gives the connection up, and at the end.
func (l *link) Close() error {
	l.tap.unlinked(l)
	return l.Conn.Close()
}

// link connects to a server.
func (t *tap) link(ctx context.Context, address string) (net.Conn, error) {
	conn, err := t.dial(ctx, address)
	if err == nil && t.through != nil {
		conn = t.through(conn)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialing = err
	if err != nil {
		return nil, err
	}
	l := &link{Conn: conn, tap: t}
	t.links[l] = true
	return l, nil
}

// undone takes note of why a connection that was dialed came to nothing.
func (t *tap) undone(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialing = err
}

// undialed is why the last attempt to connect failed, or nil.
func (t *tap) undialed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dialing
}

// unlinked takes note that a connection is no more. If the library had begun
// another beside it, which it gave up for this one or the other way round, the
// session goes on.
func (t *tap) unlinked(l *link) {
	t.mu.Lock()
	last := t.links[l] && len(t.links) == 1
	delete(t.links, l)
	if last {
		t.breaks++
		t.tell(cut)
	}
	t.mu.Unlock()
	if last {
		t.broken()
	}
}

// linked tells whether there is a connection, and it has not broken since the given
// time.
func (t *tap) linked(breaks uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.breaks == breaks && len(t.links) > 0
}

// cut breaks the connection, unless it has broken since the given time.
func (t *tap) cut(breaks uint64) {
	t.mu.Lock()
	if t.breaks != breaks {
		t.mu.Unlock()
		return
	}
	t.breaks++
	t.tell(cut)
	links := t.links
	t.links = map[*link]bool{}
	t.mu.Unlock()
	for l := range links {
		l.Conn.Close()
	}
	t.broken()
}
