package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

// exitCodesTopic returns a help topic, not a command: stampede help exit-codes shows it.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	for _, c := range cli.ExitCodes() {
		fmt.Fprintf(&b, "  %-13s  %s\n", c.Code, c.Meaning)
	}
	return &cobra.Command{Use: "exit-codes", Short: "The meaning of exit codes", Long: "Exit codes:\n\n" + b.String() + `
If several apply, the exit code is the first of 2, 1, 96, 99, 98, 97. After a
signal it is 129, 130 or 143, whatever was measured until then.`}
}
