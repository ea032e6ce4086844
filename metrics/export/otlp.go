package export

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
)

// A Pusher sends metrics by OTLP.
type Pusher struct{ provider *metric.MeterProvider }

// Push sends the producer's metrics by OTLP, as the standard variables define:
// OTEL_EXPORTER_OTLP_ENDPOINT, _PROTOCOL, _HEADERS and so on, and OTEL_METRIC_EXPORT_INTERVAL.
// Without an endpoint and without OTEL_METRICS_EXPORTER=otlp it sends nothing and returns nil.
func Push(ctx context.Context, p metric.Producer) (*Pusher, error) {
	if !asked() {
		return nil, nil
	}
	exporter, err := newExporter(ctx)
	if err != nil {
		return nil, err
	}
	about, err := aboutUs()
	if err != nil {
		return nil, err
	}
	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(p))
	return &Pusher{metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(about))}, nil
}

// asked reports whether the environment asks for metrics to be sent.
func asked() bool {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return false
	}
	switch os.Getenv("OTEL_METRICS_EXPORTER") {
	case "otlp":
		return true
	case "":
		return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) != ""
	}
	return false
}

func newExporter(ctx context.Context) (metric.Exporter, error) {
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	switch protocol {
	case "grpc":
		return otlpmetricgrpc.New(ctx)
	case "http/protobuf":
		return otlpmetrichttp.New(ctx)
	}
	return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL %q: want grpc or http/protobuf", protocol)
}

// closeTime limits the time for sending the last metrics.
const closeTime = 5 * time.Second

// Close sends the current metrics and stops. A nil Pusher can be closed.
func (p *Pusher) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return p.provider.Shutdown(ctx)
}
