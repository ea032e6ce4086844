package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

// savedRuns is where results are saved unless somebody says otherwise.
const savedRuns = ".stampede/runs"

// A saving is where results are kept for later commands, and whether.
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

// check makes sure, before anything runs, that a result can be saved.
func (s *saving) check() error {
	if s.off {
		return nil
	}
	if err := archive.Folder(s.folder).Writable(); err != nil {
		return usagef("--save %s: cannot write there: %w: name another folder, or say --no-save", s.folder, bare(err))
	}
	return nil
}

// keep saves the result unless there is nothing in it, and says how it is called
// from now on: "" if it is not kept. That it could not be saved is no reason to
// lose it.
func (s *saving) keep(f results.File) (name string, err error) {
	if s.off || len(f.Runs) == 0 {
		return "", nil
	}
	if err := archive.Folder(s.folder).Save(f); err != nil {
		return "", fmt.Errorf("not saved: %w: name another folder with --save, or say --no-save", err)
	}
	return archive.Last + " " + f.ID, nil
}
