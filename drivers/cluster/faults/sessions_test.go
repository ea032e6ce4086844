package faults_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/bubble"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

// A session's connections go through its line on every backend. After a cut the session reconnects
// and continues.
func TestSessionsOnLines(t *testing.T) {
	backendtest.Each(t, func(t *testing.T, s drivers.Service) {
		l, states := new(faults.Link), make(chan drivers.State, 10)
		c, err := s.Dial(t.Context(), drivers.Options{Through: l.Wrap, OnState: func(s drivers.State) { states <- s }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		l.Delay(time.Millisecond)
		if _, _, err := c.Exists(t.Context(), "/", nil); err != nil {
			t.Error(err)
		}
		l.Cut()
		for _, want := range []drivers.State{drivers.Disconnected, drivers.Connected} {
			if got := <-states; got != want {
				t.Errorf("state %v, want %v", got, want)
			}
		}
		if _, _, err := c.Exists(t.Context(), "/", nil); err != nil {
			t.Error(err)
		}
	})
}

// A session that is silent for longer than its timeout expires on the server, and ends by its own
// clock, as it cannot be notified.
func TestSilentForTooLong(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		dial := func(o drivers.Options) drivers.Conn {
			c, err := s.Dial(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}
		l := new(faults.Link)
		silent, other := dial(drivers.Options{SessionTimeout: 5 * time.Second, Through: l.Wrap}), dial(drivers.Options{})
		if _, err := silent.Create(t.Context(), "/mine", nil, drivers.Ephemeral); err != nil {
			t.Fatal(err)
		}
		l.Silence(drivers.Both)
		time.Sleep(20 * time.Second)
		if _, found, err := other.Exists(t.Context(), "/mine", nil); err != nil || found {
			t.Errorf("its node: %v, %v; want it gone", found, err)
		}
		<-silent.Done()
		l.Restore()
	})
}
