package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/systems"
)

// listSystems lists the systems that use a form of one of the recipes, or all systems.
func (a *app) listSystems(recipes []string, long bool) error {
	rows, err := a.systemsOf(recipes)
	if err != nil {
		return err
	}
	if long {
		return explainSystems(a.out, rows)
	}
	lines := [][]string{{"SYSTEM", "FORM", "RUNS ON", "NOTIFIED", "N = 64", "READS", "WRITES"}}
	for _, s := range rows {
		c := changeOf(s)
		lines = append(lines, []string{s.Name, s.Recipe + "/" + s.Form, runsOn(s), c.notifications(), c.costWith(64), c.reads(), c.writes()})
	}
	if err := render.WriteColumns(a.out, "", lines); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "\n%s\n", herdsOf(rows))
	return err
}

func (a *app) systemsOf(recipes []string) ([]systems.System, error) {
	forms, err := selectedForms(a.forms, recipes)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return slices.DeleteFunc(systems.All(), func(s systems.System) bool {
		return !slices.ContainsFunc(forms, func(f catalog.Choice) bool { return f.Recipe == s.Recipe })
	}), nil
}

// explainSystems says for each system what its source does, and where the source is.
func explainSystems(out io.Writer, rows []systems.System) error {
	for _, s := range rows {
		c := changeOf(s)
		fmt.Fprintf(out, "\n%s · %s · %s/%s\n", s.Name, s.Product, s.Recipe, s.Form)
		explain(out, "does", s.Does)
		if s.Differs != "" {
			explain(out, "but", s.Differs)
		}
		explain(out, "costs", fmt.Sprintf("one change with N members: notifications %s; reads %s; writes %s", c.notifications(), c.reads(), c.writes()))
		explain(out, "size", s.Members)
		explain(out, "holds", "for "+s.HoldsFor())
		explain(out, "source", s.Source.URL()+" ("+s.Source.At+")")
		if _, err := explain(out, "shows", commandOf(s)); err != nil {
			return err
		}
	}
	return nil
}

// commandOf returns the command that counts the cost of the system's form.
func commandOf(s systems.System) string {
	command := fmt.Sprintf("stampede count %s --form %s --clients 8,64", s.Recipe, s.Name)
	if backend := backendOf(s); backend != "" {
		command += " --backend '" + backend + "'"
	}
	return command
}

// backendOf returns the URL of a backend whose client has the system's form, "" for the
// server that count uses by default.
func backendOf(s systems.System) string {
	switch f := formOf(s); {
	case f.Client == "clientv3":
		return "etcd:"
	case f.Needs == workloads.PersistentWatches:
		return "native:?client=lean"
	}
	return ""
}

// formOf returns the form of the catalogue that the system uses.
func formOf(s systems.System) workloads.Form {
	forms := catalog.Forms()
	return forms[slices.IndexFunc(forms, func(f workloads.Form) bool { return f.Recipe == s.Recipe && f.Name == s.Form })]
}

func runsOn(s systems.System) string {
	switch {
	case s.Emulated:
		return "emulated"
	case backendOf(s) == "etcd:":
		return "etcd"
	}
	return "ZooKeeper"
}

// A changeCost is what one change costs a system.
type changeCost struct{ costmodel.Change }

func changeOf(s systems.System) changeCost {
	model, _ := costmodel.ModelOf(s.Recipe, s.Form)
	c, _ := model.ChangeOf(s.Recipe, changeSettings().Params)
	if s.Sends != nil {
		most := c
		if c.Most != nil {
			most = *c.Most
		}
		c.Notifications, most.Notifications, c.Most = s.Sends.Least, s.Sends.Most, &most
	}
	return changeCost{c}
}

// changeSettings are those of the runs that count the cost of a change.
func changeSettings() workloads.Settings { return countFlags{polls: 1, items: 4}.settings() }

func (c changeCost) notifications() string {
	return c.span(func(c costmodel.Change) string { return c.Notifications.String() })
}

func (c changeCost) reads() string {
	return c.span(func(c costmodel.Change) string { return c.Reads.String() })
}

func (c changeCost) writes() string {
	return c.span(func(c costmodel.Change) string { return c.Writes.String() })
}

// costWith returns the notifications of a change with that number of members.
func (c changeCost) costWith(members int) string {
	return c.span(func(c costmodel.Change) string { return fmt.Sprint(c.Notifications.Value(members)) })
}

// span returns a figure, or its bounds where the order of the clients decides.
func (c changeCost) span(figure func(costmodel.Change) string) string {
	least := figure(c.Change)
	if c.Most == nil {
		return least
	}
	if most := figure(*c.Most); most != least {
		return least + " to " + most
	}
	return least
}

// wakesAll reports whether a change wakes more members, the more there are.
func (c changeCost) wakesAll() bool { return c.Notifications.Value(64) > c.Notifications.Value(8) }

// herdsOf says in one sentence in how many systems a change is a herd.
func herdsOf(rows []systems.System) string {
	var one, all int
	for _, s := range rows {
		if oneProceeds(s) {
			one++
			if changeOf(s).wakesAll() {
				all++
			}
		}
	}
	return fmt.Sprintf("In %d of the %d systems in which one member can proceed, a change wakes all members.", all, one)
}

// oneProceeds reports whether only one member can proceed after a change.
func oneProceeds(s systems.System) bool {
	return slices.Contains([]string{"election", "lock", "queue"}, s.Recipe)
}
