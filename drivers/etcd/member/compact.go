package member

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

// A member keeps what was overwritten or deleted for at least the time history, and for at
// least as many revisions as changes says.
//
// A listing also looks at the names of deleted children until they are compacted, and the
// names of waiting clients are never reused: much history makes each hand-off slow. A watch
// from a past revision, as libraries create them, waits 100 ms to be served, and where clients
// write rarely that revision may be old.
const (
	history = 500 * time.Millisecond
	changes = 500
)

// compact compacts old revisions until the context ends, while this member is the leader. A
// compaction that one member requests takes place on all.
func compact(ctx context.Context, s *etcdserver.EtcdServer) {
	tick := time.NewTicker(history)
	defer tick.Stop()
	var before, compacted int64 // revisions
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if s.Leader() != s.MemberID() {
			continue
		}
		now := s.KV().Rev()
		old := min(before, now-changes)
		before = now
		if old <= compacted {
			continue
		}
		if _, err := s.Compact(ctx, &pb.CompactionRequest{Revision: old}); err == nil {
			compacted = old
		}
	}
}
