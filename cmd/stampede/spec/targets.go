package spec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/opening"
)

// A Targets holds the services that a command uses, and the namespace on them.
type Targets struct {
	Backend        []string
	Namespace      string
	ConnectTimeout time.Duration
	Security       Security
	divisible      bool // members of the ensembles that are started will be isolated
	ownDisks       bool // disks of the servers that are started will hang
}

// A Source opens a service.
type Source struct {
	Name  string
	Given bool // by its address: a running service, which others may use
	// servers is how many servers are started for it; durable says whether they keep their state on
	// disk.
	servers int
	durable bool
	disks   bool // their disks can be filled
	target  backends.Target
	Open    func(context.Context) (drivers.Service, error)
}

// Register adds the flags to a command, with these default backends.
func (t *Targets) Register(cmd *cobra.Command, backend []string) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&t.Backend, "backend", "b", backend, "`URL` of a service, repeatable; see stampede list")
	flags.StringVar(&t.Namespace, "namespace", namespace.Default, "`PATH` of the node below which all nodes are created")
	flags.DurationVar(&t.ConnectTimeout, "connect-timeout", opening.DefaultPatience, "longest time to wait for a service to answer, and for one more session to open")
	t.Security.Register(flags)
	cli.Complete(cmd, "backend", BackendWords)
}

// Resolve checks everything that can be checked before anything is started. The reads are the read
// mode of targets whose URL leaves it open.
func (t *Targets) Resolve(reads string) ([]Source, error) {
	if err := namespace.Check(t.Namespace); err != nil {
		return nil, cli.OfFlag("namespace", fmt.Errorf("--%w", err))
	}
	if err := cli.CheckDuration("connect-timeout", t.ConnectTimeout, time.Millisecond); err != nil {
		return nil, err
	}
	all := make([]backends.Target, len(t.Backend))
	for i, u := range t.Backend {
		var err error
		if all[i], err = backends.Parse(u); err != nil {
			return nil, cli.OfFlag("backend", err)
		}
	}
	given := slices.ContainsFunc(all, backends.Target.Given)
	security, err := t.Security.load(given)
	if err != nil {
		return nil, err
	}
	var sources []Source
	for _, target := range all {
		o := backends.Options{Consistency: reads, Divisible: t.divisible, OwnDisks: t.ownDisks}
		if target.Given() {
			o.Security = security
		}
		if target, err = target.WithOptions(o); err != nil {
			return nil, cli.OfFlag("backend", err)
		}
		s := Source{Name: target.String(), Given: target.Given(), Open: target.Open}
		s.servers, s.durable = target.Started()
		s.disks, s.target = target.FillsDisks(), target
		sources = append(sources, s)
	}
	return sources, nil
}

// planned describes the service as far as it is known before it is opened.
func (s Source) planned() drivers.Info {
	var i drivers.Info
	if !s.Given {
		i.Started = "own process"
		if !s.durable {
			i.Durability = "memory"
		}
	}
	return i
}

// clientsOf returns the names of the clients through which the forms run on the source.
func (s Source) clientsOf(forms []catalog.Choice) []string {
	all := []string{s.target.Client()}
	for _, f := range forms {
		if s.target.Offers(f.Client) {
			all = append(all, f.Client)
		}
	}
	return all
}

// Explained adds to a refusal what to do about it. Addresses that are not of one service are wrong usage.
func (t *Targets) Explained(s Source, err error) error {
	switch {
	case errors.Is(err, drivers.ErrNotOneService):
		return cli.Usage(err)
	case !errors.Is(err, drivers.ErrRefused):
		return err
	case t.Security.User == "":
		return fmt.Errorf("%s: %w: it may need --user and --password-file", s.Name, err)
	}
	return fmt.Errorf("%s: %w: wrong --user or password, or missing permission", s.Name, err)
}

// BackendWords returns the backends for shell completion, each with its summary.
func BackendWords() []string {
	var words []string
	for _, b := range backends.List() {
		words = append(words, b.Scheme+":\t"+b.Summary)
	}
	return words
}
