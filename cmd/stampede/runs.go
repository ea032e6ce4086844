package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results/units"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/document"
)

func (a *app) runsCommand() *cobra.Command {
	var folder string
	var only runFilter
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the saved results, the newest first",
		Long: `Runs lists the results that stampede run, sweep, count, ab and observe saved, the newest
first, each with its id, start, size, settings and finding. Other commands take an id,
the unambiguous beginning of one, @ for the last result, @-1 for the one before it, and
so on.`,
		Example: `  stampede runs
  stampede runs --kind observation --since 7d
  stampede runs --tag branch=main`,
		Args: cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.listRuns(archive.Folder(folder), only)
		},
	}
	spec.RegisterFolder(cmd, &folder)
	only.register(cmd)
	cmd.AddCommand(a.runsExportCommand(), a.runsPruneCommand())
	return cmd
}

func (a *app) listRuns(folder archive.Folder, only runFilter) error {
	admits, err := only.admits()
	if err != nil {
		return err
	}
	ids, err := folder.IDs()
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		fmt.Fprintf(a.err, "stampede: no result is saved in %s\n", folder)
	}
	for i, id := range ids {
		if err := a.listRun(folder.Path(id), id, i, admits); err != nil {
			fmt.Fprintf(a.err, "stampede: %v\n", err)
		}
	}
	return nil
}

// listRun prints a line for a saved result that is admitted; back is how many results before the last one it is.
func (a *app) listRun(path, id string, back int, admits func(results.Result) bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	v, err := archive.ReadAny(path)
	if err != nil {
		return err
	}
	if !admits(v) {
		return nil
	}
	name := archive.Last
	if back > 0 {
		name = fmt.Sprintf("%s-%d", archive.Last, back)
	}
	d := document.New(v)
	when := d.Started.Local().Format("2006-01-02 15:04")
	if d.Interrupted != "" {
		when += " · interrupted"
	}
	if d.Verdict != "" {
		when += " · " + string(d.Verdict)
	}
	for _, word := range results.HeadOf(v).Marks.Words() {
		when += " · " + word
	}
	_, err = fmt.Fprintf(a.out, "%-4s %s · %s · %s\n     %s\n     %s\n", name, id, when, units.Bytes(info.Size()), contentsOf(v, d), d.Headline())
	return err
}

// contentsOf says in a few words what a saved result has.
func contentsOf(v results.Result, d document.Document) string {
	switch v := v.(type) {
	case results.File:
		return document.Contents(v)
	case results.Sweep:
		return "sweep · " + document.Contents(v.File)
	case results.Comparison:
		return "comparison · " + v.Base.Label + " → " + v.New.Label
	}
	return strings.TrimPrefix(d.Heading, "stampede ")
}

func (a *app) runsExportCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Write all saved results to one file, a line of JSON for each, the oldest first",
		Long: `Export writes all saved results to one file, a line of JSON for each, the oldest first.
stampede history reads such a file. It overwrites FILE.`,
		Example: `  stampede runs export history.jsonl && stampede history --save history.jsonl`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.exportRuns(archive.Folder(folder), args[0])
		},
	}
	spec.RegisterFolder(cmd, &folder)
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("stampede runs export takes one argument, FILE, got %d", len(args))
	}
	return nil
}

func (a *app) exportRuns(folder archive.Folder, path string) error {
	all, err := a.inFolder(folder)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, v := range slices.Backward(all) { // the folder has the newest first
		if err := archive.WriteLine(&text, v.Result); err != nil {
			return err
		}
	}
	if err := archive.Replace(path, text.Bytes()); err != nil {
		return cli.Usagef("%s: cannot be written: %v", path, cli.WithoutPath(err))
	}
	fmt.Fprintf(a.out, "%s has %s, %s\n", path, cli.Counted(len(all), "result"), units.Bytes(int64(text.Len())))
	return nil
}
