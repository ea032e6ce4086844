package zookeeper

import (
	"errors"
	"fmt"
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

// The library arms many watches in three packets, from the position of the disconnect. Calls wait
// for the first packet, but not for the others.
func TestReconnectFiresAllOfManyWatches(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var from []int64
		all := make(chan struct{})
		m := &memory{rearm: func(r wire.SetWatchesRequest) rearmed {
			if from = append(from, r.RelativeZxid); len(from) == 3 {
				close(all)
			}
			return rearmed{zxid: 2*changedAt + int64(len(from))}
		}}
		c := dialMemory(t, m, drivers.Options{})
		fired := watchMany(t, c)
		m.set(false, true)
		synctest.Wait()
		m.mu.Lock()
		m.ops = nil
		m.mu.Unlock()
		failed := make(chan error)
		go func() {
			_, _, err := c.Get(t.Context(), "/a", nil)
			failed <- err
		}()
		synctest.Wait()
		m.set(false, false)
		if err := <-failed; !errors.Is(err, drivers.ErrNoNode) {
			t.Error(err)
		}
		<-all
		c.Close()
		if n := fired.Load(); n != 3000 {
			t.Errorf("%d watches fired, want 3000", n)
		}
		if want := []int64{1, 1, 1}; !slices.Equal(from, want) {
			t.Errorf("watches were armed from the positions %v, want %v", from, want)
		}
		if m.ops[0] != wire.OpSetWatches || !slices.Contains(m.ops, wire.OpGetData) {
			t.Errorf("asked for %v, want watches to be armed before the call", m.ops)
		}
	})
}

// Where the connection breaks after the first packet, the library arms the other watches from the
// position of the reply to the first, and they miss what changed before. The table of clients
// therefore declares so many watches unsupported. If this test fails, the library has been
// corrected, and the table can change.
func TestManyWatchesAreUnsupported(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var from []int64
		m := &memory{rearm: func(r wire.SetWatchesRequest) rearmed {
			from = append(from, r.RelativeZxid)
			return rearmed{zxid: 2*changedAt + int64(len(from)), hangUp: len(from) == 2}
		}}
		c := dialMemory(t, m, drivers.Options{})
		fired := watchMany(t, c)
		m.set(false, true)
		synctest.Wait()
		m.set(false, false)
		time.Sleep(time.Second) // of the fake clock: the session has connected again
		if err := drivers.Repeat(t.Context(), func() error { return c.Flush(t.Context()) }); err != nil {
			t.Error(err)
		}
		if n := fired.Load(); n == 0 || n == 3000 {
			t.Errorf("%d watches fired, want those of one packet alone", n)
		}
		if len(from) < 3 || from[len(from)-1] <= changedAt {
			t.Errorf("watches were armed from the positions %v, want the last to be after the change", from)
		}
		c.Close()
	})
}

// A session whose library has not read the whole reply that armed a watch has none to arm. Calls
// then wait for the next heartbeat.
func TestReconnectWithoutTheLibrarysWatches(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := new(memory)
		c := dialMemory(t, m, drivers.Options{})
		m.set(false, true)
		synctest.Wait()
		c.watches.mu.Lock()
		c.watches.armed["/a"] = &watch{path: "/a", server: "/a", phase: armed, returned: true, call: func(drivers.Event) {}}
		c.watches.mu.Unlock()
		m.set(false, false)
		if _, _, err := c.Get(t.Context(), "/a", nil); !errors.Is(err, drivers.ErrNoNode) {
			t.Error(err)
		}
		c.Close()
		if want := []int32{wire.OpGetData, wire.OpCloseSession}; !slices.Equal(m.ops, want) {
			t.Errorf("asked for %v, want %v", m.ops, want)
		}
	})
}
