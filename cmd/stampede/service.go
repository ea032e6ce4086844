package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A reachedService is a service that has answered; one of its sessions has shown what it supports.
type reachedService struct {
	drivers.Service
	unwatched error // why it has no persistent watches; nil if it has them
	cuts      bool  // connections can be cut
}

// reachedBy arms a persistent watch, which ends with the session, since not every server supports
// what the client library can request. It ignores other errors: a run would meet them as well.
func reachedBy(ctx context.Context, c drivers.Conn, s drivers.Service) reachedService {
	info, cuts := s.Info(), workloads.Cuts.MetBy(c)
	if !workloads.PersistentWatches.MetBy(c) {
		return reachedService{s, fmt.Errorf("%s is used through %s, which has none: %s", info.Name, info.Client, whoHasPersistent()), cuts}
	}
	_, err := c.(drivers.PersistentWatcher).WatchNode(ctx, "/", func(drivers.Event) {})
	if errors.Is(err, drivers.ErrUnsupported) {
		return reachedService{s, fmt.Errorf("%s has none: %w", info.Name, err), cuts}
	}
	return reachedService{s, nil, cuts}
}

// served returns the forms that the service and its client library can run with the given settings.
// A form that was chosen by name and cannot be run is an error; other forms are skipped, each with
// a line that says so.
func (r reachedService) served(forms []catalog.Choice) (can []workloads.Form, skipped []string, err error) {
	for _, f := range forms {
		why := r.lacks(f.Form)
		switch {
		case why == "":
			can = append(can, f.Form)
		case f.ByName:
			return nil, nil, cli.Usagef("%s", why)
		default:
			skipped = append(skipped, why)
		}
	}
	return can, skipped, nil
}

// lacks says why the service cannot run a form. It returns "" if it can.
func (r reachedService) lacks(f workloads.Form) string {
	info := r.Info()
	switch {
	case f.ServiceFor(r.Service) == nil:
		return fmt.Sprintf("%v needs the client library %s, and %s is used through %s", f, f.Client, info.Name, info.Client)
	case f.Client != "" && info.Reads == ensemble.ReadSync:
		return fmt.Sprintf("%v reads as %s does, without sync", f, f.Client)
	case f.Needs == workloads.PersistentWatches && r.unwatched != nil:
		return fmt.Sprintf("%v needs %s, and %v", f, f.Needs, r.unwatched)
	case f.Needs == workloads.Cuts && !r.cuts:
		return fmt.Sprintf("%v needs %s, which %s does not offer through %s", f, f.Needs, info.Name, info.Client)
	}
	return ""
}

// whoHasPersistent lists the backends that have persistent watches.
func whoHasPersistent() string {
	var have []string
	for _, b := range backends.List() {
		if url := b.Persistent(); url != "" {
			have = append(have, url)
		}
	}
	return "try --backend " + strings.Join(have, " or ")
}

// dial opens a source and checks that it answers, so that an address without a listening server is
// reported immediately and by its name.
func dial(ctx context.Context, s spec.Source, patience time.Duration) (reachedService, error) {
	service, err := s.Open(ctx)
	if err != nil {
		return reachedService{}, err
	}
	r, err := meet(ctx, service, patience)
	if err != nil {
		service.Close()
		return reachedService{}, err
	}
	return r, nil
}

// meet opens a session, finds out what the service supports, and closes the session.
func meet(ctx context.Context, s drivers.Service, patience time.Duration) (reachedService, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := session(ctx, s, patience, drivers.Options{})
	if err != nil {
		return reachedService{}, err
	}
	r := reachedBy(ctx, conn, s)
	return r, conn.Close()
}

func session(ctx context.Context, s drivers.Service, patience time.Duration, o drivers.Options) (drivers.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.Dial(ctx, o)
}
