package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/schema"
)

func (a *app) reportCommand() *cobra.Command {
	var folder, site string
	var output outputs.Flags
	var percentiles string
	cmd := &cobra.Command{
		Use:     "report [RESULT]",
		Aliases: []string{"show"},
		Short:   "Show a saved result again, in any format",
		Long: `Report writes a saved result, or the file of one, in any format that the command itself
supports. It runs nothing. RESULT is @ for the last result (the default), @-1 for the
one before, an id or the beginning of one, or a path.

With --history it writes a folder of pages about all saved results: each figure over
time with its changes, the newest comparison, and the report of each result.`,
		Example: `  stampede report
  stampede report @-1 -o json=before.json
  stampede report sweep.json -o csv=sweep.csv -o markdown
  stampede report --history .stampede/runs -o html=site`,
		Args:              oneResult,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if site != "" {
				return a.reportHistory(site, args, output)
			}
			return a.reportOn(archive.Folder(folder), append(args, archive.Last)[0], output, percentiles)
		},
	}
	spec.RegisterFolder(cmd, &folder)
	spec.RegisterPercentiles(cmd.Flags(), &percentiles)
	output.Register(cmd, "")
	cmd.Flags().StringVar(&site, "history", "", "`PATH` of a folder of saved results, or of a file .jsonl: write pages about all of them to -o html=FOLDER")
	return cmd
}

func (a *app) reportOn(folder archive.Folder, name string, output outputs.Flags, percentiles string) error {
	shown, err := spec.ParsePercentiles(percentiles)
	if err != nil {
		return err
	}
	path, err := folder.Find(name)
	if err != nil {
		return cli.Usage(err)
	}
	v, err := archive.ReadAny(path)
	if err != nil {
		return cli.Usage(err)
	}
	if shown != nil {
		switch file := v.(type) {
		case results.File:
			file.Percentiles = shown
			v = file
		case results.Sweep:
			file.Percentiles = shown
			v = file
		default:
			return cli.Flagf("percentiles", "%s: %s is a %s, and only runs and sweeps can show others", percentiles, name, results.KindOf(v))
		}
	}
	outs, err := output.Open(results.KindOf(v), a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	return outs.Write(v, path)
}

// reportHistory writes a folder of pages about all saved results.
func (a *app) reportHistory(path string, args []string, output outputs.Flags) error {
	if len(args) > 0 {
		return cli.Usagef("--history reports on all results, got %q too", args[0])
	}
	folder, ok := "", false
	if len(output.Formats) == 1 {
		folder, ok = strings.CutPrefix(output.Formats[0], "html=")
	}
	if !ok || folder == "" {
		return cli.Usagef("--history writes several pages: give them a folder, -o html=FOLDER, and no other output")
	}
	all, _, err := a.savedResults(path)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return cli.Flagf("history", "no results in %s", path)
	}
	accepted, err := accepted(path)
	if err != nil {
		return err
	}
	if err := render.WriteSite(folder, all, accepted); err != nil {
		return cli.Usagef("-o html=%s: cannot write there: %v", folder, cli.WithoutPath(err))
	}
	fmt.Fprintf(a.err, "stampede: %d results in %s\n", len(all), filepath.Join(folder, "index.html"))
	return nil
}

func oneResult(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("stampede %s takes one result, got %q too", cmd.Name(), args[1])
	}
	return nil
}

// completeRuns suggests the ids of the saved runs.
func completeRuns(folder *string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ids, err := archive.Folder(*folder).IDs()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return append([]string{archive.Last}, ids...), cobra.ShellCompDirectiveDefault
	}
}

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

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [run|sweep|count|comparison|observation|history|scenario]",
		Short: "Print the JSON Schema of what -o json writes, and of scenario files",
		Long: `Schema prints the JSON Schema of runs, or of another kind of results, with a
description of every property, for programs that read results; and that of scenario
files, for editors, which then complete and explain the settings.`,
		Example: `  stampede schema > result.schema.json
  stampede schema count
  stampede schema scenario > scenario.schema.json`,
		ValidArgs: append(schema.Kinds(), kindScenario),
		RunE:      func(_ *cobra.Command, args []string) error { return a.schema(args) },
	}
}

func (a *app) schema(args []string) error {
	if len(args) > 1 {
		return cli.Usagef("stampede schema takes one kind of results, got %q too", args[1])
	}
	kind := append(args, results.KindRun)[0]
	text, ok := schema.Text(kind)
	if kind == kindScenario {
		text, ok = a.scenarioSchema(), true
	}
	if !ok {
		return cli.Usage(suggest.Unknown("kind of results", kind, append(schema.Kinds(), kindScenario)))
	}
	_, err := a.out.Write(text)
	return err
}
