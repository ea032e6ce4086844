package observe_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A watched is a service whose sessions are observed by their probes, without a proxy.
type watched struct {
	drivers.Service
	seen *observe.Analysis

	mu    sync.Mutex
	conns uint64
}

func (w *watched) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	w.mu.Lock()
	w.conns++
	id := w.conns
	w.mu.Unlock()
	t := w.seen.Open(traffic.Connection{ID: id, Client: "127.0.0.1:1", At: time.Now()})
	t.Session(time.Now(), traffic.Session{ID: int64(id), Timeout: time.Minute})
	o.Probe = &both{first: o.Probe, tap: t}
	return w.Service.Dial(ctx, o)
}

// both passes each message to the probe that the session has anyway, and to the tap.
type both struct {
	first drivers.Probe
	tap   traffic.Tap
}

func (b *both) Message(m drivers.Message) {
	if b.first != nil {
		b.first.Message(m)
	}
	b.tap.Message(time.Now(), m)
}

// atRest runs a form at rest between any two steps, observed.
func atRest(t *testing.T, f workloads.Form, clients int) (settled.Result, *observe.Analysis) {
	t.Helper()
	a := observe.New(observe.DefaultLimits)
	w := &watched{Service: f.ServiceFor(backendtest.InProcess(t)), seen: a}
	s, err := settled.Run(t.Context(), w, f, clients, workloads.Settings{Polls: 2, Queue: workloads.QueueSettings{Items: 4}})
	if err != nil {
		t.Fatalf("%v with %d clients: %v", f, clients, err)
	}
	return s, a
}
