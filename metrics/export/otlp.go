package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
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

// An Endpoint serves metrics to Prometheus.
type Endpoint struct {
	Addr string // address on which it listens
	http *http.Server
	done chan error
}

// Serve serves the producer's metrics at http://ADDR/metrics until Close. Latencies are native
// histograms, which Prometheus must request.
func Serve(addr string, p metric.Producer) (*Endpoint, error) {
	registry := client.NewRegistry()
	exporter, err := prometheus.New(prometheus.WithRegisterer(registry), prometheus.WithProducer(p), prometheus.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	about, err := aboutUs()
	if err != nil {
		return nil, err
	}
	metric.NewMeterProvider(metric.WithReader(exporter), metric.WithResource(about)) // the exporter reads nothing without a provider
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	e := &Endpoint{Addr: listener.Addr().String(), http: &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}, done: make(chan error, 1)}
	go func() { e.done <- e.http.Serve(listener) }()
	return e, nil
}

// Close stops the endpoint.
func (e *Endpoint) Close() error {
	err := e.http.Close()
	if ended := <-e.done; err == nil && !errors.Is(ended, http.ErrServerClosed) {
		err = ended
	}
	return err
}

// aboutUs returns the resource that the metrics describe: this program, with changes from
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
func aboutUs() (*resource.Resource, error) {
	return resource.Merge(resource.NewSchemaless(attribute.String("service.name", "stampede")), resource.Environment())
}
