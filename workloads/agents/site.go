package agents

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A site says where the nodes of a run will be. The coordinator announces it to all agents before it makes the nodes,
// so that they can remove them at whatever moment it dies. Without a base there are no further runs.
type site struct {
	Number         int    // of the run, from 1
	Service        string // URL
	Secured        bool   // the service needs TLS or credentials
	Namespace      string // "" for the default
	Base           string // of the run's subtree
	BackgroundBase string // of the background's subtree; "" if there is none
}

// siteOf returns the site of a plan.
func siteOf(p workloads.Plan, number int, s *workloads.Site) (at site, err error) {
	at = site{Number: number, Namespace: p.Settings.Namespace, Base: s.Base(), BackgroundBase: s.BackgroundBase()}
	at.Secured = !backends.Security(p.Service).IsZero()
	at.Service, err = backends.Address(p.Service)
	return at, err
}

// document names a document of the run on the control plane.
func (s site) document(name string) string { return fmt.Sprintf("run-%d.%s", s.Number, name) }

// announced is the name of the document with the site.
const announced = "site"

// known names the document by which an agent says that it knows the site.
func (s site) known(agent string) string { return s.document("known-" + agent) }

// open opens the service.
func (s site) open(ctx context.Context, security drivers.Security) (drivers.Service, error) {
	target, err := backends.Parse(s.Service)
	if err == nil {
		target, err = target.With(backends.Options{Security: security})
	}
	if err != nil {
		return nil, err
	}
	return target.Open(ctx)
}

// in returns the namespace.
func (s site) in() namespace.Path {
	if s.Namespace == "" {
		return namespace.Default
	}
	return namespace.Path(s.Namespace)
}

// bases returns the subtrees.
func (s site) bases() []string {
	if s.BackgroundBase == "" {
		return []string{s.Base}
	}
	return []string{s.Base, s.BackgroundBase}
}

// announce tells the agents where the nodes of a run will be. It returns when all agents that are not lost know it.
func (f *Fleet) announce(ctx context.Context, s site) error {
	if err := f.plane.PutJSON(ctx, s.document(announced), s); err != nil {
		return err
	}
	for _, name := range f.names() {
		if _, err := f.awaitUnlessLost(ctx, s.known(name), name); err != nil {
			present, failed := f.plane.IsPresent(ctx, name)
			if failed != nil || present {
				return errors.Join(caused(ctx, err), failed)
			}
		}
	}
	return nil
}

// awaitUnlessLost waits for a document of an agent. It fails if the agent is lost before there is one.
func (f *Fleet) awaitUnlessLost(ctx context.Context, document, agent string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_ = f.plane.AwaitLoss(ctx, agent)
		cancel()
	}()
	return f.plane.Get(ctx, document)
}

// withdraw tells the agents that an announced run is not assigned.
func (f *Fleet) withdraw(s site) {
	ctx, cancel := context.WithTimeout(context.Background(), control.Lease)
	defer cancel()
	_ = f.plane.PutJSON(ctx, s.document(assigned), assignment{}) // else the agents end with the coordinator's session
}

// learn waits for the site of a run, and tells the coordinator that the agent knows it.
func (a *Agent) learn(ctx context.Context, number int) (s site, err error) {
	if err := a.Plane.GetJSON(ctx, site{Number: number}.document(announced), &s); err != nil || s.Base == "" {
		return s, err
	}
	// An agent without credentials of its own may get none, if it has no clients.
	if a.access, err = a.security(ctx, s); err != nil && !errors.Is(err, control.ErrUnprotected) {
		return s, err
	}
	return s, a.Plane.Put(ctx, s.known(a.Name), nil)
}
