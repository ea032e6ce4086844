package etcd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/stampede-bench/stampede/drivers"
)

// Each of 5,000 watches armed while another session writes fires with the first change after
// its read: none is missed, and none fires for a change that the read showed.
func TestWatchThenRead(t *testing.T) {
	const watchers, trials = 10, 500
	s := quick(t)
	writer := dial(t, s, drivers.Options{})
	create(t, writer, "/a", 0)
	create(t, writer, "/b", 0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	reads := map[int64][]int64{} // revision read → revisions delivered
	for range watchers {
		c := dial(t, s, drivers.Options{})
		wg.Go(func() {
			for range trials {
				var w drivers.Wait
				_, stat, err := c.Get(t.Context(), "/a", w.Fire)
				if err != nil {
					t.Error(err)
					return
				}
				e, err := w.Await(t.Context())
				if err != nil || e.Type != drivers.DataChanged {
					t.Errorf("told %v, %v; want a change of data", e, err)
					return
				}
				mu.Lock()
				reads[stat.Modified] = append(reads[stat.Modified], e.Pos)
				mu.Unlock()
			}
		})
	}
	written := writeUntil(t, writer, &wg)
	for read, told := range reads {
		i := slices.Index(written, read)
		for _, pos := range told {
			if i < 0 || pos != written[i+1] {
				t.Fatalf("a read of revision %d was told of %d; written were %v", read, pos, written[max(0, i-1):])
			}
		}
	}
}

// Serializable reads set the flag that lets the connected server answer immediately, except
// for repeated ones; watches still miss nothing.
func TestSerializableReads(t *testing.T) {
	s := quick(t)
	cfg := s.config
	cfg.Serializable = true
	c, writer := dial(t, service(t, cfg), drivers.Options{}), dial(t, s, drivers.Options{})
	create(t, writer, "/a", 0)
	q := c.lookAt(drivers.OpGet, "/a")
	for _, repeated := range []bool{false, true} {
		q.repeated = repeated
		if err := c.lookUp(q.attach(t.Context()), q); err != nil || q.one.Serializable == repeated {
			t.Errorf("a read, repeated %v, is serializable %v (%v)", repeated, q.one.Serializable, err)
		}
	}
	for i := range int32(200) {
		var w drivers.Wait
		if err := c.Sync(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		if _, stat, err := c.Get(t.Context(), "/a", w.Fire); err != nil || stat.Version != i {
			t.Fatalf("read version %d, %v; want %d", stat.Version, err, i)
		}
		if _, err := writer.Set(t.Context(), "/a", nil, i); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// writeUntil writes /a and /b until the others are done, and returns the revisions of /a.
func writeUntil(t *testing.T, c *Conn, others *sync.WaitGroup) (written []int64) {
	t.Helper()
	done := make(chan struct{})
	go func() { others.Wait(); close(done) }()
	_, stat, err := c.Get(t.Context(), "/a", nil)
	written = append(written, stat.Modified)
	for err == nil {
		select {
		case <-done:
			return written
		default:
		}
		if stat, err = c.Set(t.Context(), "/a", nil, drivers.AnyVersion); err == nil {
			written = append(written, stat.Modified)
			_, err = c.Set(t.Context(), "/b", nil, drivers.AnyVersion)
		}
	}
	t.Fatal(err)
	return nil
}

// A read that was answered before the watch began is repeated. In the terms of the contract
// the two are one.
func TestReadBeforeTheWatchIsRepeated(t *testing.T) {
	w := &watch{in: newWatcher(nil, ""), confirmed: make(chan struct{})}
	w.confirm(10)
	q := &query{op: drivers.OpGet, path: "/a", watch: w}
	var got []drivers.Op
	for _, revision := range []int64{9, 10} {
		got = append(got, q.message().Op)
		got = append(got, q.answer(&pb.TxnResponse{Header: &pb.ResponseHeader{Revision: revision}}).Op)
	}
	want := []drivers.Op{drivers.OpGet, drivers.OpOther, drivers.OpOther, drivers.OpGet}
	if !slices.Equal(got, want) || q.repeated {
		t.Errorf("asked and answered as %v, and again: %v; want %v, and no more", got, q.repeated, want)
	}
}

// The watch of a node's children fires when the node is deleted, whether or not it had
// children when it was listed.
func TestChildrenWatchTellsOfTheEnd(t *testing.T) {
	s := quick(t)
	writer, watcher := dial(t, s, drivers.Options{}), dial(t, s, drivers.Options{})
	for i, had := range []int{0, 1} {
		dir := fmt.Sprintf("/dir-%d", i)
		create(t, writer, dir, 0)
		for range had {
			create(t, writer, dir+"/child", 0)
		}
		var w drivers.Wait
		if _, err := watcher.Children(t.Context(), dir, w.Fire); err != nil {
			t.Fatal(err)
		}
		want := drivers.Deleted
		if had > 0 {
			want = drivers.ChildrenChanged
			remove(t.Context(), t, writer, dir+"/child")
		}
		remove(t.Context(), t, writer, dir)
		if e, err := w.Await(t.Context()); err != nil || e.Type != want || e.Path != dir {
			t.Errorf("with %d children: told %v, %v; want %v of %s", had, e, err, want, dir)
		}
	}
}

func remove(ctx context.Context, t testing.TB, c drivers.Conn, path string) {
	t.Helper()
	if err := c.Delete(ctx, path, drivers.AnyVersion); err != nil {
		t.Fatal(err)
	}
}
