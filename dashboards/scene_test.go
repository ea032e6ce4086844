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
	"github.com/stampede-bench/stampede/drivers/native"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/telemetry"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// scene is a native server with runs on it, one after the other until the test
// ends: the lock in its recipe, in its naive form, and in that form again, which
// calls itself a recipe and "sheep". It returns where the metrics of the runs and
// of the server are.
func scene(t *testing.T) (runs, server string) {
	t.Helper()
	n := native.New(native.Options{})
	t.Cleanup(n.Close)
	service, err := zookeeper.New(zookeeper.Config{Servers: []string{"in-memory"},
		Dial: func(context.Context, string) (net.Conn, error) { return n.Dial("", "", 0) }})
	if err != nil {
		t.Fatal(err)
	}
	forms := catalog.Forms()[:2]
	sheep := forms[1]
	sheep.Name, sheep.Family = "sheep", workloads.Recipe
	var c telemetry.Collector
	goOn(t, service, append(forms[:2:2], sheep), &c)
	return serve(t, &c), serve(t, telemetry.Native(n))
}

func serve(t *testing.T, p metric.Producer) (addr string) {
	t.Helper()
	e, err := telemetry.Serve("127.0.0.1:0", p)
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

// goOn runs the forms in turn until the test ends.
func goOn(t *testing.T, s drivers.Service, forms []workloads.Form, c *telemetry.Collector) {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		stop()
		wg.Wait()
	})
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := runOnce(ctx, s, forms[i%len(forms)], c); err != nil && !errors.Is(err, workloads.ErrInterrupted) && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
}

func runOnce(ctx context.Context, s drivers.Service, f workloads.Form, c *telemetry.Collector) error {
	const clients = 8
	about := telemetry.Run{Recipe: f.Recipe, Form: f.Name, Family: string(f.Family), Backend: "native", Clients: clients}
	record, err := workloads.Run(ctx, workloads.Plan{Service: s, Form: f, Clients: clients, Duration: 500 * time.Millisecond,
		Watch: func(l *workloads.Live) { c.Begin(about, l) }})
	if record != nil {
		c.End(about, *record)
	}
	return err
}
