package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/man"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
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

// manCommand writes the manual pages. It is hidden: make man types it, for packages that install them.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the help of all commands as manual pages of section 1",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("stampede man takes one argument, the FOLDER to write to, got %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			root, m := manual(a.forms)
			if err := m.Write(args[0], root); err != nil {
				return cli.Usagef("%s: cannot write there: %v", args[0], cli.WithoutPath(err))
			}
			return nil
		},
	}
}

// manual returns the command that manual pages describe, and what these have in common.
func manual(forms []workloads.Form) (*cobra.Command, man.Manual) {
	var help bytes.Buffer
	root := (&app{forms: forms, out: &help, err: io.Discard}).root()
	return root, man.Manual{Version: "stampede " + tool().Version, Groups: flagGroups(), Topic: func(topic *cobra.Command) string {
		help.Reset()
		cli.Must(topic.Help())
		return help.String()
	}}
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
