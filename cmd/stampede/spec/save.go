package spec

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/schema"
)

// SavedRuns is the default folder of saved results.
const SavedRuns = ".stampede/runs"

// A Saving says whether and where results are saved for later commands, and with which marks. The zero
// value saves nothing.
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

// RegisterFolder adds the flag for the folder of saved results.
func RegisterFolder(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVar(folder, "save", SavedRuns, "`FOLDER` of saved results")
}

// Check checks, before anything runs, the tags, and that a result can be saved.
func (s *Saving) Check() error {
	if _, err := results.ParseTags(s.tags); err != nil {
		return cli.Flagf("tag", "%v", err)
	}
	if s.off {
		return nil
	}
	if s.folder == "" {
		return cli.Flagf("save", `"": name a folder, or use --no-save`)
	}
	if err := archive.Folder(s.folder).Writable(); err != nil {
		return cli.Flagf("save", "%s: cannot write there: %w: name another folder, or use --no-save", s.folder, cli.WithoutPath(err))
	}
	return nil
}

// Keep saves the result, and returns the name by which later commands find it, or "" if results
// are not to be saved or nothing was measured. The caller still shows a result that could not be
// saved.
func (s *Saving) Keep(r results.Result) (name string, err error) {
	if s.off || s.folder == "" || empty(r) {
		return "", nil
	}
	id := results.HeadOf(r).ID
	if err := archive.Folder(s.folder).Save(id, r); errors.Is(err, schema.ErrInvalid) {
		return "", fmt.Errorf("not saved: %w: this is a defect of stampede, please report it", err)
	} else if err != nil {
		return "", fmt.Errorf("not saved: %w: name another folder with --save, or use --no-save", err)
	}
	return archive.Last + " " + id, nil
}

// empty reports whether a command ended before it measured anything.
func empty(r results.Result) bool {
	switch r := r.(type) {
	case results.File:
		return len(r.Runs) == 0
	case results.Comparison:
		return len(r.Runs()) == 0
	case results.CountReport:
		return len(r.Settled) == 0
	}
	return false
}
