package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

func (a *app) listCommand() *cobra.Command {
	var long, systems, incidents bool
	cmd := &cobra.Command{
		Use:   "list [recipe…]",
		Short: "List recipes, their forms, the families, the backends and the scenarios",
		Long: `List recipes, their forms, the families, the backends and the scenarios that come
with stampede, or the forms of some recipes. --long adds the cost and the origin of
each form, and the properties of each backend. --systems lists which form Kafka,
Hadoop, Solr and others use, and what one change costs them with N members; --long
adds the sources that were read. The name of a system can be given as a form.
--incidents lists public incidents, each with a scenario that shows its symptom and the
form that avoids it; --long adds what happened and what was reported.`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, recipes []string) error {
			switch {
			case systems && incidents:
				return cli.Usagef("--systems --incidents: lists one of the two: leave out the other")
			case systems:
				return a.listSystems(recipes, long)
			case incidents:
				return a.listIncidents(recipes, long)
			}
			return a.list(recipes, long)
		},
	}
	cmd.Flags().BoolVarP(&long, "long", "l", false, "add the cost and the origin of each form")
	cmd.Flags().BoolVar(&systems, "systems", false, "list well-known systems and libraries with the forms that they use")
	cmd.Flags().BoolVar(&incidents, "incidents", false, "list public incidents whose symptoms scenarios show")
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
		if scenario.IsIncident(name) {
			continue
		}
		file, err := a.parseScenario(name)
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, file.About})
	}
	if err := writeFurther(a.out, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\nScenarios of %s: stampede list --incidents\n", cli.Counted(len(scenario.Incidents()), "public incident"))
	return err
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

// explainForms explains for each form what it does, what it costs and where it comes from.
func explainForms(out io.Writer, forms []catalog.Choice) error {
	fmt.Fprintln(out, letters)
	for _, f := range forms {
		fmt.Fprintf(out, "\n%v · %s\n", f.Form, f.Family)
		explain(out, "does", f.Summary)
		if model, ok := costmodel.ModelOf(f.Recipe, f.Name); ok {
			explain(out, "costs", costs(model))
		}
		if u, kept := costmodel.UpkeepOf(f.Recipe, f.Name); kept {
			explain(out, "beside", upkeep(u))
		}
		if _, err := explain(out, "from", origin(f.Form)); err != nil {
			return err
		}
	}
	return nil
}

// upkeep says what a run does for a round besides.
func upkeep(u costmodel.Upkeep) string {
	return fmt.Sprintf("for each round a run itself makes %s nodes, lists %s and deletes %s, which is not in the costs", u.Creates, u.Lists, u.Deletes)
}

// letters explains the variables in the costs.
const letters = `The costs are those of N clients that take one turn each, settled after each step.
W clients write and R read; M is the number of items or names, U of updates, L of
look-ups of each name, q of polls. The fan-out is the largest number of clients that
one write wakes.`

// explainBackends describes each backend and how it differs from the others.
func explainBackends(out io.Writer) error {
	for _, b := range backends.List() {
		fmt.Fprintf(out, "\n%s\n", strings.Join(b.URLs, ", "))
		explain(out, "is", b.Summary)
		explain(out, "note", b.About)
		for _, client := range b.Clients() {
			if _, err := explain(out, "client", client); err != nil {
				return err
			}
		}
	}
	return nil
}

// listWidth is the greatest width of an explanation: that of a narrow terminal.
const listWidth = 80

// explain writes a word and the text beside it, wrapped into lines.
func explain(out io.Writer, word, text string) (int, error) {
	var lines strings.Builder
	line := fmt.Sprintf("  %-7s", word)
	for w := range strings.SplitSeq(text, " ") {
		if utf8.RuneCountInString(line+w) >= listWidth {
			lines.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", 9)
		}
		line += w + " "
	}
	lines.WriteString(strings.TrimRight(line, " ") + "\n")
	return io.WriteString(out, strings.ReplaceAll(lines.String(), together, " "))
}

// together is a non-breaking space.
const together = "\u00a0"

// costs returns the headline terms of N clients that take one turn each, and how the notifications
// grow.
func costs(m costmodel.Model) string {
	settings := workloads.Settings{Queue: workloads.QueueSettings{Items: 1}}
	at := func(clients int) costmodel.Expected { return m.Settled(settings.Params(clients)) }
	least := at(2)
	most := least.Upper()
	term := func(least, most costmodel.Term) string {
		from, to := strings.ReplaceAll(least.Formula, " ", together), strings.ReplaceAll(most.Formula, " ", together)
		if from == to {
			return from
		}
		return from + " to " + to
	}
	return fmt.Sprintf("notifications %s%s; reads %s; writes %s; fan-out %s",
		term(least.Notifications, most.Notifications), grows(at), term(least.Reads, most.Reads),
		term(least.Writes, most.Writes), term(least.LargestFanout, most.LargestFanout))
}

// grows says how the upper bound of the notifications grows with the clients, if it does.
func grows(at func(clients int) costmodel.Expected) string {
	const many = 1 << 12 // large enough that only the largest term matters
	few, twice := at(many).Upper().Notifications.Value, at(2*many).Upper().Notifications.Value
	if few == 0 {
		return ""
	}
	switch math.Round(math.Log2(float64(twice) / float64(few))) {
	case 0:
		return ""
	case 1:
		return ", growing as N"
	case 2:
		return ", growing as N²"
	}
	return ", growing faster than N²"
}

// origin says where a form comes from.
func origin(f workloads.Form) string {
	standard := "ZooKeeper's recipes page"
	switch f.Family {
	case workloads.Naive:
		standard = "the naive counterpart of a form on ZooKeeper's recipes page"
	case workloads.Library:
		standard = library(f.Client)
	}
	return cmp.Or(f.Source, standard)
}

// library returns the name of a client library with the version that is built in.
func library(client string) string {
	module := map[string]string{
		"go-zookeeper": "github.com/go-zookeeper/zk",
		"clientv3":     "go.etcd.io/etcd/client/v3",
	}[client]
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, d := range info.Deps {
			if d.Path == module {
				return module + " " + d.Version
			}
		}
	}
	return module
}
