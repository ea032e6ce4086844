package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A site says where the nodes of a run will be. The coordinator announces it to all agents before it makes
// the nodes, so that they can remove them at whatever moment it dies. Without a base there are no further
// runs.
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
		target, err = target.WithOptions(backends.Options{Security: security})
	}
	if err != nil {
		return nil, err
	}
	return target.Open(ctx)
}

// namespace returns the namespace.
func (s site) namespace() namespace.Path {
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

// announce tells the agents where the nodes of a run will be. It returns when all agents that are not lost
// know it.
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

// credentials are the TLS settings and the credentials of the service under test, as the coordinator gives
// them to agents. Unlike a [drivers.Security], it is encoded with its secrets.
type credentials struct {
	CA, Cert, Key, ServerName, User, Password string
	CAContent, CertContent, KeyContent        string
}

func credentialsOf(s drivers.Security) (credentials, error) {
	s, err := s.WithContents()
	return credentials{
		CA: s.CA, Cert: s.Cert, Key: s.Key, ServerName: s.ServerName, User: s.User, Password: string(s.Password),
		CAContent: string(s.Contents.CA), CertContent: string(s.Contents.Cert), KeyContent: string(s.Contents.Key),
	}, err
}

func (c credentials) security() drivers.Security {
	return drivers.Security{
		CA: c.CA, Cert: c.Cert, Key: c.Key, ServerName: c.ServerName, User: c.User, Password: drivers.Secret(c.Password),
		Contents: drivers.Contents{CA: drivers.Secret(c.CAContent), Cert: drivers.Secret(c.CertContent), Key: drivers.Secret(c.KeyContent)},
	}
}

// secrets is the name of the document with the credentials of a run.
const secrets = "secrets"

// errCredentials is the error of a run whose service needs what an agent does not have.
var errCredentials = errors.New("the service needs TLS or credentials, and --control keeps no secrets: " +
	"start the agent with its own --tls-ca, --user and so on, or leave --control out")

// entrust gives the agents what they need to open the plan's service besides its URL, if anything. A control
// plane that keeps no secrets is given none: the agents must have their own.
func (f *Fleet) entrust(ctx context.Context, p workloads.Plan, a assignment) error {
	s := backends.Security(p.Service)
	if s.IsZero() {
		return nil
	}
	if !f.plane.Protected() {
		for _, share := range a.Shares {
			if !f.member(share.Agent).Secured {
				return fmt.Errorf("agent %s: %w", share.Agent, errCredentials)
			}
		}
		return nil
	}
	c, err := credentialsOf(s)
	if err != nil {
		return err
	}
	return f.plane.PutSecret(ctx, a.document(secrets), c)
}

// security returns how the agent connects to the service of a run. Its own settings take
// precedence over those that the coordinator gives.
func (a *Agent) security(ctx context.Context, at site) (s drivers.Security, err error) {
	switch {
	case !at.Secured:
		return s, nil
	case !a.Security.IsZero():
		return a.Security, nil
	}
	var c credentials
	err = a.Plane.GetSecret(ctx, at.document(secrets), &c)
	return c.security(), err
}

const (
	// removeTime bounds how long an agent that has lost its coordinator waits for the end of the session that
	// made the run's nodes, and removes them. The service may grant a longer session than was requested.
	removeTime = time.Minute
	// reachTime bounds how long it tries to reach the service, which may have gone too.
	reachTime = 5 * time.Second
)

// A visited is the site of a run that an agent knows.
type visited struct {
	site
	made bool // the coordinator has made all nodes
}

// removeLeft removes the subtrees of a run, in an agent that leaves it for the given reason, unless another
// process removes them. Other agents may do so at the same time. stampede clean removes what is left
// nevertheless. asked says that the user has ended this agent.
func (a *Agent) removeLeft(at visited, why error, asked bool) {
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	service, err := at.open(ctx, a.access)
	if err != nil {
		return
	}
	defer service.Close()
	reach, end := context.WithTimeout(ctx, reachTime)
	defer end()
	c, err := drivers.Lasting(reach, func(ctx context.Context) (drivers.Conn, error) {
		return service.Dial(ctx, drivers.Options{NoEphemerals: true})
	})
	if err != nil {
		return
	}
	defer c.Close()
	for _, base := range at.bases() {
		_ = at.removeBase(ctx, c, base, why, asked)
	}
}

// removeBase removes a subtree once the coordinator, which removes the nodes of its runs, has gone. An
// agent that has been cut off does not know whether the coordinator continues with other agents: only the
// service does. A coordinator that was lost while it made the nodes may still have been making some.
func (v visited) removeBase(ctx context.Context, c drivers.Conn, base string, why error, asked bool) error {
	in := v.namespace()
	if v.made && errors.Is(why, ErrCoordinatorLost) {
		return in.RemoveBase(ctx, c, base)
	}
	if asked { // the user does not wait for the end of a run that continues
		if alive, err := in.IsAlive(ctx, c, base); err != nil || alive {
			return err
		}
	}
	return in.RemoveEnded(ctx, c, base)
}
