package export_test

import (
	"context"
	"net"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/metrics/export"
)

// A server reports its contents and its counters: a session with an ephemeral node that is
// notified of the deletion of another node.
func TestNativeShowsWhatTheServerDid(t *testing.T) {
	server := server.New(server.Options{})
	defer server.Close()
	service, err := zookeeper.New(zookeeper.Config{Servers: []string{"in-memory"},
		Dial: func(context.Context, string) (net.Conn, error) { return server.Dial("", "", 0) }})
	if err != nil {
		t.Fatal(err)
	}
	c, err := service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := t.Context()
	told := make(chan drivers.Event, 1)
	must(t, second(c.Create(ctx, "/stays", nil, 0)))
	must(t, second(c.Create(ctx, "/goes", nil, drivers.Ephemeral)))
	_, _, err = c.Get(ctx, "/stays", func(e drivers.Event) { told <- e })
	must(t, err)
	must(t, c.Delete(ctx, "/stays", drivers.AnyVersion))
	<-told
	_, _, err = c.Get(ctx, "/goes", func(drivers.Event) {})
	must(t, err)

	all := produced(t, export.Native(server))
	for name, want := range map[string]int64{
		"stampede.server.connections": 1, "stampede.server.sessions": 1,
		"stampede.server.ephemerals": 1, "stampede.server.watches": 1, "stampede.server.notifications": 1,
	} {
		if got := last(all[name]); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	// Opening the session is a write too.
	if reads, writes := part(all["stampede.server.operations"], "read"), part(all["stampede.server.operations"], "write"); reads != 2 || writes != 4 {
		t.Errorf("%d reads and %d writes, want 2 and 4", reads, writes)
	}
}

func second[T any](_ T, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func last(a metricdata.Aggregation) int64 {
	switch a := a.(type) {
	case metricdata.Gauge[int64]:
		return a.DataPoints[0].Value
	case metricdata.Sum[int64]:
		return a.DataPoints[0].Value
	}
	return -1
}

func part(a metricdata.Aggregation, kind string) int64 {
	for _, p := range a.(metricdata.Sum[int64]).DataPoints {
		if v, _ := p.Attributes.Value("stampede.operation"); v.AsString() == kind {
			return p.Value
		}
	}
	return -1
}
