package fourletter

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/stats"
	"github.com/stampede-bench/stampede/internal/openfiles"
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
	Version   byte   // of the log, in force
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

// configuration answers "conf".
func (s State) configuration() string {
	c := s.Configuration()
	return fmt.Sprintf("clientPort=%d\nsecureClientPort=%d\ndataDir=%s\ndataDirSize=%d\ndataLogDir=%s\ndataLogSize=%d\n"+
		"tickTime=%d\nmaxClientCnxns=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n"+
		"clientPortListenBacklog=-1\n", c.Port, c.SecurePort, c.Dir, c.Snapshots, c.Dir, c.Logs,
		c.Tick.Milliseconds(), c.MaxPerHost, c.MinTimeout.Milliseconds(), c.MaxTimeout.Milliseconds()) + s.Ensemble.membership()
}

// membership returns the part of "conf" about the ensemble.
func (e *Ensemble) membership() string {
	if e == nil {
		return "serverId=0\n"
	}
	_, port, _ := net.SplitHostPort(e.Members[e.ID])
	var b strings.Builder
	fmt.Fprintf(&b, "serverId=%d\nquorumPort=%s\npeerType=0\nmembership: \n", e.ID, port)
	for _, id := range slices.Sorted(maps.Keys(e.Members)) {
		fmt.Fprintf(&b, "server.%d=%s:participant\n", id, e.Members[id])
	}
	return b.String()
}

// environment answers "envi", without the properties of Java.
func environment() string {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	host, _ := os.Hostname()
	dir, _ := os.Getwd()
	name, home := "<NA>", "<NA>"
	if u, err := user.Current(); err == nil {
		name, home = u.Username, u.HomeDir
	}
	var b strings.Builder
	b.WriteString("Environment:\n")
	for _, e := range [][2]string{
		{"zookeeper.version", fmt.Sprintf("%s, built on %s", Version, Built())},
		{"host.name", host},
		{"os.name", runtime.GOOS},
		{"os.arch", runtime.GOARCH},
		{"user.name", name},
		{"user.home", home},
		{"user.dir", dir},
		{"os.memory.free", megabytes(memory.HeapIdle)},
		{"os.memory.total", megabytes(memory.Sys)},
	} {
		fmt.Fprintf(&b, "%s=%s\n", e[0], e[1])
	}
	return b.String()
}

func megabytes(n uint64) string { return fmt.Sprintf("%dMB", n>>20) }

// monitor answers "mntr".
func (s State) monitor() string {
	var b strings.Builder
	c, l := s.Counters, &s.Counters.Latency
	fmt.Fprintf(&b, "zk_version\t%s, built on %s\n", Version, Built())
	fmt.Fprintf(&b, "zk_server_state\t%s\n", s.mode())
	fmt.Fprintf(&b, "zk_avg_latency\t%s\nzk_min_latency\t%d\nzk_max_latency\t%d\n", l.Mean(), l.Min, l.Max)
	for _, m := range []struct {
		name  string
		value int64
	}{
		{"packets_received", c.Received},
		{"packets_sent", c.Sent},
		{"num_alive_connections", s.Connections},
		{"outstanding_requests", s.Outstanding},
		{"znode_count", s.Nodes},
		{"watch_count", s.Watches},
		{"ephemerals_count", s.Ephemerals},
		{"approximate_data_size", s.Bytes},
		{"global_sessions", s.Sessions},
		{"local_sessions", 0},
		{"uptime", time.Since(s.Start).Milliseconds()},
		{"cnt_readlatency", c.Reads},
		{"cnt_updatelatency", c.Writes},
		{"cnt_fsynctime", s.Syncs},
	} {
		fmt.Fprintf(&b, "zk_%s\t%d\n", m.name, m.value)
	}
	if open, most, ok := descriptors(); ok {
		fmt.Fprintf(&b, "zk_open_file_descriptor_count\t%d\nzk_max_file_descriptor_count\t%d\n", open, most)
	}
	fmt.Fprintf(&b, "zk_sum_fsynctime\t%.3f\n", s.SyncTime.Seconds()*1000)
	s.Ensemble.monitor(&b)
	writeTally(&b, "node_created_watch_count", &c.Created)
	writeTally(&b, "node_deleted_watch_count", &c.Deleted)
	writeTally(&b, "node_changed_watch_count", &c.Changed)
	writeTally(&b, "node_children_watch_count", &c.Children)
	return b.String()
}

// descriptors returns how many file descriptors this process has open, and how many it may have.
func descriptors() (open int, most uint64, ok bool) {
	all, err := os.ReadDir("/dev/fd")
	return len(all) - 1, openfiles.Limit(), err == nil // without that of the directory itself
}

// monitor writes what a member knows of its ensemble. The names that ZooKeeper does not have begin with
// "zk_raft_".
func (e *Ensemble) monitor(w io.Writer) {
	if e == nil {
		return
	}
	fmt.Fprintf(w, "zk_quorum_size\t%d\n", len(e.Members))
	if e.Role == "leader" {
		fmt.Fprintf(w, "zk_followers\t%d\nzk_learners\t%d\nzk_synced_followers\t%d\nzk_synced_observers\t0\n", e.Followers, e.Followers, e.Synced)
	}
	fmt.Fprintf(w, "zk_raft_leader\t%d\nzk_raft_term\t%d\nzk_raft_log_version\t%d\nzk_raft_committed\t%d\nzk_raft_applied\t%d\nzk_raft_elections\t%d\n",
		e.Leader, e.Term, e.Version, e.Committed, e.Applied, e.Elections)
}

func writeTally(w io.Writer, name string, t *stats.Tally) {
	fmt.Fprintf(w, "zk_avg_%s\t%s\nzk_min_%s\t%d\nzk_max_%s\t%d\n", name, t.Mean(), name, t.Min, name, t.Max)
	fmt.Fprintf(w, "zk_cnt_%s\t%d\nzk_sum_%s\t%d\n", name, t.Count, name, t.Sum)
}
