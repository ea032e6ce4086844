package spec

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

// SavedRuns is the default folder of saved results.
const SavedRuns = ".stampede/runs"

// A Saving says whether and where results are saved for later commands, and with which marks.
type Saving struct {
	folder  string
	off     bool
	subject string
	tags    []string
}

// Register adds the flags.
func (s *Saving) Register(cmd *cobra.Command) {
	RegisterFolder(cmd, &s.folder)
	cmd.Flags().BoolVar(&s.off, "no-save", false, "do not save the result")
	cmd.Flags().StringVar(&s.subject, "subject", "", "`NAME` in the result of what is measured, such as a commit")
	cmd.Flags().StringArrayVar(&s.tags, "tag", nil, "`NAME=VALUE` in the result, such as branch=main; repeatable")
	cli.Complete(cmd, "subject", func() []string { return nil })
	cli.Complete(cmd, "tag", func() []string { return nil })
}

// Marks returns the marks of the results. Check has found them valid.
func (s *Saving) Marks() results.Marks {
	tags, _ := results.ParseTags(s.tags)
	return results.Marks{Subject: s.subject, Tags: tags}
}

// RegisterFolder adds the flag for the folder of saved runs.
func RegisterFolder(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVar(folder, "save", SavedRuns, "`FOLDER` of saved runs")
}

// Check checks, before anything runs, the tags, and that a result can be saved.
func (s *Saving) Check() error {
	if _, err := results.ParseTags(s.tags); err != nil {
		return cli.Flagf("tag", "%v", err)
	}
	if s.off {
		return nil
	}
	if err := archive.Folder(s.folder).Writable(); err != nil {
		return cli.Flagf("save", "%s: cannot write there: %w: name another folder, or use --no-save", s.folder, cli.WithoutPath(err))
	}
	return nil
}

// Keep saves the result unless it has no runs, and returns the name by which later commands find
// it, or "" if it is not saved. The caller still shows a result that could not be saved.
func (s *Saving) Keep(f results.File) (name string, err error) {
	if len(f.Runs) == 0 {
		return "", nil
	}
	return s.keep(f.ID, f)
}

// KeepObservation saves the observation as Keep does a run.
func (s *Saving) KeepObservation(o results.Observation) (name string, err error) {
	return s.keep(o.ID, o)
}

func (s *Saving) keep(id string, r results.Result) (name string, err error) {
	if s.off {
		return "", nil
	}
	if err := archive.Folder(s.folder).Save(id, r); err != nil {
		return "", fmt.Errorf("not saved: %w: name another folder with --save, or use --no-save", err)
	}
	return archive.Last + " " + id, nil
}
