package etcd

import (
	"fmt"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// sizes returns a probe that records the size of the last message of a kind for each
// operation, and a function that looks it up.
func sizes(kind drivers.MessageKind) (probe probeFunc, of func(drivers.Op) int) {
	var last [drivers.OpFence + 1]atomic.Int64
	return func(m drivers.Message) {
		if m.Kind == kind {
			last[m.Op].Store(int64(m.Size))
		}
	}, func(op drivers.Op) int { return int(last[op].Load()) }
}

// Answers count with the bytes that the server sends to any client.
func TestSizesOfAnswers(t *testing.T) {
	probe, came := sizes(drivers.Reply)
	s := quick(t)
	c := dial(t, s, drivers.Options{Probe: probe})
	create(t, c, "/a", 0)
	for i := range 3 {
		create(t, c, fmt.Sprint("/a/child-", i), 0)
	}
	if _, _, err := c.Get(t.Context(), "/a", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Children(t.Context(), "/a", nil); err != nil {
		t.Fatal(err)
	}
	for op, read := range map[drivers.Op]clientv3.Op{
		drivers.OpGet:      clientv3.OpGet(c.keys.node("/a")),
		drivers.OpChildren: clientv3.OpGet(c.keys.below("/a"), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
	} {
		r, err := c.library.Do(t.Context(), read)
		if err != nil {
			t.Fatal(err)
		}
		if want := size((*pb.RangeResponse)(r.Get())); came(op) != want || want <= header {
			t.Errorf("the answer to a %v has %d bytes, want %d", op, came(op), want)
		}
	}
}

// Reading a node is one read of its key, as small as that of etcd's own client, and no
// transaction. There is nothing to read of the root.
func TestGetAndExistsAreOneRead(t *testing.T) {
	probe, sent := sizes(drivers.Request)
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
