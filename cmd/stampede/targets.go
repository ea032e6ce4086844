package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
)

// A targets holds the services that a command uses, and the namespace on them.
type targets struct {
	backend        []string
	namespace      string
	connectTimeout time.Duration
	security       securityFlags
	divisible      bool // members of the ensembles that are started will be isolated
}

// A source opens a service.
type source struct {
	name  string
	given bool // by its address: a running service, which others may use
	// servers is how many servers are started for it; durable says whether they keep their state on
	// disk.
	servers int
	durable bool
	disks   bool   // their disks can be filled
	client  string // the library that sessions are opened through
	open    func(context.Context) (drivers.Service, error)
}

func (t *targets) register(cmd *cobra.Command, backend []string) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&t.backend, "backend", "b", backend, "`URL` of a service, repeatable; stampede list shows the kinds")
	flags.StringVar(&t.namespace, "namespace", workloads.DefaultNamespace, "`PATH` of the node below which everything is made")
	flags.DurationVar(&t.connectTimeout, "connect-timeout", 10*time.Second, "how long a service may take to answer")
	t.security.register(flags)
	complete(cmd, "backend", backendWords)
}

// complete suggests a flag's values. It skips a command without a name, which is never typed: cobra
// would keep its flags forever.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	if cmd.Use == "" {
		return
	}
	suggest := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, suggest); err != nil {
		panic(err) // the flag exists and has no completion yet
	}
}

// resolve checks everything that can be checked before anything is started. The reads are the read
// mode of targets whose URL leaves it open.
func (t *targets) resolve(reads string) ([]source, error) {
	if err := workloads.CheckNamespace(t.namespace); err != nil {
		return nil, usagef("--%v", err)
	}
	if err := checkDuration("connect-timeout", t.connectTimeout, time.Millisecond); err != nil {
		return nil, err
	}
	all := make([]backends.Target, len(t.backend))
	for i, u := range t.backend {
		var err error
		if all[i], err = backends.Parse(u); err != nil {
			return nil, usage(err)
		}
	}
	given := slices.ContainsFunc(all, backends.Target.Given)
	security, err := t.security.load(given)
	if err != nil {
		return nil, err
	}
	var sources []source
	for _, target := range all {
		o := backends.Options{Reads: reads, Divisible: t.divisible}
		if target.Given() {
			o.Security = security
		}
		if target, err = target.With(o); err != nil {
			return nil, usage(err)
		}
		s := source{name: target.String(), given: target.Given(), open: target.Open}
		s.servers, s.durable = target.Started()
		s.disks, s.client = target.FillsDisks(), target.Client()
		sources = append(sources, s)
	}
	return sources, nil
}

// dial opens a source and checks that it answers, so that an address without a listening server is
// reported immediately and by its name.
func (t *targets) dial(ctx context.Context, s source) (reached, error) {
	service, err := s.open(ctx)
	if err != nil {
		return reached{}, err
	}
	r, err := t.meet(ctx, service)
	if err != nil {
		service.Close()
		return reached{}, err
	}
	return r, nil
}

// meet opens a session, finds out what the service supports, and closes the session.
func (t *targets) meet(ctx context.Context, s drivers.Service) (reached, error) {
	ctx, cancel := context.WithTimeout(ctx, t.connectTimeout)
	defer cancel()
	conn, err := t.session(ctx, s)
	if err != nil {
		return reached{}, err
	}
	r := reachedBy(ctx, conn, s)
	return r, conn.Close()
}

func (t *targets) session(ctx context.Context, s drivers.Service) (drivers.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.connectTimeout)
	defer cancel()
	return s.Dial(ctx, drivers.Options{})
}

// explained adds to a refusal what to do about it.
func (t *targets) explained(s source, err error) error {
	switch {
	case !errors.Is(err, drivers.ErrRefused):
		return err
	case t.security.User == "":
		return fmt.Errorf("%s: %w: it may want --user and --password-file", s.name, err)
	}
	return fmt.Errorf("%s: %w: wrong --user or password, or they may not do that", s.name, err)
}

func backendWords() []string {
	var words []string
	for _, b := range backends.List() {
		words = append(words, b.Scheme+":\t"+b.Summary)
	}
	return words
}
