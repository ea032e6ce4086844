package etcd

import (
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/stampede-bench/stampede/drivers"
)

// sizes returns a probe that notes how large the last request of each operation was, and
// what looks that up.
func sizes() (probe probeFunc, of func(drivers.Op) int) {
	var sent [drivers.OpFence + 1]atomic.Int64
	return func(m drivers.Message) {
		if m.Kind == drivers.Request {
			sent[m.Op].Store(int64(m.Size))
		}
	}, func(op drivers.Op) int { return int(sent[op].Load()) }
}

// Reading a node is one read of its key, as bare as etcd's own client makes it, and no
// transaction; of the root there is nothing to read.
func TestGetAndExistsAreOneRead(t *testing.T) {
	probe, sent := sizes()
	s := quick(t)
	c := dial(t, s, drivers.Options{Probe: probe})
	create(t, c, "/a", drivers.Ephemeral)
	key := []byte(c.keys.node("/a"))
	data, got, err := c.Get(t.Context(), "/a", nil)
	if want := size(&pb.RangeRequest{Key: key}); err != nil || sent(drivers.OpGet) != want {
		t.Errorf("a get of %d bytes (%v), want %d", sent(drivers.OpGet), err, want)
	}
	stat, found, err := c.Exists(t.Context(), "/a", nil)
	want := size(&pb.RangeRequest{Key: key, KeysOnly: true, SortTarget: pb.RangeRequest_VALUE})
	if err != nil || !found || sent(drivers.OpExists) != want {
		t.Errorf("an exists of %d bytes (%v, %v), want %d", sent(drivers.OpExists), found, err, want)
	}
	if len(data) > 0 || stat != got || !stat.Ephemeral || stat.Created == 0 || stat.Created != stat.Modified {
		t.Errorf("get shows %+v and data %q, exists %+v", got, data, stat)
	}
	if _, found, err := c.Exists(t.Context(), "/none", nil); err != nil || found {
		t.Errorf("a missing node exists: %v (%v)", found, err)
	}
	if data, stat, err := c.Get(t.Context(), "/", nil); err != nil || data != nil || stat != (drivers.Stat{}) {
		t.Errorf("the root has %q, %+v (%v)", data, stat, err)
	}
}
