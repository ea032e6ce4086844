package backends_test

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// rearmsMany reports whether the session's watches are all called for changes while it was
// disconnected, if arming them again takes three packets and the connection breaks at the second.
func rearmsMany(t *testing.T, s drivers.Service) bool {
	const watches = 300
	var disconnect, changed, rearms, fired atomic.Int64
	reconnected, change := make(chan struct{}), make(chan struct{})
	c := session(t, s, drivers.Options{LoseReply: func(m drivers.Message) bool {
		switch m.Op {
		case drivers.OpSync:
			return disconnect.CompareAndSwap(0, 1)
		case drivers.OpOpen:
			if disconnect.Load() == 1 && changed.CompareAndSwap(0, 1) {
				close(reconnected)
				<-change
			}
		case drivers.OpRearm:
			return rearms.Add(1) == 2
		}
		return false
	}})
	writer := session(t, s, drivers.Options{})
	paths := make([]string, watches)
	for i := range paths {
		paths[i] = fmt.Sprintf("/%s%d", strings.Repeat("n", 1000), i)
		_, err := writer.Create(t.Context(), paths[i], nil, 0)
		check(t, err)
		_, _, err = c.Get(t.Context(), paths[i], func(drivers.Event) { fired.Add(1) })
		check(t, err)
	}
	if err := c.Sync(t.Context(), "/"); err == nil {
		t.Fatal("the connection did not break")
	}
	<-reconnected
	for _, path := range paths {
		_, err := writer.Set(t.Context(), path, nil, drivers.AnyVersion)
		check(t, err)
	}
	close(change)
	check(t, drivers.Repeat(t.Context(), func() error { return c.(drivers.Flusher).Flush(t.Context()) }))
	return fired.Load() == watches
}

// closesOnAnother reports whether Close ends the session at the service although the connection
// breaks before the request for it is sent.
func closesOnAnother(t *testing.T, s drivers.Service) bool {
	var breaks atomic.Bool
	c := session(t, s, drivers.Options{Through: func(conn net.Conn) net.Conn { return breaking{conn, &breaks} }})
	_, err := c.Create(t.Context(), "/ephemeral", nil, drivers.Ephemeral)
	check(t, err)
	breaks.Store(true)
	c.Close()
	_, found, err := session(t, s, drivers.Options{}).Exists(t.Context(), "/ephemeral", nil)
	check(t, err)
	return !found
}

// A breaking connection breaks at the next write once it is told to.
type breaking struct {
	net.Conn
	breaks *atomic.Bool
}

func (c breaking) Write(p []byte) (int, error) {
	if c.breaks.CompareAndSwap(true, false) {
		c.Conn.Close()
	}
	return c.Conn.Write(p)
}

func session(t *testing.T, s drivers.Service, o drivers.Options) drivers.Conn {
	t.Helper()
	c, err := s.Dial(t.Context(), o)
	check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
