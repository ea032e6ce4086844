package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(a.out, versionLine())
			return err
		},
	}
}

// versionLine returns what stampede version, --version and -v print.
func versionLine() string {
	t := tool()
	return fmt.Sprintf("stampede %s, commit %s, %s", t.Version, t.Commit, t.Go)
}

// tool returns the version of this binary.
func tool() results.Tool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return stamped(info)
}

// stamped returns what the Go toolchain has recorded in a binary: the version of its module, and
// the commit, from a checkout or from a version that names it.
func stamped(info *debug.BuildInfo) results.Tool {
	t := results.Tool{Version: "devel", Commit: "unknown", Go: runtime.Version()}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		t.Version = v
		if rev, err := module.PseudoVersionRev(v); err == nil {
			t.Commit = rev
		}
	}
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			t.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	t.Commit += changed
	return t
}
