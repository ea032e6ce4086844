package main

import (
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A relay passes packets between clients and a server, breaks the connections, ends the sessions, and records
// what it sees.
type relay struct {
	server *server.Server
	start  time.Time

	mu       sync.Mutex
	carried  []*carrier // in the order in which they were opened
	losses   int        // replies to lose: those to the next creates
	below    string     // this node
	notified int
}

// A carrier is one connection through the relay.
type carrier struct {
	relay     *relay
	opened    time.Duration // since the start of the relay
	presented int64         // the session that the client wanted to resume, or 0
	granted   wire.ConnectResponse
	ends      [2]net.Conn
	closed    bool
	lose      int32 // the number of the request whose reply is lost
}

func newRelay(t *testing.T) *relay {
	s := server.New(server.Options{})
	t.Cleanup(func() { s.Close() })
	return &relay{server: s, start: time.Now()}
}

func (r *relay) dial(string, string, time.Duration) (net.Conn, error) {
	toServer, err := r.server.Dial("", "", 0)
	if err != nil {
		return nil, err
	}
	toClient, client := net.Pipe()
	c := &carrier{relay: r, opened: time.Since(r.start), ends: [2]net.Conn{toClient, toServer}}
	r.mu.Lock()
	r.carried = append(r.carried, c)
	r.mu.Unlock()
	go c.carry(toClient, toServer, c.request)
	go c.carry(toServer, toClient, c.reply)
	return client, nil
}

// carry passes packets on as long as inspect lets them pass. The first packet of each direction opens the session.
func (c *carrier) carry(from, to net.Conn, inspect func(first bool, packet []byte) (pass bool)) {
	defer from.Close()
	defer to.Close()
	for first := true; ; first = false {
		packet, err := ensemble.Receive(from)
		if err != nil || !inspect(first, packet) {
			break
		}
		if _, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(packet))), packet...)); err != nil {
			break
		}
	}
	c.relay.mu.Lock()
	c.closed = true
	c.relay.mu.Unlock()
}

func (c *carrier) request(first bool, packet []byte) bool {
	c.relay.mu.Lock()
	defer c.relay.mu.Unlock()
	d := wire.NewDecoder(packet)
	if first {
		var open wire.ConnectRequest
		open.Decode(&d)
		c.presented = open.SessionID
		return true
	}
	var h wire.RequestHeader
	h.Decode(&d)
	if c.relay.losses > 0 && h.Op == wire.OpCreate && strings.HasPrefix(d.Path(), c.relay.below) {
		c.relay.losses--
		c.lose = h.Xid
	}
	return true
}

func (c *carrier) reply(first bool, packet []byte) bool {
	c.relay.mu.Lock()
	defer c.relay.mu.Unlock()
	d := wire.NewDecoder(packet)
	if first {
		c.granted.Decode(&d)
		return true
	}
	var h wire.ReplyHeader
	h.Decode(&d)
	if h.Xid == wire.XidNotification {
		c.relay.notified++
	}
	return c.lose == 0 || h.Xid != c.lose
}

// open returns the connections with a live session.
func (r *relay) open() (open []*carrier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.carried {
		if !c.closed && c.granted.Timeout > 0 {
			open = append(open, c)
		}
	}
	return open
}

// cut closes the connections; the sessions live on.
func (r *relay) cut() {
	for _, c := range r.open() {
		for _, end := range c.ends {
			end.Close()
		}
	}
}

// expire ends the sessions: it takes each over on a connection of its own, and closes it there.
func (r *relay) expire() {
	for _, c := range r.open() {
		for gone := false; !gone; {
			nc, err := r.server.Dial("", "", 0)
			if err != nil {
				return
			}
			gone = ensemble.TakeOver(nc, c.granted)
			nc.Close()
		}
	}
}

// lose has the next creates below a node carried out, and closes their connections instead of passing the replies on.
func (r *relay) lose(below string, creates int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.below, r.losses = below, creates
}

// since returns the connections that were opened at or after a time.
func (r *relay) since(at time.Duration) (later []*carrier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.carried {
		if c.opened >= at {
			later = append(later, c)
		}
	}
	return later
}

// notifications returns how many notifications the clients got.
func (r *relay) notifications() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notified
}
