package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List recipes, their forms, the families and the backends",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return a.list() },
	}
}

func (a *app) list() error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RECIPE\tFORM\tFAMILY\tWHAT IT DOES")
	for _, recipe := range catalog.Recipes(a.forms) {
		for _, f := range a.forms {
			if f.Recipe == recipe {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Recipe, f.Name, f.Family, f.Summary)
			}
		}
	}
	fmt.Fprintln(w, "\nFAMILY\tWHAT IT IS")
	fmt.Fprintln(w, "recipe\twakes only who can go on")
	fmt.Fprintln(w, "naive\tas correct, but wakes many for one to go on: a herd")
	fmt.Fprintln(w, "library\twhat a client library ships")
	fmt.Fprintln(w, "\nBACKEND\tWHAT IT IS")
	for _, b := range backends.List() {
		for i, u := range b.URLs {
			summary := ""
			if i == 0 {
				summary = b.Summary
			}
			fmt.Fprintf(w, "%s\t%s\n", u, summary)
		}
	}
	return w.Flush()
}
