package export

import (
	"errors"
	"net"
	"net/http"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
)

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
