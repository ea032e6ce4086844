package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A choice holds the flags that run and count share.
type choice struct {
	targets
	form        []string
	clients     []int
	readers     int
	reads       string
	maxSessions int
	further     int // sessions besides those of the clients
	quiet       bool
}

func (c *choice) register(a *app, cmd *cobra.Command, backend []string, clients []int) {
	cmd.Flags().IntSliceVarP(&c.clients, "clients", "c", clients, "how many clients take part, one level after the other")
	c.registerOthers(a, cmd, backend)
}

// registerOthers registers all flags but --clients.
func (c *choice) registerOthers(a *app, cmd *cobra.Command, backend []string) {
	c.targets.register(cmd, backend)
	flags := cmd.Flags()
	flags.StringSliceVar(&c.form, "form", nil, "forms by name, by family (recipe, naive, library), or all (default: the herd-avoiding form and its naive twin)")
	flags.IntVar(&c.readers, "readers", workloads.DefaultReaders, "how many readers of a shared lock there are to each writer")
	flags.StringVar(&c.reads, "reads", "", "`MODE` of reads where the URL does not say: "+strings.Join(backends.ReadModes(), ", "))
	flags.IntVar(&c.maxSessions, "max-sessions", maxSessions, "how many clients a service may get that is given by its address")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "neither plan nor progress on standard error")
	complete(cmd, "form", a.formWords)
	complete(cmd, "reads", backends.ReadModes)
}

// resolve checks everything that can be checked before anything is started.
func (c *choice) resolve(forms []workloads.Form, recipes []string) ([]catalog.Choice, []source, error) {
	chosen, err := catalog.Select(forms, recipes, c.form)
	if err != nil {
		return nil, nil, usage(err)
	}
	if err := checkClients(c.clients); err != nil {
		return nil, nil, err
	}
	if c.readers < 1 {
		return nil, nil, usagef("--readers %d: must be at least 1", c.readers)
	}
	sources, err := c.targets.resolve(c.reads)
	if err != nil {
		return nil, nil, err
	}
	return chosen, sources, c.checkSessions(sources)
}

func (a *app) formWords() []string {
	words := []string{catalog.All}
	for _, f := range workloads.Families() {
		words = append(words, string(f))
	}
	for _, f := range a.forms {
		words = append(words, f.Name+"\t"+f.Summary)
	}
	return words
}

func (a *app) completeRecipes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append(catalog.Recipes(a.forms), catalog.All), cobra.ShellCompDirectiveNoFileComp
}
