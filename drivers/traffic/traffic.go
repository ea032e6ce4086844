// Package traffic defines how the traffic between the clients and servers of other programs is
// reported: message by message and connection by connection, whatever it was read from. Package
// proxy reads it from connections that pass through it, package capture from a capture file or a
// network interface.
//
// A source reports to an [Observer]. Nothing that is secret reaches an observer: no node data, no
// credentials, no session password.
package traffic

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// An Observer is notified of connections. A source calls an observer and all its taps from one
// goroutine, in an order in which no message comes before one that caused it.
type Observer interface {
	// Open reports a connection and returns the Tap that gets what it carries.
	Open(c Connection) Tap
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
	// Gap reports bytes that were not decoded: the analysis was late, the capture lost them, or
	// they are not of the protocol.
	Gap(at time.Time, bytes int64)
	// Close reports the end of the connection. It is the last call.
	Close(at time.Time)
}

// A Session identifies a client's session, which may outlive a connection.
type Session struct {
	ID      int64
	Timeout time.Duration // as granted
	// Resumed reports that the client had the session before it opened this connection.
	Resumed bool
}
