package fourletter

import (
	"iter"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/stats"
)

// A State is what the answers show of a server. The functions are called by the words that need
// them only: with many connections their results are large.
type State struct {
	Start                             time.Time
	Zxid                              int64
	Nodes, Ephemerals, Bytes, Watches int64
	Connections, Sessions             int64
	Outstanding                       int64 // transactions that wait for the disk
	Syncs                             int64 // of the log, since the server's start; 0 without a log
	SyncTime                          time.Duration
	Counters                          *stats.Counters

	Clients       func() []Client
	OpenSessions  func() []Session
	DataWatches   func() iter.Seq2[string, int64] // paths and session IDs
	Configuration func() Configuration
	// ResetConnections resets the counters of all connections.
	ResetConnections func()
}

// A Client is a connection.
type Client struct {
	Address string
	Expires time.Time // when the server closes it
	Traffic *stats.Traffic
	Session *Session // nil before the client has one
}

// A Session is an open session.
type Session struct {
	ID         int64
	Timeout    time.Duration
	Expires    time.Time
	Ephemerals iter.Seq[string] // paths
}

// A Configuration is what "conf" shows.
type Configuration struct {
	Port, SecurePort       int    // -1 without such a listener
	Dir                    string // of the journal; "" without one
	Snapshots, Logs        int64  // bytes in that directory
	Tick                   time.Duration
	MaxPerHost             int
	MinTimeout, MaxTimeout time.Duration
}
