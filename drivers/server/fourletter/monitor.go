package fourletter

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/stats"
)

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
	fmt.Fprintf(&b, "zk_sum_fsynctime\t%.3f\n", s.SyncTime.Seconds()*1000)
	s.Ensemble.monitor(&b)
	writeTally(&b, "node_created_watch_count", &c.Created)
	writeTally(&b, "node_deleted_watch_count", &c.Deleted)
	writeTally(&b, "node_changed_watch_count", &c.Changed)
	writeTally(&b, "node_children_watch_count", &c.Children)
	return b.String()
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
	fmt.Fprintf(w, "zk_raft_leader\t%d\nzk_raft_term\t%d\nzk_raft_committed\t%d\nzk_raft_applied\t%d\nzk_raft_elections\t%d\n",
		e.Leader, e.Term, e.Committed, e.Applied, e.Elections)
}

func writeTally(w io.Writer, name string, t *stats.Tally) {
	fmt.Fprintf(w, "zk_avg_%s\t%s\nzk_min_%s\t%d\nzk_max_%s\t%d\n", name, t.Mean(), name, t.Min, name, t.Max)
	fmt.Fprintf(w, "zk_cnt_%s\t%d\nzk_sum_%s\t%d\n", name, t.Count, name, t.Sum)
}
