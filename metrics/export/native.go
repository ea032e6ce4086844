package export

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers/server"
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
		{Metric{Name: "stampede.server.connections", Unit: "{connection}", About: "connections to the server"}, false,
			only(func(s server.Stats) int64 { return s.Connections })},
		{Metric{Name: "stampede.server.sessions", Unit: "{session}", About: "sessions, connected or not"}, false,
			only(func(s server.Stats) int64 { return s.Sessions })},
		{Metric{Name: "stampede.server.nodes", Unit: "{node}", About: "nodes that the server holds"}, false,
			only(func(s server.Stats) int64 { return s.Nodes })},
		{Metric{Name: "stampede.server.ephemerals", Unit: "{node}", About: "ephemeral nodes"}, false,
			only(func(s server.Stats) int64 { return s.Ephemerals })},
		{Metric{Name: "stampede.server.watches", Unit: "{watch}", About: "armed watches"}, false,
			only(func(s server.Stats) int64 { return s.Watches })},
		{Metric{Name: "stampede.server.data", Unit: "By", About: "bytes of paths and data"}, false,
			only(func(s server.Stats) int64 { return s.Bytes })},
		{Metric{Name: "stampede.server.packets", Unit: "{packet}", About: "packets on all connections"}, true, []part[server.Stats, int64]{
			kind("network.io.direction", "receive", func(s server.Stats) int64 { return s.PacketsReceived }),
			kind("network.io.direction", "transmit", func(s server.Stats) int64 { return s.PacketsSent }),
		}},
		{Metric{Name: "stampede.server.operations", Unit: "{operation}", About: "requests answered; heartbeats are among the reads"}, true, []part[server.Stats, int64]{
			kind("stampede.operation", "read", func(s server.Stats) int64 { return s.Reads }),
			kind("stampede.operation", "write", func(s server.Stats) int64 { return s.Writes }),
		}},
		{Metric{Name: "stampede.server.notifications", Unit: "{notification}", About: "watches that fired"}, true,
			only(func(s server.Stats) int64 { return s.Notifications })},
	}
}

// memberMetrics are those of a server that is a member of an ensemble.
func memberMetrics() []serverMetric {
	of := func(value func(server.MemberStats) int64) []part[server.Stats, int64] {
		return only(func(s server.Stats) int64 { return value(*s.Member) })
	}
	return []serverMetric{
		{Metric{Name: "stampede.server.member.leads", Unit: "{leader}", About: "1 if this member leads the ensemble, 0 if not"}, false,
			of(func(m server.MemberStats) int64 {
				if m.Leads {
					return 1
				}
				return 0
			})},
		{Metric{Name: "stampede.server.member.lag", Unit: "{entry}", About: "committed entries that this member has not applied"}, false,
			of(func(m server.MemberStats) int64 { return m.Lag })},
		{Metric{Name: "stampede.server.member.proposals", Unit: "{transaction}", About: "transactions of this member's clients that are not applied"}, false,
			of(func(m server.MemberStats) int64 { return m.Proposals })},
		{Metric{Name: "stampede.server.member.elections", Unit: "{election}", About: "leaders that this member has seen"}, true,
			of(func(m server.MemberStats) int64 { return m.Elections })},
		{Metric{Name: "stampede.server.member.followers", Unit: "{member}", About: "members that the leader hears of; 0 on other members"}, false,
			of(func(m server.MemberStats) int64 { return m.Followers })},
		{Metric{Name: "stampede.server.member.synced", Unit: "{member}", About: "those of the followers that have all but the latest entries"}, false,
			of(func(m server.MemberStats) int64 { return m.Synced })},
	}
}

func serverMetrics() (all []Metric) {
	for _, m := range slices.Concat(nativeMetrics(), memberMetrics()) {
		all = append(all, m.Metric)
	}
	return all
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
