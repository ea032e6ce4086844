package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A choice is what run and count both let a person choose.
type choice struct {
	form           []string
	backend        []string
	clients        []int
	readers        int
	connectTimeout time.Duration
}

// A source opens a service.
type source struct {
	name string
	open func(context.Context) (drivers.Service, error)
}

func (c *choice) register(a *app, cmd *cobra.Command, backend []string, clients []int) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&c.form, "form", "f", nil, "forms by name, by family (recipe, naive, library), or all (default: the herd-avoiding form and its naive twin)")
	flags.StringArrayVarP(&c.backend, "backend", "b", backend, "`URL` of a service, repeatable; stampede list shows the kinds")
	flags.IntSliceVarP(&c.clients, "clients", "c", clients, "how many clients take part, one level after the other")
	flags.IntVar(&c.readers, "readers", workloads.DefaultReaders, "how many readers of a shared lock there are to each writer")
	flags.DurationVar(&c.connectTimeout, "connect-timeout", 10*time.Second, "how long a service may take to answer")
	for flag, values := range map[string]func() []string{"form": a.formWords, "backend": backendWords} {
		complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // the flag was registered above
		}
	}
}

// resolve checks all that can be checked before anything is started.
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
	if err := checkDuration("connect-timeout", c.connectTimeout, time.Millisecond); err != nil {
		return nil, nil, err
	}
	var sources []source
	for _, u := range c.backend {
		t, err := backends.Parse(u)
		if err != nil {
			return nil, nil, usage(err)
		}
		sources = append(sources, source{t.String(), t.Open})
	}
	return chosen, sources, nil
}

// dial opens a source and makes sure that it answers, so that an address where
// nobody listens is told at once and by its name.
func (c *choice) dial(ctx context.Context, s source) (drivers.Service, error) {
	service, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.connectTimeout)
	defer cancel()
	conn, err := service.Dial(ctx, drivers.Options{})
	if err != nil {
		service.Close()
		return nil, err
	}
	if err := conn.Close(); err != nil {
		service.Close()
		return nil, err
	}
	return service, nil
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

func backendWords() []string {
	var words []string
	for _, b := range backends.List() {
		words = append(words, b.Scheme+":\t"+b.Summary)
	}
	return words
}

func (a *app) completeRecipes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append(catalog.Recipes(a.forms), catalog.All), cobra.ShellCompDirectiveNoFileComp
}
