package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/clock"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// A Fleet is the agents of one coordinator. It does one run at a time.
type Fleet struct {
	plane     *control.Plane
	agents    []control.Agent
	clock     clock.Clock
	peer      net.PacketConn // where the clock answers
	continues bool           // runs continue without agents that are lost
	runs      int
}

// Options describe a Fleet.
type Options struct {
	Agents  int
	Version string // of stampede
	Address string // of the coordinator's clock, host:port, which agents can reach; port 0 chooses a free one
	// Continue makes runs continue without an agent that is lost, and later runs do without it. A window is
	// then not extended until some number of rounds has ended, because the agents would wait for the lost
	// one's count.
	Continue bool
	// Patience is how long to wait for one more agent; 0 means DefaultPatience.
	Patience time.Duration
	// Present is called a few times a second with the names of the agents that are present, while others are missing.
	Present func(names []string)
}

// DefaultPatience is how long a coordinator waits for one more agent. People start agents by hand.
const DefaultPatience = time.Minute

// presentEvery is the time between two calls of Present.
const presentEvery = 250 * time.Millisecond

// Gather makes this process the coordinator, and waits until there are enough agents, or no further one has joined for as
// long as its patience lasts.
func Gather(ctx context.Context, plane *control.Plane, o Options) (_ *Fleet, err error) {
	f := &Fleet{plane: plane, clock: clock.StartClock(), continues: o.Continue}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.peer, err = net.ListenPacket("udp", o.Address); err != nil {
		return nil, err
	}
	key := clock.NewKey()
	go clock.Serve(f.peer, key, f.clock.CoordinatorNow)
	if err := plane.Lead(ctx, control.Coordinator{Version: o.Version, Clock: f.peer.LocalAddr().String(), Key: key}); err != nil {
		return nil, err
	}
	f.agents, err = o.await(ctx, plane)
	return f, err
}

// await waits for the agents.
func (o Options) await(ctx context.Context, plane *control.Plane) ([]control.Agent, error) {
	patience := cmp.Or(o.Patience, DefaultPatience)
	within, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var mu sync.Mutex
	var present []string
	most := 0
	missing := func() {
		mu.Lock()
		defer mu.Unlock()
		joined := "none has joined"
		if len(present) > 0 {
			joined = fmt.Sprintf("%d of them joined: %s, and no further one", len(present), strings.Join(present, ", "))
		}
		giveUp(fmt.Errorf("waited for %d agents: %s within %v", o.Agents, joined, patience))
	}
	last := time.AfterFunc(patience, missing)
	defer last.Stop()
	var reports sync.WaitGroup
	defer reports.Wait()
	reports.Go(func() {
		for ; within.Err() == nil; workloads.Sleep(within, presentEvery) {
			mu.Lock()
			names := present
			mu.Unlock()
			o.Present(names)
		}
	})
	agents, err := plane.AwaitAgents(within, o.Agents, func(names []string) {
		mu.Lock()
		defer mu.Unlock()
		if present = names; len(names) > most {
			most = len(names)
			last.Reset(patience)
		}
	})
	if err != nil {
		err = caused(within, err)
	}
	giveUp(nil)
	return agents, err
}

// Close dismisses the agents and closes the session with the control plane.
func (f *Fleet) Close() error {
	if f.agents != nil {
		ctx, cancel := context.WithTimeout(context.Background(), control.Lease)
		defer cancel()
		f.runs++
		_ = f.plane.PutJSON(ctx, site{Number: f.runs}.document(announced), site{}) // else they end with this session
		f.awaitLeave(ctx)
	}
	if f.peer != nil {
		f.peer.Close()
	}
	return f.plane.Close()
}

// awaitLeave waits until all agents have left.
func (f *Fleet) awaitLeave(ctx context.Context) {
	for _, a := range f.agents {
		_ = f.plane.AwaitLoss(ctx, a.Name)
	}
}

// Run executes the plan on the agents and returns the merged measurements, and what each agent did.
func (f *Fleet) Run(ctx context.Context, p workloads.Plan) (m *metrics.Record, _ []Contribution, err error) {
	if err := Supports(p); err != nil {
		return nil, nil, err
	}
	if err := f.separate(ctx, p); err != nil {
		return nil, nil, err
	}
	if f.continues {
		p.LeastRounds = 0
	}
	if err := f.dropAbsent(ctx); err != nil {
		return nil, nil, err
	}
	made, err := workloads.NewSite(p)
	if err != nil {
		return nil, nil, err
	}
	at, err := siteOf(p, f.runs+1, made)
	a := assign(p, at, divide(workloads.Sessions(p), f.names()))
	if err == nil {
		err = f.entrust(ctx, p, a)
	}
	if err != nil {
		return nil, nil, err
	}
	f.runs++ // from now on the agents may know of it
	defer func() { err = made.Conclude(m, err) }()
	if err = f.announce(ctx, at); err == nil {
		err = made.Create(ctx)
	}
	if err != nil {
		f.withdraw(at)
		return nil, nil, err
	}
	return f.run(ctx, p, a)
}

// dropAbsent forgets the agents that have been lost, if runs continue without them.
func (f *Fleet) dropAbsent(ctx context.Context) error {
	if !f.continues {
		return nil
	}
	var left []control.Agent
	for _, a := range f.agents {
		present, err := f.plane.IsPresent(ctx, a.Name)
		if err != nil {
			return err
		}
		if present {
			left = append(left, a)
		}
	}
	if len(left) == 0 {
		return fmt.Errorf("agent %s: %w: no agent is left", f.agents[0].Name, ErrAgentLost)
	}
	f.agents = left
	return nil
}

func (f *Fleet) names() (names []string) {
	for _, a := range f.agents {
		names = append(names, a.Name)
	}
	return names
}

// Processors returns how many processors the agents' machines have together.
func (f *Fleet) Processors() (n float64) {
	hosts := map[string]float64{}
	for _, a := range f.agents {
		hosts[a.Host] = max(hosts[a.Host], a.Processors)
	}
	for _, of := range hosts {
		n += of
	}
	return n
}

// member returns what is known of an agent.
func (f *Fleet) member(name string) control.Agent {
	return f.agents[slices.IndexFunc(f.agents, func(a control.Agent) bool { return a.Name == name })]
}

// separate returns an error if the control plane is the service under test.
func (f *Fleet) separate(ctx context.Context, p workloads.Plan) error {
	same, err := f.plane.Serves(ctx, p.Service)
	if same {
		return errors.New("the control plane is the service under test, whose load it would change: use another one")
	}
	return err
}

// abortTime bounds how long the agents of an aborted run have to close their sessions.
const abortTime = 30 * time.Second

// abort ends the run on all agents, waits until they have closed their sessions, and returns their reports.
func (f *Fleet) abort(a assignment) map[string]report {
	reports := map[string]report{}
	ctx, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	if f.plane.Put(ctx, a.document(aborted), nil) != nil {
		return nil
	}
	for _, s := range a.Shares {
		text, err := f.awaitUnlessLost(ctx, a.report(s.Agent), s.Agent) // a lost agent has no sessions and makes no report
		if err != nil {
			continue
		}
		if r, err := decodeReport(text); err == nil {
			reports[s.Agent] = r
		}
	}
	return reports
}

// Supports returns an error if the plan cannot be divided among agents.
func Supports(p workloads.Plan) error {
	_, divisible := divided.NewWorkload(p.Form, p.Settings)
	switch {
	case !divisible:
		return fmt.Errorf("%s cannot be divided among agents yet", p.Form.Recipe)
	case p.Open.Rate.Open() && p.Open.LateLimit > 0 && p.Form.Recipe == "group":
		return errors.New("--late-limit of a group cannot be divided among agents: the client that takes an arrival is known only if none is skipped")
	}
	return nil
}

// SupportsLoss returns an error if the plan's run cannot continue without an agent that is lost: if the
// other clients would wait for those of the agent, or if what is missing with it could be taken for a
// violation.
func SupportsLoss(p workloads.Plan) error {
	if !slices.Contains([]string{"lock", "election", "mix"}, p.Form.Recipe) {
		return fmt.Errorf("%s cannot continue without some of its clients: want a lock, an election or a mix", p.Form.Recipe)
	}
	return nil
}
