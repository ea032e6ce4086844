package telemetry

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

// A Server answers Prometheus.
type Server struct {
	Addr string // where it listens
	http *http.Server
	done chan error
}

// Serve answers at http://ADDR/metrics with what the collector has, until Close.
// Latencies are native histograms, which a Prometheus that asks for them gets.
func Serve(addr string, c *Collector) (*Server, error) {
	registry := client.NewRegistry()
	exporter, err := prometheus.New(prometheus.WithRegisterer(registry), prometheus.WithProducer(c), prometheus.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	about, err := aboutUs()
	if err != nil {
		return nil, err
	}
	metric.NewMeterProvider(metric.WithReader(exporter), metric.WithResource(about)) // or it reads nothing
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s := &Server{Addr: listener.Addr().String(), http: &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}, done: make(chan error, 1)}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// Close stops it.
func (s *Server) Close() error {
	err := s.http.Close()
	if e := <-s.done; err == nil && !errors.Is(e, http.ErrServerClosed) {
		err = e
	}
	return err
}
