package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

func (a *app) runsCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the saved runs, the newest first",
		Long: `Runs lists what stampede run has saved, the newest first: what each is called, when
it was begun, how large it is, what was run and what it showed. Later commands
take the id, the beginning of one that no other has, @ for the last run, @-1 for
the one before it, and so on.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.listRuns(archive.Folder(folder))
		},
	}
	registerFolder(cmd, &folder)
	return cmd
}

func (a *app) listRuns(folder archive.Folder) error {
	ids, err := folder.IDs()
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		fmt.Fprintf(a.err, "stampede: no run is saved in %s\n", folder)
	}
	for i, id := range ids {
		if err := a.listRun(folder.Path(id), id, i); err != nil {
			fmt.Fprintf(a.err, "stampede: %v\n", err)
		}
	}
	return nil
}

// listRun prints a line for a saved run; back is how many runs before the last one it is.
func (a *app) listRun(path, id string, back int) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := archive.Read(path)
	if err != nil {
		return err
	}
	name := archive.Last
	if back > 0 {
		name = fmt.Sprintf("%s-%d", archive.Last, back)
	}
	when := f.Started.Local().Format("2006-01-02 15:04")
	if f.Interrupted {
		when += " · interrupted"
	}
	if f.Verdict != "" {
		when += " · " + string(f.Verdict)
	}
	_, err = fmt.Fprintf(a.out, "%-4s %s · %s · %s\n     %s\n     %s\n", name, id, when, results.Bytes(info.Size()), f.About(), f.Headline())
	return err
}
