package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := tool()
			_, err := fmt.Fprintf(a.out, "stampede %s, commit %s, %s\n", t.Version, t.Commit, t.Go)
			return err
		},
	}
}

// tool says which stampede this is, as the Go toolchain stamped it.
func tool() results.Tool {
	t := results.Tool{Version: "devel", Commit: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		t.Version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			t.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			t.Commit += " with changes"
		}
	}
	return t
}
