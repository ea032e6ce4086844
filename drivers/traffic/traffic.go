// Package traffic defines how the traffic between the clients and servers of other programs is
// reported: message by message and connection by connection, whatever it was read from. Package
// proxy reads it from connections that pass through it, package capture from captured packets.
//
// A source reports to an [Observer]. Nothing that is secret reaches an observer: no node data, no
// credentials, no session password.
package traffic

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// An Observer is notified of connections. A source calls an observer and all its taps from one
// goroutine, in an order in which no message comes before one that caused it.
type Observer interface {
	// Open reports a connection and returns the Tap that gets what it carries.
	Open(c Connection) Tap
	// Missed reports traffic that was not decoded and that no tap reports.
	Missed(u Undecoded)
}

// A Connection is one connection between a client and a server.
type Connection struct {
	ID     uint64 // from 1, in the order in which the source saw them
	Client string // host:port
	Server string // host:port
	At     time.Time
	// Joined reports that the source saw the connection only after it had been opened. What
	// came before is unknown: its session, the watches that it armed, its unanswered requests.
	Joined bool
}

// A Tap gets what one connection carries, in the order of the connection.
type Tap interface {
	// Session reports the session that the connection opened or resumed.
	Session(at time.Time, s Session)
	// Message reports a request, a reply or a notification. Its Path is valid only during the
	// call.
	Message(at time.Time, m drivers.Message)
	// Gap reports bytes that were not decoded, and why.
	Gap(at time.Time, bytes int64, cause Cause)
	// Members reports addresses of servers that the client has got by asking for the members of the service.
	Members(at time.Time, addresses []string)
	// Lease reports that the request that follows names a lease as the client's own: it keeps the lease alive,
	// writes with it or revokes it.
	Lease(at time.Time, id int64)
	// Owner reports the process that has the client's side of the connection, if that is known. It is found
	// some time after the connection has begun.
	Owner(p Process)
	// Close reports the end of the connection. It is the last call, except Owner.
	Close(at time.Time)
}

// A Process is a process of this machine.
type Process struct {
	ID      int
	Started uint64 // in ticks since the machine started: a later process may have the same ID
	Name    string // the name of its program, without arguments
}

// A Session identifies a client's session, which may outlive a connection.
type Session struct {
	ID      int64
	Timeout time.Duration // as granted
	// Resumed reports that the client had the session before it opened this connection.
	Resumed bool
	// Ordered reports that a notification comes before every reply to the session that shows the change.
	Ordered bool
	// Lease reports that the connection was granted a lease, which other connections may use too. It may be
	// granted several.
	Lease bool
}

// A Decoder decodes the bytes of one connection for a [Tap]. Its methods are called from one
// goroutine, with pieces of any size, a request before its reply. It keeps nothing of a piece.
type Decoder interface {
	FromClient(at time.Time, p []byte)
	FromServer(at time.Time, p []byte)
	// Lost says how many bytes of a direction are missing before its next piece, and why. The piece begins
	// with a packet if the protocol has a [Framer].
	Lost(at time.Time, fromClient bool, bytes int64, cause Cause)
	// End is the last call: the connection has ended.
	End(at time.Time)
}

// A Framer finds where packets begin in one direction of a connection, so that decoding can
// resume after bytes were lost elsewhere.
type Framer interface {
	// Advance takes the next bytes and returns the offset of the first packet that begins in
	// them, or -1 if none does.
	Advance(p []byte) int
}

// A Protocol is what a decoder needs to know of connections to a service.
type Protocol struct {
	Name string // "zookeeper"
	// Speaks are what the first bytes of a client may be, by the names that they have as causes, the ones
	// to be preferred in negotiations first. Other connections are not decoded; nil decodes all.
	Speaks []Cause
	// Decode returns the decoder of a connection. Begins is the one of Speaks with which it begins, or
	// why that is not known. Sources call [Protocol.Open].
	Decode func(t Tap, begins Cause) Decoder
	// ByProcess reports that sessions have no number, so that the process of a connection tells which client's it is.
	ByProcess bool
	Framer    func() Framer // nil if decoding cannot resume after a loss
	// Whole reports whether a piece consists of whole packets, by what their headers say. Decoding
	// begins with such a piece where it is not known where a packet begins: in the middle of a
	// connection, and after a loss in the network. It is nil if there are no such pieces.
	Whole func(fromClient bool, p []byte) bool
}

// ZooKeeper is ZooKeeper's protocol.
func ZooKeeper() Protocol {
	return Protocol{
		Name:   "zookeeper",
		Speaks: []Cause{Sessions},
		Decode: func(t Tap, begins Cause) Decoder { return newZooKeeper(t, begins != Sessions) },
		Framer: func() Framer { return new(wire.Framer) },
		Whole:  wire.WholePackets,
	}
}
