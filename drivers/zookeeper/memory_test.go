package zookeeper

import (
	"context"
	"net"
	"sync"

	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// memory is a server in this process, over pipes, for tests in a bubble. It has only an empty
// root, and answers all requests unless it is silent.
type memory struct {
	mu     sync.Mutex
	silent bool // accepts requests and answers only pings
	dead   bool // accepts no connections
	dials  []string
	conns  []net.Conn
	ops    []int32 // the requests received
	rearm  func(wire.SetWatchesRequest) rearmed
}

// rearmed is a server's response to a request that arms watches.
type rearmed struct {
	zxid   int64 // of the reply
	hangUp bool  // instead of a reply
}

func (m *memory) service(servers ...string) *Service {
	s, err := New(Config{Servers: servers, Dial: m.dial})
	if err != nil {
		panic(err)
	}
	return s
}

func (m *memory) dial(_ context.Context, address string) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dials = append(m.dials, address)
	if m.dead {
		return nil, errRefused
	}
	client, server := net.Pipe()
	m.conns = append(m.conns, client)
	go m.serve(server)
	return client, nil
}

// set changes the server's behavior. A server set to dead closes its connections.
func (m *memory) set(silent, dead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent, m.dead = silent, dead
	if dead {
		for _, c := range m.conns {
			c.Close()
		}
		m.conns = nil
	}
}

func (m *memory) serve(conn net.Conn) {
	defer conn.Close()
	if _, err := ensemble.Receive(conn); err != nil {
		return
	}
	open := wire.ConnectResponse{Timeout: 6000, SessionID: 7, Password: make([]byte, wire.PasswordSize)}
	ensemble.Send(conn, open.Append(wire.Begin(nil)))
	for {
		request, err := ensemble.Receive(conn)
		if err != nil {
			return
		}
		d := wire.NewDecoder(request)
		var h wire.RequestHeader
		h.Decode(&d)
		if !m.asked(h.Op) {
			continue
		}
		reply := wire.ReplyHeader{Xid: h.Xid, Zxid: 1}
		var body []byte
		switch {
		case h.Op == wire.OpSetWatches && m.rearm != nil:
			var r wire.SetWatchesRequest
			r.Decode(&d)
			then := m.rearm(r)
			if then.hangUp {
				return
			}
			reply.Zxid = then.zxid
			m.fire(conn, r)
		case h.Op == wire.OpGetData && d.String() == "/":
			body = wire.Stat{}.Append(wire.AppendBytes(nil, nil))
		case h.Op == wire.OpGetData, h.Op == wire.OpExists:
			reply.Err = wire.ErrNoNode
		}
		ensemble.Send(conn, append(reply.Append(wire.Begin(nil)), body...))
		if h.Op == wire.OpCloseSession {
			return
		}
	}
}

// changedAt is the position at which every watched node changed while the session was
// disconnected.
const changedAt = 500

// fire sends notifications for the nodes that have changed since the position of a request.
func (m *memory) fire(conn net.Conn, r wire.SetWatchesRequest) {
	if r.RelativeZxid >= changedAt {
		return
	}
	for _, path := range r.Exist {
		event := wire.WatcherEvent{Type: wire.EventCreated, State: wire.StateConnected, Path: path}
		head := wire.ReplyHeader{Xid: wire.XidNotification, Zxid: -1}
		ensemble.Send(conn, event.Append(head.Append(wire.Begin(nil))))
	}
}

// listen serves on a listener.
func (m *memory) listen(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go m.serve(conn)
	}
}

// asked records a request and reports whether to answer it.
func (m *memory) asked(op int32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if op != wire.OpPing {
		m.ops = append(m.ops, op)
	}
	return !m.silent || op == wire.OpPing
}
