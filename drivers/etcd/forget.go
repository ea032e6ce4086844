package etcd

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

// A member remembers what was overwritten or deleted for so long at least, and so
// many changes at least.
//
// A listing goes through the names of deleted children too until they are
// forgotten, and the names of a line of clients are never used again: much
// history makes each hand-off slow. A watch from the past, as libraries begin
// them, waits 100 ms to be served, and where few write it may be from long ago.
const (
	history = 500 * time.Millisecond
	changes = 500
)

// forget lets all members forget older things until the context ends, as long as
// this one leads: what one asks for, all do.
func forget(ctx context.Context, s *etcdserver.EtcdServer) {
	tick := time.NewTicker(history)
	defer tick.Stop()
	var before, forgotten int64 // revisions
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
		if old <= forgotten {
			continue
		}
		if _, err := s.Compact(ctx, &pb.CompactionRequest{Revision: old}); err == nil {
			forgotten = old
		}
	}
}
