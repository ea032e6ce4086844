package etcd

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// sizes returns a probe that records the size of the last message of a kind for each
// operation, and a function that looks it up.
func sizes(kind drivers.MessageKind) (probe probeFunc, of func(drivers.Op) int) {
	var last [drivers.OpFlush + 1]atomic.Int64
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
		drivers.OpGet:      clientv3.OpGet(c.keys.Node("/a")),
		drivers.OpChildren: clientv3.OpGet(c.keys.ChildPrefix("/a"), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
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
	key := []byte(c.keys.Node("/a"))
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

// A list of neighbors is one list on the wire, as small with many children as with two. If a
// plain node was created in between, the call reads again but still counts as one list.
func TestNeighborsAreOneSmallList(t *testing.T) {
	probe, came := sizes(drivers.Reply)
	var lists, others atomic.Int64
	s := quick(t)
	c := dial(t, s, drivers.Options{Probe: probeFunc(func(m drivers.Message) {
		probe(m)
		if m.Kind == drivers.Request && m.Op == drivers.OpChildren {
			lists.Add(1)
		}
		if m.Kind == drivers.Reply && m.Op == drivers.OpOther {
			others.Add(1)
		}
	})})
	create(t, c, "/a", 0)
	listed := func(path string, seq int64) (size int, repeated int64) {
		t.Helper()
		lists.Store(0)
		before := others.Load()
		all, err := c.Neighbors(t.Context(), path, seq)
		if err != nil || lists.Load() != 1 || len(all) < 2 {
			t.Fatalf("%d children in %d lists (%v), want two in one", len(all), lists.Load(), err)
		}
		return came(drivers.OpChildren), others.Load() - before
	}
	create(t, c, "/a/n-", drivers.Sequential)
	small, _ := listed("/a", create(t, c, "/a/n-", drivers.Sequential).Seq)
	for range 20 {
		create(t, c, "/a/n-", drivers.Sequential)
	}
	size, repeated := listed("/a", create(t, c, "/a/n-", drivers.Sequential).Seq)
	if size > small+8 || repeated != 0 { // a number in the answer may take more bytes
		t.Errorf("with 23 children %d bytes and %d repetitions, with two %d bytes", size, repeated, small)
	}
	create(t, c, "/a/ready", 0)
	if size, repeated = listed("/a", create(t, c, "/a/n-", drivers.Sequential).Seq); size < 10*small || repeated != 1 {
		t.Errorf("with a plain node in between %d bytes and %d repetitions, want a full list after one", size, repeated)
	}
}

// A Join is one call to the server. The wire shows a create and a list, whose bytes are those
// of the transaction. With a plain node right before the new one, the wire shows the create only.
func TestJoinIsOneTransaction(t *testing.T) {
	var seen []drivers.Message
	var mu sync.Mutex
	s := quick(t)
	c := dial(t, s, drivers.Options{Probe: probeFunc(func(m drivers.Message) {
		mu.Lock()
		defer mu.Unlock()
		if m.Op == drivers.OpCreate || m.Op == drivers.OpChildren {
			seen = append(seen, drivers.Message{Kind: m.Kind, Op: m.Op, Path: bytes.Clone(m.Path), Size: min(m.Size, 1), Pos: m.Pos})
		}
	})})
	create(t, c, "/a", 0)
	join := func(neighbors, messages int) []drivers.Message {
		t.Helper()
		mu.Lock()
		seen = nil
		mu.Unlock()
		made, listed, err := c.Join(t.Context(), "/a/n-", nil, drivers.Sequential|drivers.Ephemeral)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || len(listed) != neighbors || len(seen) != messages || seen[1].Pos != made.Seq {
			t.Fatalf("joined as %+v behind %v (%v) with messages %+v; want %d neighbors, %d messages", made, listed, err, seen, neighbors, messages)
		}
		return seen
	}
	join(1, 4)
	list := join(2, 4)[2:]
	want := []drivers.Message{
		{Kind: drivers.Request, Op: drivers.OpChildren, Path: []byte("/a")},
		{Kind: drivers.Reply, Op: drivers.OpChildren, Path: []byte("/a"), Pos: list[1].Pos},
	}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("after the create the wire shows %+v, want %+v", list, want)
	}
	create(t, c, "/a/ready", 0)
	join(0, 2)
	join(2, 4)
}
