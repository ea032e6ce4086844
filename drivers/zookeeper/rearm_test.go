package zookeeper

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// watchMany arms 3,000 watches, which need three packets to be armed again. The returned
// counter counts those that have fired.
func watchMany(t *testing.T, c *Conn) *atomic.Int64 {
	t.Helper()
	fired := new(atomic.Int64)
	for i := range 3000 {
		path := fmt.Sprintf("/%s-%04d", strings.Repeat("n", 100), i)
		if _, _, err := c.Exists(t.Context(), path, func(drivers.Event) { fired.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}
	return fired
}

// All packets that arm watches again carry the position of the disconnect, even if replies to
// the first packets carry later positions. Calls wait for the last packet.
func TestReconnectFiresAllOfManyWatches(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var from []int64
		m := &memory{rearm: func(r wire.SetWatchesRequest) rearmed {
			from = append(from, r.RelativeZxid)
			return rearmed{zxid: 2*changedAt + int64(len(from))}
		}}
		c := dialMemory(t, m, drivers.Options{})
		fired := watchMany(t, c)
		m.set(false, true)
		synctest.Wait()
		m.mu.Lock()
		m.ops = nil
		m.mu.Unlock()
		firedBefore := make(chan int64)
		go func() {
			if _, _, err := c.Get(t.Context(), "/a", nil); !errors.Is(err, drivers.ErrNoNode) {
				t.Error(err)
			}
			firedBefore <- fired.Load()
		}()
		synctest.Wait()
		m.set(false, false)
		if n := <-firedBefore; n != 3000 {
			t.Errorf("%d watches had fired when a later call was answered, want 3000", n)
		}
		if want := []int64{1, 1, 1}; !slices.Equal(from, want) {
			t.Errorf("watches were armed from the positions %v, want %v", from, want)
		}
		c.Close()
		want := []int32{wire.OpSetWatches, wire.OpSetWatches, wire.OpSetWatches, wire.OpGetData, wire.OpCloseSession}
		if !slices.Equal(m.ops, want) {
			t.Errorf("asked for %v, want %v", m.ops, want)
		}
	})
}

// A connection that breaks between two packets does not change the position.
func TestReconnectDuringRearmFiresAllWatches(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var from []int64
		m := &memory{rearm: func(r wire.SetWatchesRequest) rearmed {
			from = append(from, r.RelativeZxid)
			return rearmed{zxid: 2*changedAt + int64(len(from)), hangUp: len(from) == 1}
		}}
		c := dialMemory(t, m, drivers.Options{})
		fired := watchMany(t, c)
		m.set(false, true)
		synctest.Wait()
		m.set(false, false)
		synctest.Wait()
		time.Sleep(time.Second) // of the fake clock: the session has connected again
		if err := drivers.Repeat(func() error { return c.Fence(t.Context()) }); err != nil {
			t.Error(err)
		}
		if n := fired.Load(); n != 3000 {
			t.Errorf("%d watches fired, want 3000", n)
		}
		if len(from) < 3 || from[0] != 1 || from[1] != 1 || from[2] != 1 {
			t.Errorf("watches were armed from the positions %v, want 1 until all are armed", from)
		}
		c.Close()
	})
}

// A library without watches arms none. A library that failed to read a reply completely does
// not have that reply's watch.
func TestRearmCountsWhatTheLibraryHas(t *testing.T) {
	r := new(rearm)
	reply := func(op drivers.Op, path string, err error) {
		r.replied(&drivers.Message{Kind: drivers.Reply, Op: op, Path: []byte(path), Watch: true, Err: err}, 1)
	}
	reply(drivers.OpGet, "/a", nil)
	r.read()
	reply(drivers.OpChildren, "/a", nil)
	r.read()
	reply(drivers.OpExists, "/b", drivers.ErrNoNode)
	r.read()
	reply(drivers.OpGet, "/c", drivers.ErrNoNode)
	r.read()
	reply(drivers.OpGet, "/d", nil) // the connection breaks
	want := map[string]wire.WatchKind{"/a": wire.DataWatch | wire.ChildWatch, "/b": wire.ExistWatch}
	if got := r.begin(); !maps.Equal(got, want) {
		t.Errorf("the library has the watches %v, want %v", got, want)
	}
	r.read() // the reply that opens the session
	r.fired(&drivers.Message{Event: drivers.DataChanged, Path: []byte("/a")})
	r.fired(&drivers.Message{Event: drivers.Created, Path: []byte("/b")})
	if got, want := r.begin(), map[string]wire.WatchKind{"/a": wire.ChildWatch}; !maps.Equal(got, want) {
		t.Errorf("the library has the watches %v, want %v", got, want)
	}
}
