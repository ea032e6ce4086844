package zookeeper

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A bubble ends when all its goroutines have ended: each of these tests proves that Close
// leaves none behind, or none for longer than the library takes to end.

func dialMemory(t *testing.T, m *memory, o drivers.Options) *Conn {
	t.Helper()
	c, err := m.service("a:1").Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Conn)
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := new(memory)
		c := dialMemory(t, m, drivers.Options{})
		time.Sleep(time.Minute) // the library sends pings meanwhile
		if _, _, err := c.Get(t.Context(), "/a", nil); !errors.Is(err, drivers.ErrNoNode) {
			t.Error(err)
		}
		c.Close()
		want := []int32{wire.OpGetData, wire.OpCloseSession}
		if !slices.Equal(m.ops, want) || len(m.dials) != 1 {
			t.Errorf("asked for %v on %d connections, want %v on one", m.ops, len(m.dials), want)
		}
	})
}

// A server that stops answering does not block Close, nor a call whose context ends, and calls
// in flight fail with the session.
func TestCloseOfASilentServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := new(memory)
		c := dialMemory(t, m, drivers.Options{})
		m.set(true, false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w := newRecorder()
		if _, _, err := c.Exists(ctx, "/a", w.watch); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		failed := make(chan error)
		go func() {
			_, _, err := c.Exists(t.Context(), "/b", w.watch)
			failed <- err
		}()
		synctest.Wait()
		go c.Close()
		if err := <-failed; !errors.Is(err, drivers.ErrSessionLost) {
			t.Errorf("got %v, want %v", err, drivers.ErrSessionLost)
		}
		c.Close()
		if n := len(w.events); n != 0 {
			t.Errorf("watches of calls that failed were called %d times", n)
		}
	})
}

func TestCloseOfADeadServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := new(memory)
		c := dialMemory(t, m, drivers.Options{})
		m.set(false, true)
		synctest.Wait()
		c.Close()
		if len(m.ops) != 0 || len(m.dials) < 3 {
			t.Errorf("asked for %v in %d attempts, want nothing and several attempts to close", m.ops, len(m.dials))
		}
	})
}

func TestDialOfADeadServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := &memory{dead: true}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := m.service("a:1", "b:1").Dial(ctx, drivers.Options{})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errRefused) {
			t.Errorf("got %v, want the deadline and why", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v, want 1s", took)
		}
		// Both without a pause, each after 10, 20, 40, 80 and 160 ms, and one after 320.
		if got, want := len(m.dials), 2+2*5+1; got != want {
			t.Errorf("dialled %d times in a second, want %d", got, want)
		}
		if m.dials[0] == m.dials[1] {
			t.Errorf("dialled %v: want one server after the other", m.dials[:2])
		}
	})
}

// While the session is disconnected a call waits, and an abandoned one is never sent.
func TestCallsWaitForTheReconnect(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := new(memory)
		st := newStates()
		c := dialMemory(t, m, drivers.Options{OnState: st.on})
		m.set(false, true)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Delete(ctx, "/a", 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		failed := make(chan error)
		go func() {
			_, _, err := c.Get(t.Context(), "/a", nil)
			failed <- err
		}()
		synctest.Wait()
		m.set(false, false)
		if err := <-failed; !errors.Is(err, drivers.ErrNoNode) {
			t.Errorf("got %v, want %v", err, drivers.ErrNoNode)
		}
		c.Close()
		want := []int32{wire.OpGetData, wire.OpCloseSession}
		if !slices.Equal(m.ops, want) {
			t.Errorf("asked for %v, want %v", m.ops, want)
		}
		st.are(t, drivers.Disconnected, drivers.Connected, drivers.SessionClosed)
	})
}

// The session's timeout starts with the disconnect, and ends the calls that wait for the reconnect.
func TestLostAfterTheTimeout(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := new(memory)
		st := newStates()
		c := dialMemory(t, m, drivers.Options{OnState: st.on})
		w := newRecorder()
		if _, _, err := c.Exists(t.Context(), "/a", w.watch); err != nil {
			t.Fatal(err)
		}
		m.set(false, true)
		synctest.Wait()
		start := time.Now()
		if _, _, err := c.Get(t.Context(), "/a", nil); !errors.Is(err, drivers.ErrSessionLost) {
			t.Errorf("a call that waited for the reconnect: %v, want %v", err, drivers.ErrSessionLost)
		}
		<-c.Done()
		if got := time.Since(start); got != 6*time.Second {
			t.Errorf("lost after %v, want the 6s granted", got)
		}
		synctest.Wait()
		if e := w.only(t); e.Type != drivers.Lost {
			t.Errorf("event %+v, want Lost", e)
		}
		c.Close()
		st.are(t, drivers.Disconnected, drivers.SessionGivenUp)
	})
}

func TestSpreadOverServers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := new(memory)
		s := m.service("a:1", "b:1", "c:1")
		for range 3 {
			c, err := s.Dial(t.Context(), drivers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		slices.Sort(m.dials)
		if want := []string{"a:1", "b:1", "c:1"}; !slices.Equal(m.dials, want) {
			t.Errorf("dialled %v, want each once", m.dials)
		}
	})
}
