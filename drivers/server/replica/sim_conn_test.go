package replica

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A simConn is a connection of a client to a node, with the node's side of it.
type simConn struct {
	node       *simNode
	client     *simClient
	line       *Line
	session    int64 // 0 before it is established
	generation uint64
	watcher    tree.Watcher
	inbox      []simRequest  // on the way to the node
	closing    bool          // the client asked for the end of the session
	broken     bool          // nothing arrives any more
	arrives    time.Duration // when the last packet arrives at the node
	returns    time.Duration // when the last packet arrives at the client
}

// A simRequest is what a client asks for.
type simRequest struct {
	op       int
	xid      int
	path     string
	value    string // unique for each write
	mode     tree.Mode
	watch    bool
	session  int64 // connect
	password [wire.PasswordSize]byte
	seen     int64 // connect: the last zxid that the client has seen
}

// The kinds of requests.
const (
	opConnect = iota
	opSet
	opCreate
	opDelete
	opMulti
	opGet
	opSync
	opPing
	opClose
)

// A simReply is an answer, or an event if its xid is 0.
type simReply struct {
	request simRequest
	zxid    int64
	err     wire.Err
	stat    wire.Stat
	data    string
	path    string
	session int64
}

const simTimeout = 4000 // ms

// dial opens a connection, which the node may not accept.
func dial(c *simClient, n *simNode) *simConn {
	x := &simConn{node: n, client: c}
	x.watcher.Notify = func(e tree.Event, zxid int64) { x.reply(simReply{path: e.Path, zxid: zxid}) }
	return x
}

// ask sends a request to the node.
func (x *simConn) ask(r simRequest) {
	w := x.node.w
	x.arrives = max(x.arrives, w.now+w.between(100*time.Microsecond, 2*time.Millisecond))
	x.inbox = append(x.inbox, r)
	w.after(x.arrives-w.now, x.arrive)
}

// arrive lets the node take the next packet.
func (x *simConn) arrive() {
	n := x.node
	switch {
	case x.broken:
	case n.m == nil:
		x.sever()
	case n.frozen > n.w.now:
		n.w.after(n.frozen-n.w.now, x.arrive)
	default:
		r := x.inbox[0]
		x.inbox = x.inbox[1:]
		n.look()
		if x.line != nil && x.line.closed {
			return
		}
		x.serve(r)
		n.pump()
	}
}

// serve does what a server does with a request.
func (x *simConn) serve(r simRequest) {
	m := x.node.m
	if r.op == opConnect {
		x.connect(r)
		return
	}
	m.Touch(x.session)
	x.node.w.oracle.heard[x.session] = x.node.w.now
	switch r.op {
	case opGet:
		x.line.Read(func() { x.get(r) })
	case opPing:
		x.line.Read(func() { x.pong(r) })
	case opSync:
		x.line.Sync(func() { x.reply(simReply{request: r, zxid: m.state.tree.Zxid()}) })
	default:
		x.closing = x.closing || r.op == opClose
		x.line.Write(r.txn(x.session, x.node.wall()), func(a *Applied) { x.wrote(r, a) })
	}
}

// wall returns the node's clock in milliseconds.
func (n *simNode) wall() int64 { return int64((n.w.now + n.offset + n.wrong) / time.Millisecond) }

func (x *simConn) connect(r simRequest) {
	n := x.node
	if !n.m.Serving() {
		n.w.oracle.severs(x, "it does not serve")
	}
	if !n.m.Serving() || r.seen > n.m.state.tree.Zxid() {
		x.sever()
		return
	}
	n.conns = append(n.conns, x)
	x.line = n.m.NewLine()
	txn := tree.Txn{Session: r.session, Time: n.wall(), Opening: tree.Opening{Timeout: simTimeout, Password: r.password}}
	if r.session == 0 {
		txn.Session = int64(n.id)<<56 | n.w.r.Int64N(1<<40)
		n.w.oracle.opening[txn.Session] = x.client
		x.line.Open(txn, func(a *Applied) { x.connected(r, a) })
		return
	}
	x.session = r.session
	x.line.Move(txn, func(a *Applied) { x.connected(r, a) })
}

func (x *simConn) connected(r simRequest, a *Applied) {
	if a == nil {
		x.node.w.oracle.severs(x, "its request has no answer")
		x.sever()
		return
	}
	if a.Result.Err == wire.OK {
		x.session, x.generation = a.Session, a.Owner.Generation
		x.watcher.Session = a.Session
	}
	x.reply(simReply{request: r, zxid: a.Result.Zxid, err: a.Result.Err, session: a.Session})
	if a.Result.Err != wire.OK {
		x.closing = true
	}
}

func (x *simConn) wrote(r simRequest, a *Applied) {
	if a == nil {
		x.node.w.oracle.severs(x, "its request has no answer")
		x.sever()
		return
	}
	err := a.Result.Err
	for _, o := range a.Result.Ops {
		if err == wire.OK {
			err = o.Err
		}
	}
	x.reply(simReply{request: r, zxid: a.Result.Zxid, err: err, stat: a.Result.Stat, path: a.Result.Path})
}

func (x *simConn) pong(r simRequest) {
	reply := simReply{request: r, zxid: x.node.m.state.tree.Zxid()}
	x.node.w.oracle.served(x, &reply)
	x.reply(reply)
}

func (x *simConn) get(r simRequest) {
	m := x.node.m
	reply := simReply{request: r, zxid: m.state.tree.Zxid(), err: wire.ErrNoNode}
	if n := m.state.tree.Find(r.path); n != nil {
		reply.err, reply.stat, reply.data = wire.OK, n.Stat(), string(n.Data())
	}
	if r.watch {
		x.node.watches.Arm(&x.watcher, tree.DataWatch, r.path, tree.Standard)
	}
	x.node.w.oracle.served(x, &reply)
	x.reply(reply)
}

// reply sends a packet to the client.
func (x *simConn) reply(p simReply) {
	w := x.node.w
	x.returns = max(x.returns, w.now+w.between(100*time.Microsecond, 2*time.Millisecond))
	w.after(x.returns-w.now, func() {
		if !x.broken {
			x.client.take(x, p)
		}
	})
}

// sever breaks the connection. Packets on the way may still arrive.
func (x *simConn) sever() {
	if x.line != nil {
		x.line.Close()
		x.node.watches.Forget(&x.watcher)
	}
	x.node.conns = slices.DeleteFunc(x.node.conns, func(c *simConn) bool { return c == x })
	w := x.node.w
	w.after(max(x.returns-w.now, 0)+w.between(0, 5*time.Millisecond), func() {
		if !x.broken {
			x.broken = true
			x.client.lost(x)
		}
	})
}

// txn returns the transaction of a write.
func (r simRequest) txn(session, now int64) tree.Txn {
	x := tree.Txn{Session: session, Time: now}
	x.Path, x.Data, x.Version, x.Mode = r.path, []byte(r.value), tree.AnyVersion, r.mode
	x.ACL = []wire.ACL{wire.OpenACL()}
	switch r.op {
	case opSet:
		x.Kind = tree.SetData
	case opCreate:
		x.Kind = tree.Create
	case opDelete:
		x.Kind = tree.Delete
	case opClose:
		x.Op = tree.Op{Kind: tree.CloseSession, Data: []byte(r.value)}
	case opMulti:
		set := x.Op
		set.Kind = tree.SetData
		check := tree.Op{Kind: tree.Check, Path: "/zookeeper", Version: tree.AnyVersion}
		x.Op, x.Ops = tree.Op{Kind: tree.Multi}, []tree.Op{check, set}
	}
	return x
}
