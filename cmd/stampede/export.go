package main

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/metrics/export"
)

// observeRuns exports all runs of the command as metrics and shows them on a page, if flags or the
// environment ask for that, until the returned function is called.
func (a *app) observeRuns(ctx context.Context, f *spec.Flags) (stop func(), err error) {
	c := new(export.Collector)
	to, err := a.expose(ctx, f.MetricsAddr, c)
	if err != nil {
		return nil, err
	}
	close, err := a.openPage(f.Listen)
	if err != nil {
		to.stop(ctx)
		return nil, err
	}
	if to.endpoint != nil || to.pusher != nil {
		a.observers = append(a.observers, exporting(c))
	}
	return func() { close(); to.stop(ctx) }, nil
}

// An exporter exports metrics to other programs until it is hidden.
type exporter struct {
	app      *app
	endpoint *export.Endpoint // nil without a Prometheus endpoint
	pusher   *export.Pusher   // nil if nothing is pushed
}

// expose serves Prometheus metrics at an address, if there is one, and pushes metrics by OTLP if
// the environment says so.
func (a *app) expose(ctx context.Context, addr string, p metric.Producer) (*exporter, error) {
	s := &exporter{app: a}
	var err error
	if addr != "" {
		if s.endpoint, err = export.Serve(addr, p); err != nil {
			return nil, cli.Usagef("--%s %s: cannot answer there: %w", spec.MetricsFlag, addr, cli.WithoutAddress(err))
		}
		fmt.Fprintf(a.err, "stampede: metrics at http://%s/metrics\n", s.endpoint.Addr)
	}
	if s.pusher, err = export.Push(ctx, p); err != nil {
		s.stop(ctx)
		return nil, cli.Usage(err)
	}
	return s, nil
}

// stop pushes the remaining metrics and stops. A failure is only a warning.
func (s *exporter) stop(ctx context.Context) {
	if err := s.pusher.Close(ctx); err != nil {
		fmt.Fprintf(s.app.err, "stampede: warning: metrics were not sent: %v\n", err)
	}
	if s.endpoint != nil {
		_ = s.endpoint.Close() // it only closes the listener
	}
}
