package etcd

import (
	"context"
	"net"
)

// A link is one network connection of a session. It notifies the tap of a break before the
// library learns of it.
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

// Close is called by the library when it abandons the connection, and at the end.
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

// undone records why a dialed connection could not be used.
func (t *tap) undone(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialing = err
}

// undialed returns the error of the last attempt to connect, or nil.
func (t *tap) undialed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dialing
}

// unlinked records that a connection has ended. If the library has another connection open at
// the same time and abandons one of the two, the session stays connected.
func (t *tap) unlinked(l *link) {
	t.mu.Lock()
	last := t.links[l] && len(t.links) == 1
	delete(t.links, l)
	if last {
		t.breaks++
		t.report(cut)
	}
	t.mu.Unlock()
	if last {
		t.broken()
	}
}

// linked reports whether there is a connection and the number of breaks has not changed.
func (t *tap) linked(breaks uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.breaks == breaks && len(t.links) > 0
}

// cut breaks the connection, unless the number of breaks has changed.
func (t *tap) cut(breaks uint64) {
	t.mu.Lock()
	if t.breaks != breaks {
		t.mu.Unlock()
		return
	}
	t.breaks++
	t.report(cut)
	links := t.links
	t.links = map[*link]bool{}
	t.mu.Unlock()
	for l := range links {
		l.Conn.Close()
	}
	t.broken()
}
