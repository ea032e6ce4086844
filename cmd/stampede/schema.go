package main

import (
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/schema"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [run|sweep|count|comparison|observation|history]",
		Short: "Print the JSON Schema of what -o json writes",
		Long: `Schema prints the JSON Schema of runs, or of another kind of results, with a
description of every property, for programs that read results.`,
		Example: `  stampede schema > result.schema.json
  stampede schema count`,
		ValidArgs: schema.Kinds(),
		RunE:      func(_ *cobra.Command, args []string) error { return a.schema(args) },
	}
}

func (a *app) schema(args []string) error {
	if len(args) > 1 {
		return cli.Usagef("stampede schema takes one kind of results, got %q too", args[1])
	}
	kind := append(args, results.KindRun)[0]
	text, ok := schema.Text(kind)
	if !ok {
		return cli.Usage(suggest.Unknown("kind of results", kind, schema.Kinds()))
	}
	_, err := a.out.Write(text)
	return err
}
