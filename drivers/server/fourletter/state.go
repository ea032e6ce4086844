package fourletter

import (
	"fmt"
	"iter"
	"slices"
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
	Ensemble                          *Ensemble // nil for a server that is alone

	Clients       func() []Client
	OpenSessions  func() []Session
	DataWatches   func() iter.Seq2[string, int64] // paths and session IDs
	Configuration func() Configuration
	// ResetConnections resets the counters of all connections.
	ResetConnections func()
}

// An Ensemble is what a member of an ensemble knows of it.
type Ensemble struct {
	Serving   bool // whether the member serves clients
	ID        uint64
	Role      string // "leader", "follower" or "candidate"
	Leader    uint64 // 0 if the member knows of none
	Term      uint64
	Committed uint64 // index of the last committed entry that the member knows of
	Applied   uint64
	Elections int64             // leaders that the member has seen since its start
	Members   map[uint64]string // addresses for other members
	// Followers and Synced are the numbers of members that a leader hears of, and of those that have all
	// but the latest entries.
	Followers, Synced int
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

// As in ZooKeeper, these words list the watches on nodes, but not those on lists of children.

func (s State) watchSummary() string {
	bySession, byPath := s.watched()
	total := 0
	for _, sessions := range byPath {
		total += len(sessions)
	}
	return fmt.Sprintf("%d connections watching %d paths\nTotal watches:%d\n", len(bySession), len(byPath), total)
}

func (s State) watchesBySession() string {
	bySession, _ := s.watched()
	return tabbed(bySession, "") + "\n"
}

func (s State) watchesByPath() string {
	_, byPath := s.watched()
	return tabbed(byPath, "") + "\n"
}

func (s State) watched() (bySession, byPath map[string][]string) {
	bySession, byPath = map[string][]string{}, map[string][]string{}
	for path, session := range s.DataWatches() {
		id := fmt.Sprintf("0x%x", session)
		bySession[id] = append(bySession[id], path)
		byPath[path] = append(byPath[path], id)
	}
	for _, paths := range bySession {
		slices.Sort(paths)
	}
	return bySession, byPath
}
