package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/scenario"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

func (a *app) listCommand() *cobra.Command {
	var long bool
	cmd := &cobra.Command{
		Use:   "list [recipe…]",
		Short: "List recipes, their forms, the families, the backends and the scenarios",
		Long: `List recipes, their forms, the families, the backends and the scenarios that come
with stampede, or the forms of some recipes. With --long it says of each form what
it costs, every client taking one turn, and where it comes from, and of each
backend what sets it apart.`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, recipes []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.list(recipes, long)
		},
	}
	cmd.Flags().BoolVarP(&long, "long", "l", false, "what each form costs and where it comes from, too")
	return cmd
}

func (a *app) list(recipes []string, long bool) error {
	asked := recipes
	if len(asked) == 0 {
		asked = []string{catalog.All}
	}
	forms, err := catalog.Select(a.forms, asked, []string{catalog.All})
	if err != nil {
		return usage(err)
	}
	write := listForms
	if long {
		write = explainForms
	}
	if err := write(a.out, forms); err != nil || len(recipes) > 0 {
		return err
	}
	if err := listFamilies(a.out); err != nil {
		return err
	}
	if err := listLoads(a.out, a.forms); err != nil {
		return err
	}
	tell := listBackends
	if long {
		tell = explainBackends
	}
	if err := tell(a.out); err != nil {
		return err
	}
	return a.listScenarios()
}

func (a *app) listScenarios() error {
	w := table(a.out)
	fmt.Fprintln(w, "\nSCENARIO\tWHAT IT IS")
	for _, name := range scenario.Names() {
		file, err := a.parseScenario(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\n", name, file.About)
	}
	return w.Flush()
}

func listForms(out io.Writer, forms []catalog.Choice) error {
	w := table(out)
	fmt.Fprintln(w, "RECIPE\tFORM\tFAMILY\tWHAT IT DOES")
	for _, f := range forms {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Recipe, f.Name, f.Family, f.Summary)
	}
	return w.Flush()
}

func listFamilies(out io.Writer) error {
	w := table(out)
	fmt.Fprintln(w, "\nFAMILY\tWHAT IT IS")
	fmt.Fprintf(w, "%s\twakes only who can go on\n", workloads.Recipe)
	fmt.Fprintf(w, "%s\tas correct, but wakes many for one to go on: a herd\n", workloads.Naive)
	fmt.Fprintf(w, "%s\twhat a client library ships\n", workloads.Library)
	return w.Flush()
}

// listLoads lists the loads, which are not recipes.
func listLoads(out io.Writer, forms []workloads.Form) error {
	w := table(out)
	fmt.Fprintln(w, "\nLOAD\tFORM\tWHAT IT IS")
	for _, f := range forms {
		if f.Family == workloads.Load {
			fmt.Fprintf(w, "%s\t%s\t%s\n", f.Recipe, f.Name, f.Summary)
		}
	}
	return w.Flush()
}

func listBackends(out io.Writer) error {
	w := table(out)
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

func table(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) }
