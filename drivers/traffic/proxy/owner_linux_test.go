package proxy

import (
	"os"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// An awaited is an Observer that says when it has got the process of a connection.
type awaited struct {
	*record
	owned chan traffic.Process
}

func (a awaited) Open(c traffic.Connection) traffic.Tap {
	return awaitedTap{a.record.Open(c), a.owned}
}

type awaitedTap struct {
	traffic.Tap
	owned chan traffic.Process
}

func (t awaitedTap) Owner(p traffic.Process) { t.owned <- p }

// TestOwnerIsReported connects from this process: the observer gets it for each connection that is open,
// and the proxy closes while it looks for others.
func TestOwnerIsReported(t *testing.T) {
	const connections = 20
	a := awaited{new(record), make(chan traffic.Process, 2*connections)}
	p := in(t, backendtest.Native(t, server.Options{}), Options{Observer: a})
	for range connections {
		dial(t, p)
	}
	for range connections {
		if by := <-a.owned; by.ID != os.Getpid() || by.Name == "" || by.Started == 0 {
			t.Errorf("the process is %+v, want %d", by, os.Getpid())
		}
	}
	dial(t, p).Close() // it has ended before it can be looked up, or not: neither is an error
	p.Close()
	if s := p.Stats(); s.Failed != 0 || s.Connections < connections {
		t.Errorf("%+v, want no failure and %d connections or more", s, connections)
	}
}

// TestOwnerMayComeLast hands the process of a connection over after the end of it, and one of a connection
// that the observer has failed to open.
func TestOwnerMayComeLast(t *testing.T) {
	r := new(record)
	a := newAnalysis(Options{Protocol: traffic.ZooKeeper(), Observer: r}, func(string) bool { return false })
	l := &relay{connection: traffic.Connection{ID: 1, At: time.Unix(1, 0)}, owner: traffic.Process{ID: 7}}
	a.open(l)
	a.end(l, 0)
	a.owned(l)
	a.owned(&relay{owner: traffic.Process{ID: 8}})
	a.close()
	if len(r.all) != 1 || !r.all[0].closed || r.all[0].owner.ID != 7 || a.failed.Load() != 0 {
		t.Errorf("%+v, %d failures; want a connection that is closed, with its process", r.all, a.failed.Load())
	}
}
