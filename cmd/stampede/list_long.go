package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
)

// explainForms explains for each form what it does, what it costs and where it comes from.
func explainForms(out io.Writer, forms []catalog.Choice) error {
	fmt.Fprintln(out, letters)
	for _, f := range forms {
		fmt.Fprintf(out, "\n%v · %s\n", f.Form, f.Family)
		explain(out, "does", f.Summary)
		if model, ok := costmodel.ModelOf(f.Recipe, f.Name); ok {
			explain(out, "costs", costs(model))
		}
		if _, err := explain(out, "from", origin(f.Form)); err != nil {
			return err
		}
	}
	return nil
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
