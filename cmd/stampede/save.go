package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

// savedRuns is the default folder of saved results.
const savedRuns = ".stampede/runs"

// A saving says whether and where results are saved for later commands.
type saving struct {
	folder string
	off    bool
}

func (s *saving) register(cmd *cobra.Command) {
	registerFolder(cmd, &s.folder)
	cmd.Flags().BoolVar(&s.off, "no-save", false, "save nothing, whatever --save says")
}

func registerFolder(cmd *cobra.Command, folder *string) {
	cmd.Flags().StringVar(folder, "save", savedRuns, "`FOLDER` of saved runs, where later commands find them")
}

// check checks, before anything runs, that a result can be saved.
func (s *saving) check() error {
	if s.off {
		return nil
	}
	if err := archive.Folder(s.folder).Writable(); err != nil {
		return usagef("--save %s: cannot write there: %w: name another folder, or say --no-save", s.folder, bare(err))
	}
	return nil
}

// keep saves the result unless it has no runs, and returns the name by which later commands find
// it, or "" if it is not saved. The caller still shows a result that could not be saved.
func (s *saving) keep(f results.File) (name string, err error) {
	if s.off || len(f.Runs) == 0 {
		return "", nil
	}
	if err := archive.Folder(s.folder).Save(f); err != nil {
		return "", fmt.Errorf("not saved: %w: name another folder with --save, or say --no-save", err)
	}
	return archive.Last + " " + f.ID, nil
}
