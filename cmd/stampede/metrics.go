package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/telemetry"
	"github.com/stampede-bench/stampede/workloads"
)

const metricsAddr = "metrics-addr"

func registerMetrics(flags *pflag.FlagSet, addr *string) {
	flags.StringVar(addr, metricsAddr, "", "`HOST:PORT` at which Prometheus finds /metrics while the command goes on (default: none)")
}

// showRuns shows all runs of the command to tools that keep metrics, if anybody
// asked, until the function that it returns is called.
func (a *app) showRuns(ctx context.Context, addr string) (stop func(), err error) {
	c := new(telemetry.Collector)
	to, err := a.expose(ctx, addr, c)
	if err != nil {
		return nil, err
	}
	if to.endpoint != nil || to.pusher != nil {
		a.runs = c
	}
	return func() { to.hide(ctx) }, nil
}

// drive does the plan, and shows it while it goes on.
func (a *app) drive(ctx context.Context, p workloads.Plan) (*metrics.Record, error) {
	if a.runs == nil {
		return workloads.Run(ctx, p)
	}
	about := telemetry.Run{Recipe: p.Form.Recipe, Form: p.Form.Name, Family: string(p.Form.Family),
		Backend: p.Service.Info().Name, Clients: p.Clients}
	if p.Open.Rate.Open() {
		about.Rate = p.Open.Rate.String() + "/s"
	}
	p.Watch = func(l *workloads.Live) { a.runs.Begin(about, l) }
	record, err := workloads.Run(ctx, p)
	if record != nil {
		a.runs.End(about, *record)
	}
	return record, err
}

// A shown is what shows metrics to other programs until it is hidden.
type shown struct {
	app      *app
	endpoint *telemetry.Endpoint // nil if Prometheus is not answered
	pusher   *telemetry.Pusher   // nil if nothing is sent
}

// expose answers Prometheus at an address, if there is one, and sends by OTLP if the
// environment says so.
func (a *app) expose(ctx context.Context, addr string, p metric.Producer) (*shown, error) {
	s := &shown{app: a}
	var err error
	if addr != "" {
		if s.endpoint, err = telemetry.Serve(addr, p); err != nil {
			return nil, usagef("--%s %s: cannot answer there: %w", metricsAddr, addr, reason(err))
		}
		fmt.Fprintf(a.err, "stampede: metrics at http://%s/metrics\n", s.endpoint.Addr)
	}
	if s.pusher, err = telemetry.Push(ctx, p); err != nil {
		s.hide(ctx)
		return nil, usage(err)
	}
	return s, nil
}

// hide sends what is left and stops. That it cannot is no reason to fail.
func (s *shown) hide(ctx context.Context) {
	if err := s.pusher.Close(ctx); err != nil {
		fmt.Fprintf(s.app.err, "stampede: warning: metrics were not sent: %v\n", err)
	}
	if s.endpoint != nil {
		_ = s.endpoint.Close() // it only stops to listen
	}
}
