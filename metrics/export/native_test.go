package export_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/await"
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

// Only a member of an ensemble has the metrics of members. This one is the whole ensemble and leads it.
func TestMembersHaveMetricsOfTheirOwn(t *testing.T) {
	member := backendtest.Member(t)
	const leads = "stampede.server.member.leads"
	var all map[string]metricdata.Aggregation
	await.True(t, "the member leads", func() bool {
		all = produced(t, export.Native(member))
		return last(all[leads]) == 1
	})
	for name, want := range map[string]int64{leads: 1, "stampede.server.member.elections": 1, "stampede.server.member.followers": 0,
		"stampede.server.member.synced": 0, "stampede.server.member.proposals": 0} {
		if got := last(all[name]); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if lag := last(all["stampede.server.member.lag"]); lag < 0 {
		t.Errorf("the lag is %d", lag)
	}

	alone := server.New(server.Options{})
	defer alone.Close()
	for name := range produced(t, export.Native(alone)) {
		if strings.HasPrefix(name, "stampede.server.member.") {
			t.Errorf("a server that is alone has %s", name)
		}
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
