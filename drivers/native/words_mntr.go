package native

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// metrics answers "mntr".
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
		{"outstanding_requests", s.outstanding()},
		{"znode_count", int64(s.nodeCount())},
		{"watch_count", int64(s.watches.Len())},
		{"ephemerals_count", int64(size.Ephemerals)},
		{"approximate_data_size", size.Bytes},
		{"global_sessions", int64(size.Sessions)},
		{"local_sessions", 0},
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

// outstanding returns the number of transactions that wait for the disk.
func (s *Server) outstanding() int64 {
	if s.journal == nil {
		return 0
	}
	_, transactions := s.journal.Pending()
	return int64(transactions)
}

func writeTally(w io.Writer, name string, t *tally) {
	fmt.Fprintf(w, "zk_avg_%s\t%s\nzk_min_%s\t%d\nzk_max_%s\t%d\n", name, t.mean(), name, t.min, name, t.max)
	fmt.Fprintf(w, "zk_cnt_%s\t%d\nzk_sum_%s\t%d\n", name, t.count, name, t.sum)
}
