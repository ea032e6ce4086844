package targets

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/owner"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Client is one of another program, as a target of faults. It is a [faults.Observed].
type Client struct {
	program *Program
	link    faults.Link
	opened  faults.Pauser // paused while connections wait
	passes  faults.Pauser // paused while notifications are held back

	mu      sync.Mutex
	number  int             // from 1, in the order in which clients came; 0 before its session is open. Guarded by program.mu
	over    bool            // its session has ended
	process traffic.Process // zero if it is not known
	lines   map[*line]bool  // open connections
	session Session
	nodes   map[string]bool // ephemeral ones
	lose    drivers.Op      // whose next reply is lost; 0 for none
	avoid   string          // the member that refuses it, "" for none
}

// Number returns which of the program's clients it is, from 1.
func (c *Client) Number() int {
	c.program.mu.Lock()
	defer c.program.mu.Unlock()
	return c.number
}

// Now returns the number of the client's session, and the addresses from which it is connected.
func (c *Client) Now() (now faults.Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now.Session = c.session.ZooKeeper.SessionID
	for l := range c.lines {
		now.Addresses = append(now.Addresses, l.connection.Client)
	}
	return now
}

func (c *Client) connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lines) > 0
}

// gone reports whether the client does not come back: its session or its process has ended.
func (c *Client) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over || c.process.ID != 0 && owner.Ended(c.process)
}

// ends takes note of the end of the client's session.
func (c *Client) ends() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = c.session.ZooKeeper.SessionID != 0
}

func (c *Client) owned(by traffic.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process = by
}

// runsAs reports whether the process has the name or the number.
func (c *Client) runsAs(process string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process.ID != 0 && (c.process.Name == process || strconv.Itoa(c.process.ID) == process)
}

// has reports whether the client has the ephemeral node.
func (c *Client) has(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[path]
}

// Link returns the link that all connections of the client pass.
func (c *Client) Link() *faults.Link { return &c.link }

// Expire ends the client's session at the service. Its connections break, and those that would resume the session
// wait until it has ended. A client of etcd keeps its connections, and loses its leases.
func (c *Client) Expire(ctx context.Context) error {
	c.mu.Lock()
	session := c.session
	session.Leases = slices.Clone(session.Leases)
	c.mu.Unlock()
	c.opened.Pause()
	defer c.opened.Resume()
	if session.ZooKeeper.SessionID != 0 {
		c.link.Cut()
	}
	err := c.program.end.End(ctx, session)
	if err == nil {
		c.ends()
	}
	return err
}

// Lose drops the reply of the next such request that succeeds, and breaks its connection.
func (c *Client) Lose(op drivers.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose = op
}

// loses reports whether the reply is the one to be dropped.
func (c *Client) loses(m drivers.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := c.lose != 0 && m.Kind == drivers.Reply && m.Op == c.lose && m.Err == nil
	if lost {
		c.lose = 0
	}
	return lost
}

// Hold keeps the notifications of the client's watches back, or lets them pass.
func (c *Client) Hold(back bool) {
	if back {
		c.passes.Pause()
	} else {
		c.passes.Resume()
	}
}

// Move breaks the client's connections. The member of the oldest one, which has its session, refuses it until it is
// connected to another one: a client of etcd may just ask others for what they are.
func (c *Client) Move() {
	c.mu.Lock()
	oldest := uint64(math.MaxUint64)
	for l := range c.lines {
		if l.connection.ID < oldest {
			oldest, c.avoid = l.connection.ID, l.connection.Server
		}
	}
	c.mu.Unlock()
	c.link.Cut()
}

// EndWatches ends watches of the client on etcd, on all its connections.
func (c *Client) EndWatches(how faults.Verb, key string) (hit []string) {
	c.mu.Lock()
	lines := slices.Collect(maps.Keys(c.lines))
	c.mu.Unlock()
	slices.SortFunc(lines, func(x, y *line) int { return cmp.Compare(x.connection.ID, y.connection.ID) })
	for _, l := range lines {
		hit = append(hit, l.endWatches(how, key)...)
	}
	return hit
}

// Freeze does nothing: a program cannot be frozen by its connections.
func (*Client) Freeze() {}

// Thaw does nothing.
func (*Client) Thaw() {}

// admit waits until a connection may pass, and returns false if it may not.
func (c *Client) admit(l *line) bool {
	c.program.opens.Wait(nil)
	c.opened.Wait(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.avoid != "" && c.avoid == l.connection.Server {
		return false
	}
	c.avoid = ""
	if c.lines == nil {
		c.lines = map[*line]bool{}
	}
	c.lines[l] = true
	return true
}

func (c *Client) left(l *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.lines, l)
}

// granted takes note of the answer to the packet that opens a session.
func (c *Client) granted(session wire.ConnectResponse) {
	if session.Timeout <= 0 { // it does not exist
		c.ends()
		return
	}
	c.mu.Lock()
	c.session.ZooKeeper = session
	c.mu.Unlock()
	c.program.named(c, session)
}

// leased takes note of a lease.
func (c *Client) leased(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.session.Leases) < mostNodes {
		c.session.Leases = append(c.session.Leases, id)
	}
}

// mostNodes is how many ephemeral nodes and leases of a client are kept.
const mostNodes = 1 << 14

// wrote takes note of a write.
func (c *Client) wrote(op drivers.Op, mode drivers.Mode, path []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case op == drivers.OpDelete:
		delete(c.nodes, string(path))
	case mode&drivers.Ephemeral != 0 && len(c.nodes) < mostNodes:
		c.nodes[string(path)] = true
	}
}
