package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/stampede-bench/stampede/live"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/telemetry"
	"github.com/stampede-bench/stampede/workloads"
)

const metricsAddr = "metrics-addr"

func registerMetrics(flags *pflag.FlagSet, addr *string) {
	flags.StringVar(addr, metricsAddr, "", "`HOST:PORT` at which Prometheus finds /metrics while the command goes on (default: none)")
}

// showRuns exports all runs of the command as metrics and shows them on a page, if flags or the
// environment ask for that, until the returned function is called.
func (a *app) showRuns(ctx context.Context, f *runFlags) (stop func(), err error) {
	c := new(telemetry.Collector)
	to, err := a.expose(ctx, f.metricsAddr, c)
	if err != nil {
		return nil, err
	}
	close, err := a.openPage(f.listen)
	if err != nil {
		to.hide(ctx)
		return nil, err
	}
	if to.endpoint != nil || to.pusher != nil {
		a.runs = c
	}
	return func() { close(); to.hide(ctx) }, nil
}

// drive executes the plan and shows the run while it is in progress.
func (a *app) drive(ctx context.Context, p workloads.Plan, s results.Setting) (*metrics.Record, error) {
	if a.runs == nil && a.page == nil {
		return workloads.Run(ctx, p)
	}
	about := telemetry.Run{Recipe: s.Recipe, Form: s.Form, Family: s.Family, Backend: s.Backend.Name, Clients: s.Clients}
	if p.Open.Rate.Open() {
		about.Rate = p.Open.Rate.String() + "/s"
	}
	shown := live.Run{Setting: s, Duration: p.Duration, Rounds: p.Rounds}
	p.Watch = func(l *workloads.Live) {
		if a.runs != nil {
			a.runs.Begin(about, l)
		}
		if a.page != nil {
			a.page.Begin(shown, l)
		}
	}
	record, err := workloads.Run(ctx, p)
	if record == nil {
		return nil, err
	}
	if a.runs != nil {
		a.runs.End(about, *record)
	}
	if a.page != nil {
		a.page.End(shown, *record)
	}
	return record, err
}

// A shown exports metrics to other programs until it is hidden.
type shown struct {
	app      *app
	endpoint *telemetry.Endpoint // nil without a Prometheus endpoint
	pusher   *telemetry.Pusher   // nil if nothing is pushed
}

// expose serves Prometheus metrics at an address, if there is one, and pushes metrics by OTLP if
// the environment says so.
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

// hide pushes the remaining metrics and stops. A failure is only a warning.
func (s *shown) hide(ctx context.Context) {
	if err := s.pusher.Close(ctx); err != nil {
		fmt.Fprintf(s.app.err, "stampede: warning: metrics were not sent: %v\n", err)
	}
	if s.endpoint != nil {
		_ = s.endpoint.Close() // it only closes the listener
	}
}
