package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/results/render"
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
	rows := [][]string{{"SCENARIO", "WHAT IT IS"}}
	for _, name := range scenario.Names() {
		file, err := a.parseScenario(name)
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, file.About})
	}
	return writeFurther(a.out, rows)
}

func listForms(out io.Writer, forms []catalog.Choice) error {
	rows := [][]string{{"RECIPE", "FORM", "FAMILY", "WHAT IT DOES"}}
	for _, f := range forms {
		rows = append(rows, []string{f.Recipe, f.Name, string(f.Family), f.Summary})
	}
	return render.WriteColumns(out, "", rows)
}

// writeFurther writes a table after an empty line.
func writeFurther(out io.Writer, rows [][]string) error {
	fmt.Fprintln(out)
	return render.WriteColumns(out, "", rows)
}

func listFamilies(out io.Writer) error {
	return writeFurther(out, [][]string{
		{"FAMILY", "WHAT IT IS"},
		{string(workloads.Recipe), "wakes only the clients that can proceed"},
		{string(workloads.Naive), "equally correct, but wakes many clients although only one can proceed: a herd"},
		{string(workloads.Library), "what a client library ships"},
	})
}

// listLoads lists the loads, which are not recipes.
func listLoads(out io.Writer, forms []workloads.Form) error {
	rows := [][]string{{"LOAD", "FORM", "WHAT IT IS"}}
	for _, f := range forms {
		if f.Family == workloads.Load {
			rows = append(rows, []string{f.Recipe, f.Name, f.Summary})
		}
	}
	return writeFurther(out, rows)
}

func listBackends(out io.Writer) error {
	rows := [][]string{{"BACKEND", "WHAT IT IS"}}
	for _, b := range backends.List() {
		summary := b.Summary
		for _, u := range b.URLs {
			rows = append(rows, []string{u, summary})
			summary = ""
		}
	}
	return writeFurther(out, rows)
}
