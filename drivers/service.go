package drivers

import (
	"context"
	"fmt"
	"net"
	"time"
)

// A Service is a coordination service that sessions can be opened with: given
// by an address, or started for the run.
type Service interface {
	Info() Info
	// Dial opens a session and returns when it is established. The context
	// bounds the opening only. The error of a service that cannot be reached
	// names the address.
	Dial(ctx context.Context, o Options) (Conn, error)
	// Close stops and removes what was started for it, if anything.
	Close() error
}

// Info is what a result says of the service it was obtained on.
type Info struct {
	Name       string // "native", "zookeeper", "etcd"
	URL        string // as given, credentials redacted
	Server     string // product and version, e.g. "ZooKeeper 3.8.0"
	Durability string // "fsync", "memory", or "unknown" for a given address
	Client     string // the client library, e.g. "go-zookeeper"
	// Reads is what a read may show: "local" (what the server at hand has),
	// "sync" (what was acknowledged before it), "linearizable" or
	// "serializable".
	Reads string
	// Started says where it runs: "own process", "3 own processes", the same
	// "behind proxies" where members can be isolated, "in process", or "" for a given
	// address.
	Started string
	Servers int // over how many its sessions are spread
}

// Lags tells whether a session may read what is older than what another one was
// acknowledged before: the server that it is on may not have got that far.
func (i Info) Lags() bool {
	return i.Servers > 1 && (i.Reads == "local" || i.Reads == "serializable")
}

// Counters are a server's own account of what it did, to set beside ours.
type Counters struct {
	Notifications int64 // watch events sent
	// LargestFanout is the most events of one kind sent for one write: where a
	// write fires watches of a node and of its parent it is less than a Meter's.
	LargestFanout int64
	Reads         int64 // reads and pings, which ZooKeeper counts as one
	Writes        int64 // writes, failed ones and session opening and closing included
	// OurTerms: the server counts in the terms of the contract, so that what it
	// counts must be what a Probe sees.
	OurTerms bool
}

// A Witness is a Service whose server counts for itself. Reset starts the count
// anew, Counters reads it.
type Witness interface {
	Reset(ctx context.Context) error
	Counters(ctx context.Context) (Counters, error)
}

// An Expirer is a Service that can end a session as its expiry would: the
// service ends it, and its Conn has to find out.
type Expirer interface {
	Expire(ctx context.Context, c Conn) error
}

// A Cutter is a Conn whose connection can be cut, as a network would: the
// session goes on, and connects again by itself.
type Cutter interface {
	Conn
	Cut()
}

// Options are how a session is opened. The zero Options are the defaults.
type Options struct {
	// SessionTimeout is how long the service keeps the session without
	// hearing of it; 0 means DefaultSessionTimeout. The service may clamp it.
	SessionTimeout time.Duration
	// OnState, if set, is told when the session is disconnected, connected
	// again, and lost. It must not block and must not call the Conn.
	OnState func(State)
	// Probe, if set, sees every message.
	Probe Probe
	// LoseReply, if set, is asked about every reply before the client sees
	// it. If it says true the reply is dropped and the connection cut: the
	// service did what was asked, and the client does not know. It may block,
	// which holds the connection up.
	LoseReply func(Message) bool
	// Through, if set, is what each connection of the session is made to go
	// through, for instance a network that is broken on purpose.
	Through func(net.Conn) net.Conn
}

// DefaultSessionTimeout is that of Options whose SessionTimeout is 0.
const DefaultSessionTimeout = 10 * time.Second

// Validate names the field that is wrong.
func (o Options) Validate() error {
	if o.SessionTimeout < 0 {
		return fmt.Errorf("session time-out %v: must be positive", o.SessionTimeout)
	}
	return nil
}

// A State is what a session is just now.
type State uint8

const (
	Connected State = iota + 1
	Disconnected
	SessionLost
)
