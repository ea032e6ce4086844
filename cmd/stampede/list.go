package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

func (a *app) listCommand() *cobra.Command {
	var long, systems bool
	cmd := &cobra.Command{
		Use:   "list [recipe…]",
		Short: "List recipes, their forms, the families, the backends and the scenarios",
		Long: `List recipes, their forms, the families, the backends and the scenarios that come
with stampede, or the forms of some recipes. --long adds the cost and the origin of
each form, and the properties of each backend. --systems lists which form Kafka,
Hadoop, Solr and others use, and what one change costs them with N members; --long
adds the sources that were read. The name of a system can be given as a form.`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, recipes []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			if systems {
				return a.listSystems(recipes, long)
			}
			return a.list(recipes, long)
		},
	}
	cmd.Flags().BoolVarP(&long, "long", "l", false, "add the cost and the origin of each form")
	cmd.Flags().BoolVar(&systems, "systems", false, "list well-known systems and libraries with the forms that they use")
	return cmd
}

func (a *app) list(recipes []string, long bool) error {
	forms, err := selectedForms(a.forms, recipes)
	if err != nil {
		return cli.Usage(err)
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
	describe := listBackends
	if long {
		describe = explainBackends
	}
	if err := describe(a.out); err != nil {
		return err
	}
	return a.listScenarios()
}

// selectedForms returns all forms of the recipes, or of all recipes.
func selectedForms(forms []workloads.Form, recipes []string) ([]catalog.Choice, error) {
	if len(recipes) == 0 {
		recipes = []string{catalog.All}
	}
	return catalog.Select(forms, recipes, []string{catalog.All})
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
	fmt.Fprintf(w, "%s\twakes only the clients that can proceed\n", workloads.Recipe)
	fmt.Fprintf(w, "%s\tequally correct, but wakes many clients although only one can proceed: a herd\n", workloads.Naive)
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
