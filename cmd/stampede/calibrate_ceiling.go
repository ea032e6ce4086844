package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server/canned"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/workloads"
)

// A ceiling is measured with enough sessions and requests in flight to keep every processor of the
// load generator busy.
const (
	ceilingSessions = 64
	ceilingInFlight = 16
	ceilingWarmup   = time.Second
	ceilingDuration = 3 * time.Second
)

// usedByCeiling lists the flags of calibrate that --ceiling uses.
var usedByCeiling = []string{"ceiling", "color", "noise", "output", "quiet", "seed"}

// checkCeiling rejects flags and arguments that have no effect on calibrate --ceiling.
func checkCeiling(flags *pflag.FlagSet, args []string) (err error) {
	if len(args) > 0 {
		return cli.Usagef("stampede calibrate --ceiling takes no argument, got %q: its server is always the one that does no work", args[0])
	}
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(usedByCeiling, f.Name) {
			err = cli.Usagef("--%s has no effect on stampede calibrate --ceiling: it takes --%s", f.Name, strings.Join(usedByCeiling[1:], ", --"))
		}
	})
	return err
}

// calibrateCeiling measures how many requests a second each client library can make to a server
// that does no work, and saves the numbers for later runs.
func (a *app) calibrateCeiling(cmd *cobra.Command, f pairFlags) error {
	f.DrawSeed()
	given := []string{"--ceiling"}
	if flag := cmd.Flags().Lookup("noise"); flag.Changed {
		given = append(given, cli.FlagWords(flag)...)
	}
	outs, err := f.Output.Open(results.KindCalibration, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	file := results.Calibration{Head: results.NewHead(results.KindCalibration, tool(), spec.PairCommand("calibrate", nil, given, f.Seed), nil, f.Seed),
		Settings: []results.Noise{}, Warnings: []results.Warning{}}
	var disturbed []results.Warning
	if file.Ceilings, disturbed, err = a.ceilings(cmd.Context(), f); err != nil {
		return err
	}
	file.Took = time.Since(file.Started)
	if len(disturbed) > 0 {
		file.Warnings = disturbed
		return errors.Join(outs.Write(file, ""), cli.Finding(cli.ExitInvalid, "other programs used the machine"))
	}
	if err := noise.File(f.noise).Keep(file); err != nil {
		return err
	}
	return outs.Write(file, f.noise)
}

// ceilings measures all client libraries that speak ZooKeeper's protocol. It also returns warnings
// about disturbances, which make the ceilings too low.
func (a *app) ceilings(ctx context.Context, f pairFlags) (all []results.Ceiling, disturbed []results.Warning, err error) {
	server, err := reexec.Start(ctx, canned.Role)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	for _, client := range []string{lean.Client, zookeeper.Client} {
		if !f.Quiet {
			fmt.Fprintf(a.err, "stampede: %d sessions of the client %s, %d requests in flight each, for %v\n", ceilingSessions, client, ceilingInFlight, ceilingDuration)
		}
		c, r, err := a.ceiling(ctx, server.Addr(), client, f.Seed)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, c)
		for _, d := range r.Doubts {
			if d.Code == metrics.Others || d.Code == metrics.Stolen {
				disturbed = append(disturbed, results.WarningOf(d).OfClient(client))
			}
		}
	}
	return all, disturbed, nil
}

// ceiling measures one client library and also returns the record of the measurement.
func (a *app) ceiling(ctx context.Context, address, client string, seed uint64) (c results.Ceiling, r *metrics.Record, err error) {
	target, err := backends.Parse("native://" + address + "?client=" + client)
	if err != nil {
		return c, nil, err
	}
	service, err := target.Open(ctx)
	if err != nil {
		return c, nil, err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	i := slices.IndexFunc(a.forms, func(form workloads.Form) bool { return form.Recipe == "mix" })
	r, err = workloads.Run(ctx, workloads.Plan{
		Service: service, Form: a.forms[i], Clients: ceilingSessions, Groups: 1,
		Settings: workloads.Settings{Mix: workloads.MixSettings{Reads: 1, InFlight: ceilingInFlight}},
		Warmup:   ceilingWarmup, Duration: ceilingDuration, Seed: seed,
	})
	if err != nil {
		return c, nil, err
	}
	c = results.Ceiling{Client: client, Sessions: ceilingSessions, InFlight: ceilingInFlight,
		RequestsPerS: float64(r.Counts.RPCs) / r.Duration.Seconds(), CPUCores: r.Generator.CPUCores}
	if m := r.Generator.Machine; m != nil {
		c.ServerCores = m.Started
	}
	return c, r, nil
}
