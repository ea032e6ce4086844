package export

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/results/figure"
)

// Native returns the producer of a native server's metrics. Its sums start at the time of the
// call.
func Native(s *server.Server) metric.Producer { return &nativeServer{s, time.Now()} }

type nativeServer struct {
	server *server.Server
	since  time.Time
}

// A serverMetric is a metric of a native server.
type serverMetric struct {
	Metric
	grows bool // a sum that only grows, not a current value
	parts []part[server.Stats, int64]
}

func nativeMetrics() []serverMetric {
	return []serverMetric{
		{figure.Export("stampede.server.connections"), false,
			only(func(s server.Stats) int64 { return s.Connections })},
		{figure.Export("stampede.server.sessions"), false,
			only(func(s server.Stats) int64 { return s.Sessions })},
		{figure.Export("stampede.server.nodes"), false,
			only(func(s server.Stats) int64 { return s.Nodes })},
		{figure.Export("stampede.server.ephemerals"), false,
			only(func(s server.Stats) int64 { return s.Ephemerals })},
		{figure.Export("stampede.server.watches"), false,
			only(func(s server.Stats) int64 { return s.Watches })},
		{figure.Export("stampede.server.data"), false,
			only(func(s server.Stats) int64 { return s.Bytes })},
		{figure.Export("stampede.server.packets"), true, []part[server.Stats, int64]{
			kind("network.io.direction", "receive", func(s server.Stats) int64 { return s.PacketsReceived }),
			kind("network.io.direction", "transmit", func(s server.Stats) int64 { return s.PacketsSent }),
		}},
		{figure.Export("stampede.server.operations"), true, []part[server.Stats, int64]{
			kind("stampede.operation", "read", func(s server.Stats) int64 { return s.Reads }),
			kind("stampede.operation", "write", func(s server.Stats) int64 { return s.Writes }),
		}},
		{figure.Export("stampede.server.notifications"), true,
			only(func(s server.Stats) int64 { return s.Notifications })},
	}
}

// memberMetrics are those of a server that is a member of an ensemble.
func memberMetrics() []serverMetric {
	of := func(value func(server.MemberStats) int64) []part[server.Stats, int64] {
		return only(func(s server.Stats) int64 { return value(*s.Member) })
	}
	return []serverMetric{
		{figure.Export("stampede.server.member.leads"), false,
			of(func(m server.MemberStats) int64 {
				if m.Leads {
					return 1
				}
				return 0
			})},
		{figure.Export("stampede.server.member.lag"), false,
			of(func(m server.MemberStats) int64 { return m.Lag })},
		{figure.Export("stampede.server.member.proposals"), false,
			of(func(m server.MemberStats) int64 { return m.Proposals })},
		{figure.Export("stampede.server.member.elections"), true,
			of(func(m server.MemberStats) int64 { return m.Elections })},
		{figure.Export("stampede.server.member.followers"), false,
			of(func(m server.MemberStats) int64 { return m.Followers })},
		{figure.Export("stampede.server.member.synced"), false,
			of(func(m server.MemberStats) int64 { return m.Synced })},
	}
}

// Produce implements the Producer interface of the OpenTelemetry SDK.
func (n *nativeServer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	stats, now := n.server.Stats(), time.Now()
	var all []metricdata.Metrics
	shown := nativeMetrics()
	if stats.Member != nil {
		shown = append(shown, memberMetrics()...)
	}
	for _, m := range shown {
		var points []metricdata.DataPoint[int64]
		for _, p := range m.parts {
			points = append(points, metricdata.DataPoint[int64]{
				Attributes: attribute.NewSet(p.attributes...), StartTime: n.since, Time: now, Value: p.of(stats)})
		}
		var data metricdata.Aggregation = metricdata.Gauge[int64]{DataPoints: points}
		if m.grows {
			data = metricdata.Sum[int64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
		}
		all = append(all, metricdata.Metrics{Name: m.Name, Unit: m.Unit, Description: m.About, Data: data})
	}
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: Scope}, Metrics: all}}, nil
}
