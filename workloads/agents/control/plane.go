package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads/agents/control/store"
)

// A Plane is the session of one process with the control plane.
type Plane struct {
	service drivers.Service
	nodes   *store.Store
	id      string // of this process, for what only one process gets
}

// The nodes of a control plane.
const (
	root        = "/stampede-agents"
	coordinator = root + "/coordinator" // while there is a coordinator
	members     = root + "/members"     // an ephemeral node of each agent
	documents   = root + "/documents"
	barriers    = root + "/barriers"
	boards      = root + "/boards"
	states      = root + "/states" // how far each agent is
	claims      = root + "/claims" // what one of several agents does, with its name
)

// Lease is how long the control plane keeps a process as a member without hearing from it.
const Lease = 5 * time.Second

// Connect opens the session. It gives up after the given time. It closes the service with the Plane, also
// if it fails.
func Connect(ctx context.Context, s drivers.Service, patience time.Duration) (_ *Plane, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p := &Plane{service: s, id: rand.Text()}
	defer func() {
		if err != nil {
			err = fmt.Errorf("connect to the control plane: %w", err)
			p.Close()
		}
	}()
	if p.nodes, err = store.Open(ctx, s, drivers.Options{SessionTimeout: Lease}); err != nil {
		return nil, err
	}
	for _, node := range []string{root, members, documents, barriers, boards, states, claims} {
		if err := p.nodes.Make(ctx, node, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Close ends the session.
func (p *Plane) Close() error {
	var err error
	if p.nodes != nil {
		err = p.nodes.Close()
	}
	return errors.Join(err, p.service.Close())
}

// Lost returns a channel that is closed when the process is no longer a member, by the control plane's
// rules: it may have been cut off.
func (p *Plane) Lost() <-chan struct{} { return p.nodes.Done() }

// A Coordinator is what agents know of their coordinator.
type Coordinator struct {
	Version string   // of stampede
	Clock   string   // address of its clock
	Key     [16]byte // of the exchanges with its clock
	Process string   // Lead sets it
}

// ErrCoordinated means that the control plane has a coordinator already.
var ErrCoordinated = errors.New("another stampede uses this control plane: wait until it has ended, or use another path")

// Lead makes this process the coordinator until the session ends.
func (p *Plane) Lead(ctx context.Context, c Coordinator) error {
	if err := p.empty(ctx); err != nil {
		return err
	}
	c.Process = p.id
	leads, err := p.nodes.Claim(ctx, coordinator, encode(c), drivers.Ephemeral)
	if err == nil && !leads {
		return ErrCoordinated
	}
	return err
}

// AwaitCoordinator waits until there is a coordinator.
func (p *Plane) AwaitCoordinator(ctx context.Context) (c Coordinator, err error) {
	text, err := p.await(ctx, coordinator)
	if err != nil {
		return c, err
	}
	return c, decode(text, &c)
}

// AwaitEnd returns when the coordinator's session has ended.
func (p *Plane) AwaitEnd(ctx context.Context) error { return p.awaitGone(ctx, coordinator) }

// An Agent is what the coordinator knows of an agent.
type Agent struct {
	Name       string
	Host       string
	Version    string // of stampede
	Processors float64
	Secured    bool   // it has TLS settings or credentials of its own for the service under test
	Process    string // Join sets it
}

// Join makes this process an agent until the session ends.
func (p *Plane) Join(ctx context.Context, a Agent) error {
	a.Process = p.id
	joined, err := p.nodes.Claim(ctx, members+"/"+a.Name, encode(a), drivers.Ephemeral)
	if err == nil && !joined {
		return fmt.Errorf("another agent has the name %q: choose one with --name", a.Name)
	}
	return err
}

// AwaitAgents waits until there are n agents, and returns those that joined first, in the order in which
// they joined. see is called with the names of those that are present whenever their number has changed.
func (p *Plane) AwaitAgents(ctx context.Context, n int, see func(present []string)) ([]Agent, error) {
	for before := -1; ; {
		var changed drivers.Wait
		all, err := p.nodes.Children(ctx, members, changed.Fire)
		if err != nil {
			return nil, err
		}
		if len(all) != before {
			var names []string
			for _, c := range all {
				names = append(names, c.Name)
			}
			see(names)
		}
		if before = len(all); before >= n {
			agents, err := p.agents(ctx, all)
			if err != nil || len(agents) >= n {
				return agents[:min(n, len(agents))], err
			}
		}
		if _, err := changed.Await(ctx); err != nil {
			return nil, err
		}
	}
}

// agents returns those that have not left meanwhile.
func (p *Plane) agents(ctx context.Context, all []drivers.Child) (agents []Agent, err error) {
	joined := map[string]int64{}
	for _, c := range all {
		text, stat, err := p.nodes.Get(ctx, members+"/"+c.Name, nil)
		if errors.Is(err, drivers.ErrNoNode) {
			continue
		}
		var a Agent
		if err = errors.Join(err, decode(text, &a)); err != nil {
			return nil, err
		}
		joined[a.Name], agents = stat.Created, append(agents, a)
	}
	sortBy(agents, func(a Agent) int64 { return joined[a.Name] })
	return agents, nil
}

// SetState replaces the state of this agent, which the coordinator reads.
func (p *Plane) SetState(ctx context.Context, name string, state any) error {
	return p.nodes.Put(ctx, states+"/"+name, encode(state), drivers.Ephemeral)
}

// State reads the state of an agent into state, and returns false if the agent has set none.
func (p *Plane) State(ctx context.Context, name string, state any) (bool, error) {
	text, _, err := p.nodes.Get(ctx, states+"/"+name, nil)
	if errors.Is(err, drivers.ErrNoNode) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, decode(text, state)
}

// AwaitLoss returns when the agent is no longer a member.
func (p *Plane) AwaitLoss(ctx context.Context, name string) error {
	return p.awaitGone(ctx, members+"/"+name)
}

// IsPresent reports whether the agent is a member.
func (p *Plane) IsPresent(ctx context.Context, name string) (bool, error) {
	_, exists, err := p.nodes.Exists(ctx, members+"/"+name, nil)
	return exists, err
}

// await returns the data of a node once it exists.
func (p *Plane) await(ctx context.Context, node string) ([]byte, error) {
	for {
		var created drivers.Wait
		_, exists, err := p.nodes.Exists(ctx, node, created.Fire)
		if err != nil {
			return nil, err
		}
		if exists {
			text, _, err := p.nodes.Get(ctx, node, nil)
			if !errors.Is(err, drivers.ErrNoNode) {
				return text, err
			}
			continue // it has gone meanwhile
		}
		if _, err := created.Await(ctx); err != nil {
			return nil, err
		}
	}
}

// awaitGone returns when the node does not exist.
func (p *Plane) awaitGone(ctx context.Context, node string) error {
	for {
		var gone drivers.Wait
		_, exists, err := p.nodes.Exists(ctx, node, gone.Fire)
		if err != nil || !exists {
			return err
		}
		if _, err := gone.Await(ctx); err != nil {
			return err
		}
	}
}

// empty removes what an earlier coordinator left.
func (p *Plane) empty(ctx context.Context) error {
	if _, exists, err := p.nodes.Exists(ctx, coordinator, nil); err != nil || exists {
		return err
	}
	for _, node := range []string{documents, barriers, boards, claims} {
		if err := p.removeBelow(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plane) removeBelow(ctx context.Context, node string) error {
	all, err := p.nodes.Children(ctx, node, nil)
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	for _, c := range all {
		child := path.Join(node, c.Name)
		if err = p.removeBelow(ctx, child); err == nil {
			err = p.nodes.Remove(ctx, child)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// Serves reports whether the service is the control plane's own: they have a server in common, or the service
// keeps the sessions of the control plane.
func (p *Plane) Serves(ctx context.Context, s drivers.Service) (bool, error) {
	if backends.ShareServer(p.service, s) {
		return true, nil
	}
	holder, ok := s.(drivers.Holder)
	if !ok {
		return false, nil // a service of this process
	}
	session, err := p.service.Dial(ctx, drivers.Options{SessionTimeout: Lease})
	if err != nil {
		return false, err
	}
	defer session.Close()
	return holder.Holds(ctx, session)
}

// Claim claims a name for this process. Of several processes that claim a name, the first gets it:
// Claim returns true to that one, and false to the others.
func (p *Plane) Claim(ctx context.Context, name string) (bool, error) {
	got, err := p.nodes.Claim(ctx, claims+"/"+name, []byte(p.id), 0)
	return got, claimError(name, err)
}

// AwaitClaim returns when a process has claimed the name.
func (p *Plane) AwaitClaim(ctx context.Context, name string) error {
	_, err := p.await(ctx, claims+"/"+name)
	return claimError(name, err)
}

func claimError(name string, err error) error {
	if err != nil {
		return fmt.Errorf("claim %s on the control plane: %w", name, err)
	}
	return nil
}
