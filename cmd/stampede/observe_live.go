package main

import (
	"context"
	"fmt"
	"io"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/dashboards/live"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/render"
)

// A following is an observation in progress, as metrics and a page show it.
type following struct {
	file       results.Observation // without what was observed
	thresholds []gate.PathThreshold
	seen       *observe.Analysis
	missed     func() int64 // bytes that were not analysed
}

// observationFrom returns the observation with its source.
func observationFrom(file results.Observation, source string) results.Observation {
	file.Source = source
	return file
}

// follow shows the observation as metrics and on a page, if flags or the environment ask for that, until the returned
// function is called.
func (a *app) follow(ctx context.Context, f observeFlags, scheme string, o following) (stop func(), err error) {
	to, err := a.expose(ctx, f.metrics, export.Observed(scheme, o.seen, o.missed))
	if err != nil {
		return nil, err
	}
	close, err := a.openReport(f.page, o)
	if err != nil {
		to.stop(ctx)
		return nil, err
	}
	return func() { close(); to.stop(ctx) }, nil
}

// pageFlag is the flag for the address of the page of an observation: --listen is that of the proxy.
const pageFlag = "page"

// openReport shows the report so far on a page, if there is an address, until the returned function is called.
func (a *app) openReport(addr string, o following) (close func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	e, err := live.Serve(addr, live.NewReport(o.write))
	if err != nil {
		return nil, cli.Usagef("--%s %s: cannot show a page there: %w", pageFlag, addr, cli.WithoutAddress(err))
	}
	fmt.Fprintf(a.err, "stampede: live page: %s\n", e.URL)
	if !e.Local {
		fmt.Fprintf(a.err, "stampede: warning: --%s %s: anyone who can reach it can watch the observation\n", pageFlag, addr)
	}
	return e.Close, nil
}

// write writes the report of what has been observed so far.
func (o following) write(w io.Writer) error {
	file := o.file
	file.Dropped, file.Observed = o.missed(), o.seen.SoFar()
	file.Gates, file.Verdict = gate.JudgePaths(o.thresholds, file)
	return render.WriteSoFar(w, file, live.RefreshScript)
}
