package native

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"
)

// Version is what the server says it is: the ZooKeeper whose protocol it
// speaks, and whose it is.
const Version = "3.9.0-stampede-native"

// answerWord queues the answer if the first bytes of a connection are one of
// the words that operators send.
func (c *conn) answerWord(word string) bool {
	s := c.server
	s.mu.Lock()
	defer s.unlock()
	answer, ok := s.say(word)
	if ok {
		s.stats.received++
		s.queued = append(s.queued, c)
		c.packets = append(c.packets, answer...)
	}
	return ok
}

func (s *Server) say(word string) (answer string, ok bool) {
	switch word {
	case "ruok":
		return "imok", true
	case "srst":
		s.stats = stats{}
		return "Server stats reset.\n", true
	case "srvr":
		return s.overview(), true
	case "mntr":
		return s.metrics(), true
	}
	return "", false
}

// built says when the running binary's source was committed, or 1970.
func built() string {
	at := time.Unix(0, 0)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.time" {
				at, _ = time.Parse(time.RFC3339, setting.Value)
			}
		}
	}
	return at.UTC().Format("01/02/2006 15:04 UTC")
}

func (s *Server) overview() string {
	var b strings.Builder
	l := &s.stats.latency
	fmt.Fprintf(&b, "Zookeeper version: %s, built on %s\n", Version, built())
	fmt.Fprintf(&b, "Latency min/avg/max: %d/%s/%d\n", l.min, l.mean(), l.max)
	fmt.Fprintf(&b, "Received: %d\nSent: %d\n", s.stats.received, s.stats.sent)
	fmt.Fprintf(&b, "Connections: %d\nOutstanding: 0\n", len(s.conns))
	fmt.Fprintf(&b, "Zxid: 0x%x\nMode: standalone\n", s.tree.Zxid())
	fmt.Fprintf(&b, "Node count: %d\n", s.tree.Size().Nodes)
	return b.String()
}

func (s *Server) metrics() string {
	var b strings.Builder
	size, l := s.tree.Size(), &s.stats.latency
	fmt.Fprintf(&b, "zk_version\t%s, built on %s\n", Version, built())
	fmt.Fprintf(&b, "zk_server_state\tstandalone\n")
	fmt.Fprintf(&b, "zk_avg_latency\t%s\nzk_min_latency\t%d\nzk_max_latency\t%d\n", l.mean(), l.min, l.max)
	for _, m := range []struct {
		name  string
		value int64
	}{
		{"packets_received", s.stats.received},
		{"packets_sent", s.stats.sent},
		{"num_alive_connections", int64(len(s.conns))},
		{"outstanding_requests", 0},
		{"znode_count", int64(size.Nodes)},
		{"watch_count", int64(s.watches.Len())},
		{"ephemerals_count", int64(size.Ephemerals)},
		{"approximate_data_size", size.Bytes},
		{"global_sessions", int64(size.Sessions)},
		{"uptime", time.Since(s.start).Milliseconds()},
		{"cnt_readlatency", s.stats.reads},
		{"cnt_updatelatency", s.stats.writes},
	} {
		fmt.Fprintf(&b, "zk_%s\t%d\n", m.name, m.value)
	}
	writeTally(&b, "node_created_watch_count", &s.stats.created)
	writeTally(&b, "node_deleted_watch_count", &s.stats.deleted)
	writeTally(&b, "node_changed_watch_count", &s.stats.changed)
	writeTally(&b, "node_children_watch_count", &s.stats.children)
	return b.String()
}

func writeTally(w io.Writer, name string, t *tally) {
	fmt.Fprintf(w, "zk_avg_%s\t%s\nzk_min_%s\t%d\nzk_max_%s\t%d\n", name, t.mean(), name, t.min, name, t.max)
	fmt.Fprintf(w, "zk_cnt_%s\t%d\nzk_sum_%s\t%d\n", name, t.count, name, t.sum)
}
