package catalog_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestWatchersAreNotifiedExactlyOnce has up to 15,000 sessions watch one node of a
// server in a separate process, and then one session write to it. It logs the time from
// the write to the last notification, and the growth of the server's resident memory.
//
//	go test -v -run TestWatchersAreNotifiedExactlyOnce ./workloads/catalog
func TestWatchersAreNotifiedExactlyOnce(t *testing.T) {
	testenv.SkipIfShort(t)
	testenv.SkipIfRaced(t)
	s := backendtest.Own(t, "native:")
	writer := session(t, s)
	if _, err := writer.Create(t.Context(), "/watched", nil, 0); err != nil {
		t.Fatal(err)
	}
	before := serverMemory(t)
	var all []drivers.Conn
	for _, watchers := range []int{1000, 2000, 5000, 10_000, 15_000} {
		all = append(all, sessions(t, s, watchers-len(all))...)
		took, memory := oneWrite(t, writer, all)
		t.Logf("%d watchers: last notified %v after the write was issued; %d bytes of the server's memory each",
			watchers, took, (memory-before)/int64(watchers))
	}
}

// oneWrite arms a watch in each session and writes once. It returns the time from the
// write to the last notification, and the server's memory before the write.
func oneWrite(t *testing.T, writer drivers.Conn, all []drivers.Conn) (took time.Duration, memory int64) {
	told := make([]atomic.Int32, len(all))
	var left atomic.Int32
	left.Store(int32(len(all)))
	last := make(chan time.Time, 1)
	forEach(t, all, func(i int) error {
		_, _, err := all[i].Get(t.Context(), "/watched", func(drivers.Event) {
			told[i].Add(1)
			if left.Add(-1) == 0 {
				last <- time.Now()
			}
		})
		return err
	})
	memory = serverMemory(t)
	issued := time.Now()
	if _, err := writer.Set(t.Context(), "/watched", []byte("x"), drivers.AnyVersion); err != nil {
		t.Fatal(err)
	}
	took = (<-last).Sub(issued)
	// The server's replies are in order: what it sent before the reply to this read has arrived.
	forEach(t, all, func(i int) error {
		_, _, err := all[i].Get(t.Context(), "/watched", nil)
		return err
	})
	for i := range told {
		if n := told[i].Load(); n != 1 {
			t.Errorf("session %d was notified %d times, want once", i, n)
		}
	}
	return took, memory
}

func session(t *testing.T, s drivers.Service) drivers.Conn {
	c, err := s.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// sessions opens n sessions. At the end of the test they are closed concurrently.
func sessions(t *testing.T, s drivers.Service, n int) []drivers.Conn {
	all := make([]drivers.Conn, n)
	t.Cleanup(func() {
		forEach(t, all, func(i int) error {
			if all[i] == nil {
				return nil
			}
			return all[i].Close()
		})
	})
	forEach(t, all, func(i int) (err error) {
		all[i], err = s.Dial(t.Context(), drivers.Options{})
		return err
	})
	return all
}

// forEach calls do for each session, 64 at a time.
func forEach(t *testing.T, all []drivers.Conn, do func(i int) error) {
	t.Helper()
	var next atomic.Int64
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// serverMemory returns the resident memory of this process's descendants, in bytes.
func serverMemory(t *testing.T) (bytes int64) {
	for _, pid := range descendants(t) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		if fields := strings.Fields(after); len(fields) > 0 {
			kB, _ := strconv.ParseInt(fields[0], 10, 64)
			bytes += kB << 10
		}
	}
	return bytes
}
