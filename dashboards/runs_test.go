package dashboards

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// startRuns starts a native server and does runs on it, one after the other, until the test ends. The
// first three are the lock in its recipe, in its naive form, and in the naive form registered as a
// recipe called "sheep". The fourth is the recipe with more work than it can do and a background
// load. startRuns returns the addresses of the metrics of the runs and of the server.
func startRuns(t *testing.T) (runs, served string) {
	t.Helper()
	n := server.New(server.Options{})
	t.Cleanup(n.Close)
	service, err := zookeeper.New(zookeeper.Config{Servers: []string{"in-memory"},
		Dial: func(context.Context, string) (net.Conn, error) { return n.Dial("", "", 0) }})
	if err != nil {
		t.Fatal(err)
	}
	forms := catalog.Forms()[:2]
	sheep := forms[1]
	sheep.Name, sheep.Family = "sheep", workloads.Recipe
	var c export.Collector
	// While one client holds the lock, all others have time to wait, however busy the machine is,
	// so that a naive form's release wakes them all.
	held := workloads.Settings{Hold: 5 * time.Millisecond}
	loaded := workloads.Plan{Form: forms[0], Open: openloop.Options{Rate: openloop.PerSecond(1000), LateLimit: 100 * time.Millisecond},
		Settings: workloads.Settings{Hold: 2 * time.Millisecond}, Background: load.Background(2, 1000,
			workloads.MixSettings{Reads: 0.5, Keys: 10})}
	goOn(t, service, []workloads.Plan{{Form: forms[0], Settings: held}, {Form: forms[1], Settings: held}, {Form: sheep, Settings: held}, loaded}, &c)
	return serve(t, &c), serve(t, export.Native(n))
}

func serve(t *testing.T, p metric.Producer) (addr string) {
	t.Helper()
	e, err := export.Serve("127.0.0.1:0", p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.Addr
}

// goOn repeats the plans in turn until the test ends.
func goOn(t *testing.T, s drivers.Service, plans []workloads.Plan, c *export.Collector) {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		stop()
		wg.Wait()
	})
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := runOnce(ctx, s, plans[i%len(plans)], c); err != nil && !errors.Is(err, workloads.ErrInterrupted) && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
}

func runOnce(ctx context.Context, s drivers.Service, p workloads.Plan, c *export.Collector) error {
	p.Service, p.Clients, p.Duration = s, 8, 500*time.Millisecond
	about := export.Run{Recipe: p.Form.Recipe, Form: p.Form.Name, Family: string(p.Form.Family), Backend: "native",
		Clients: p.Clients, Rate: p.Open.Rate.String()}
	p.Watch = func(l *workloads.Live) { c.Begin(about, l) }
	record, err := workloads.Run(ctx, p)
	if record != nil {
		c.End(about, *record)
	}
	return err
}

// startObservation serves the metrics of an observation in which a change of one node wakes three
// sessions, and returns the address.
func startObservation(t *testing.T) (observed string) {
	t.Helper()
	a := observe.New(observe.DefaultLimits)
	at, path := time.Now(), []byte("/config")
	open := func(id int64) traffic.Tap {
		tap := a.Open(traffic.Connection{ID: uint64(id), Client: "192.0.2.1:5", At: at})
		tap.Session(at, traffic.Session{ID: id, Timeout: time.Minute})
		return tap
	}
	call := func(tap traffic.Tap, m drivers.Message) {
		for _, m.Kind = range []drivers.MessageKind{drivers.Request, drivers.Reply} {
			tap.Message(at, m)
		}
	}
	writer, watchers := open(1), []traffic.Tap{open(2), open(3), open(4)}
	for _, w := range watchers {
		call(w, drivers.Message{Op: drivers.OpGet, Path: path, Watch: true, Pos: 1})
	}
	call(writer, drivers.Message{Op: drivers.OpSet, Path: path, Pos: 2})
	for _, w := range watchers {
		w.Message(at, drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Path: path})
		call(w, drivers.Message{Op: drivers.OpGet, Path: path, Watch: true, Pos: 2})
	}
	a.Report() // decides what is open
	return serve(t, export.Observed("native", a))
}
