package targets

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/owner"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Program has the clients of another program. It is a [faults.Program]; create it with [New].
type Program struct {
	protocol traffic.Protocol
	end      Ender
	owners   *owner.Finder

	// Received, if set, is called for each connection. The tap that it returns gets what the client sends, and what it
	// receives after the faults. Set it before the first connection.
	Received func(traffic.Connection) traffic.Tap

	// Lost, if set, is told of each reply that a fault drops, before the connection breaks for that.
	Lost func(c traffic.Connection, at time.Time, op drivers.Op)

	mu      sync.Mutex
	clients []*Client          // in the order of their first connections
	came    int                // clients that have a number
	byKey   map[string]*Client // sessions by their number, other clients by their process or address
	bars    int                // calls of Bar that no call of Admit has ended
	opens   faults.Pauser      // paused while there are any
}

// An Ender ends what a client has at the service, as its expiry would. It returns when that is gone.
type Ender interface {
	End(ctx context.Context, s Session) error
}

// A Session identifies the state that a service keeps for a client: its session, or its leases.
type Session struct {
	ZooKeeper wire.ConnectResponse // with its password; zero for a client of etcd
	Leases    []int64              // of etcd
}

// New returns a Program without clients of a service with this protocol. Its owner closes it.
func New(p traffic.Protocol, end Ender) *Program {
	return &Program{protocol: p, end: end, owners: owner.New(), byKey: map[string]*Client{}}
}

// Close ends the search for processes. It is called when no connections come any more.
func (p *Program) Close() { p.owners.Close() }

// Wrap returns a connection in place of a client's own: what passes it has passed the faults.
// first is what was read of the connection before.
func (p *Program) Wrap(c traffic.Connection, client net.Conn, first []byte) net.Conn {
	ours, theirs := net.Pipe()
	l := &line{program: p, connection: c, near: client, received: p.received(c), far: ours, first: first, changed: make(chan struct{}, 1)}
	go l.run()
	return &end{Conn: theirs, of: client}
}

// received returns a decoder of what the client of a connection receives, nil without [Program.Received].
func (p *Program) received(c traffic.Connection) traffic.Decoder {
	if p.Received == nil {
		return nil
	}
	return p.protocol.Open(p.Received(c), false)
}

// Clients returns the clients that are connected, in the order in which they came.
func (p *Program) Clients() (all []faults.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var connected []*Client
	for _, c := range p.clients {
		if c.number > 0 && c.connected() {
			connected = append(connected, c)
		}
	}
	slices.SortFunc(connected, func(x, y *Client) int { return cmp.Compare(x.number, y.number) })
	for _, c := range connected {
		all = append(all, c)
	}
	return all
}

// Numbered returns the client with a number if it is connected, else whether it is gone.
func (p *Program) Numbered(n int) (c faults.Client, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.clients, func(c *Client) bool { return c.number == n })
	switch {
	case i < 0:
		return nil, n <= p.came // it was forgotten
	case p.clients[i].gone():
		return nil, true
	case p.clients[i].connected():
		return p.clients[i], false
	}
	return nil, false
}

// comes gives a client its number when it comes.
func (p *Program) comes(c *Client) {
	if c.number == 0 {
		p.came++
		c.number = p.came
	}
}

// Named returns the connected clients of a process, by the name of its program or its number, or those that have an
// ephemeral node, by its path.
func (p *Program) Named(process bool, name string) []faults.Client {
	return slices.DeleteFunc(p.Clients(), func(c faults.Client) bool {
		if process {
			return !c.(*Client).runsAs(name)
		}
		return !c.(*Client).has(name)
	})
}

// client returns the client with the key, a new one if there is none. An empty key is that of a session that is
// not open yet.
func (p *Program) client(key string) *Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.byKey[key]; c != nil && key != "" {
		return c
	}
	if len(p.clients) >= mostClients {
		p.forget()
	}
	c := &Client{program: p, nodes: map[string]bool{}}
	p.clients = append(p.clients, c)
	if p.protocol.ByProcess {
		p.comes(c)
	}
	if key != "" {
		p.byKey[key] = c
	}
	return c
}

// mostClients is how many clients are kept until those that are not connected are forgotten.
const mostClients = 1 << 16

// forget drops the clients that are not connected.
func (p *Program) forget() {
	gone := func(c *Client) bool { return !c.connected() }
	p.clients = slices.DeleteFunc(p.clients, gone)
	for key, c := range p.byKey {
		if gone(c) {
			delete(p.byKey, key)
		}
	}
}

// named says which session a client has been granted, by which it has come.
func (p *Program) named(c *Client, session wire.ConnectResponse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byKey[sessionKey(session.SessionID)] = c
	p.comes(c)
}

func sessionKey(id int64) string { return strconv.FormatInt(id, 16) }

// whose returns the client of a connection that does not name a session: its process, or its address.
func (p *Program) whose(conn net.Conn) *Client {
	found := make(chan traffic.Process, 1)
	p.owners.Find(conn, func() bool { return true }, func(of traffic.Process) { found <- of })
	var of traffic.Process
	select {
	case of = <-found:
	case <-time.After(patience):
	}
	key, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	if of.ID != 0 {
		key = fmt.Sprintf("process %d %d", of.ID, of.Started)
	}
	c := p.client(cmp.Or(key, "?"))
	c.owned(of)
	return c
}

// patience is longer than the search for a process takes.
const patience = time.Second
