package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/preload"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// A stage has a coordinator and its agents, all in this process, each with its own session and clock.
type stage struct {
	plane  func(t *testing.T) drivers.Service // the control plane
	fleet  *Fleet
	agents []*Agent
	ended  []chan error // what Run returned, by agent
}

// newStage starts the agents a1, a2 and so on. The control plane waits for them for as long as a busy machine
// may take.
func newStage(t *testing.T, n int) *stage {
	t.Helper()
	plane := member(t)
	return newStageOn(t, n, func(t *testing.T) drivers.Service { return patient{plane(t)} })
}

// patient is a service whose sessions live for a minute without being heard.
type patient struct{ drivers.Service }

func (s patient) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	o.SessionTimeout = time.Minute
	return s.Service.Dial(ctx, o)
}

// member starts an etcd member, and returns what connects to it.
func member(t *testing.T) func(*testing.T) drivers.Service {
	t.Helper()
	clustertest.Use()
	m, err := control.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(t *testing.T) drivers.Service {
		t.Helper()
		s, err := control.Protected(m.URL(), m.Token())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// newStageOn is newStage with another control plane.
func newStageOn(t *testing.T, n int, plane func(*testing.T) drivers.Service) *stage {
	t.Helper()
	return newStageWith(t, n, plane, func(*Agent) {})
}

// newStageWith is newStageOn with agents that are changed before they join.
func newStageWith(t *testing.T, n int, plane func(*testing.T) drivers.Service, change func(*Agent)) *stage {
	t.Helper()
	s := &stage{plane: plane}
	for i := range n {
		a := &Agent{Agent: control.Agent{Name: fmt.Sprintf("a%d", i+1), Version: "test"}, Plane: s.connect(t), Forms: catalog.Forms()}
		change(a)
		ended := make(chan error, 1)
		s.agents, s.ended = append(s.agents, a), append(s.ended, ended)
		go func() {
			err := a.Run(context.Background())
			a.Plane.Close()
			ended <- err
		}()
	}
	var err error
	s.fleet, err = Gather(t.Context(), s.connect(t), Options{Agents: n, Version: "test", Address: "127.0.0.1:0", Present: func([]string) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.fleet.Close() })
	return s
}

func (s *stage) connect(t *testing.T) *control.Plane {
	t.Helper()
	p, err := control.Connect(t.Context(), s.plane(t), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// planOf returns a short plan of a form of the catalogue.
func planOf(t *testing.T, s drivers.Service, form string, clients int) workloads.Plan {
	t.Helper()
	all := catalog.Forms()
	i := slices.IndexFunc(all, func(f workloads.Form) bool { return f.String() == form })
	if i < 0 {
		t.Fatalf("there is no form %s", form)
	}
	p := workloads.Plan{
		Service: all[i].ServiceFor(s), Form: all[i], Clients: clients, Warmup: 50 * time.Millisecond, Duration: 500 * time.Millisecond, Seed: 1,
		Settings: workloads.Settings{Hold: time.Millisecond, Namespace: "/agents"},
	}
	p.LeastRounds, p.DurationLimit = 5, 30*time.Second // on a busy machine
	if all[i].Recipe == "revocable-lock" {
		p.LeastRounds = 100 // one in ten is a revocation, on average
	}
	p.Settings.Mix = workloads.MixSettings{Reads: 0.5, Keys: 10, Size: 10}
	return p
}

// nothingLeft fails the test if a run has left nodes on the service.
func nothingLeft(t *testing.T, s drivers.Service) {
	t.Helper()
	c, err := s.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	left, err := namespace.Clean(t.Context(), c, "/agents", true)
	if err != nil || len(left) > 0 {
		t.Errorf("the run has left %v, %v", left, err)
	}
}

// TestOneRunOfSeveralAgents divides runs among three agents. Counts, fan-out and safety must be those of
// one process: they are known from the cost model and the form.
func TestOneRunOfSeveralAgents(t *testing.T) {
	testenv.SkipIfShort(t)
	const clients = 8
	for _, b := range backends.List() {
		t.Run(b.Scheme, func(t *testing.T) {
			service := backendtest.Own(t, b.Scheme+":")
			s := newStage(t, 3)
			for _, form := range formsOn(t, service, b.Scheme) {
				t.Run(form.String(), func(t *testing.T) {
					p := planOf(t, service, form.String(), clients)
					r, parts := s.measure(t, p)
					checkRun(t, p, r)
					checkHerd(t, p, r)
					sessions := 0
					for _, c := range parts {
						sessions += c.Sessions
					}
					if want := workloads.Sessions(p); len(parts) != 3 || sessions != want {
						t.Errorf("%d agents had %d sessions, want 3 with %d", len(parts), sessions, want)
					}
					nothingLeft(t, service)
				})
			}
		})
	}
}

// formsOn returns the forms that run on the service: the first form of each recipe in each family on the native server, and
// on others the first form of each recipe.
func formsOn(t *testing.T, s drivers.Service, scheme string) (forms []workloads.Form) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range catalog.Forms() {
		on := f.ServiceFor(s)
		if on == nil {
			continue
		}
		c, err := on.Dial(t.Context(), drivers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fits := f.Needs.MetBy(c)
		c.Close()
		if group := f.Recipe + " " + families(f, scheme); fits && !seen[group] {
			forms = append(forms, f)
			seen[group] = true
		}
	}
	return forms
}

// families returns what tells the forms of a recipe apart that are run on a service.
func families(f workloads.Form, scheme string) string {
	if scheme != "native" {
		return ""
	}
	return string(f.Family)
}

// checkRun checks what is known of a run that was not disturbed.
func checkRun(t *testing.T, p workloads.Plan, r *metrics.Record) {
	t.Helper()
	if r.Rounds == 0 || r.WholeRounds < r.Rounds || r.Safety.Violations > 0 || r.Safety.Checked == 0 || len(r.Intervals) == 0 {
		t.Errorf("%d rounds of %d, safety %+v, %d intervals", r.Rounds, r.WholeRounds, r.Safety, len(r.Intervals))
	}
	if r.Disturbed {
		if p.Form.Recipe != "sessions" { // a storm disturbs them
			t.Errorf("disturbed: %v, %+v", r.Errors, r.Warnings)
		}
		return
	}
	if model, ok := costmodel.ModelOf(p.Form.Recipe, p.Form.Name); ok {
		for _, i := range model.Identities {
			if left, right, holds := i.Check(r.Whole, r.WholeRounds, int64(p.Clients/max(p.Groups, 1))); !holds {
				t.Errorf("%s gives %d and %d", i.Formula, left, right)
			}
		}
	}
	for _, phase := range r.Phases {
		if phase.Service.TotalCount() == 0 && phase.Name != "give-up" && (phase.Name != "handoff" || !p.Open.Rate.Open()) { // maybe nobody had to
			t.Errorf("there are no times of %s", phase.Name)
		}
	}
	if p.Form.Recipe == "lock" || p.Form.Recipe == "election" {
		if r.Safety.Checked != r.WholeRounds {
			t.Errorf("%d grants were checked in %d rounds", r.Safety.Checked, r.WholeRounds)
		}
	}
}

// An exactHerd is what a form determines under any schedule.
type exactHerd struct {
	perRound int64 // notifications of a round after the first; unknown if it depends on the schedule
	largest  int64 // fan-out
}

const unknown = -1

// herds returns the exact herds of forms with so many clients.
func herds(clients int64) map[string]exactHerd {
	return map[string]exactHerd{
		"lock/predecessor": {unknown, 1}, "lock/one-node": {unknown, clients - 1}, "lock/poll": {0, 0},
		"election/predecessor": {unknown, 1}, "election/acknowledged": {unknown, 1}, "election/poll": {0, 0},
		"queue/one-watcher": {unknown, 1}, "priority-queue/one-watcher": {unknown, 1},
		"barrier/watch": {clients, clients}, "barrier/poll": {0, 0},
		"two-phase-commit/coordinator": {2 * clients, clients},
		"config/watch":                 {clients, clients}, "config/persistent": {clients, clients}, "config/poll": {0, 0},
		"names/cached": {clients, clients}, "names/recursive": {clients, clients}, "names/lookup": {0, 0},
		"mirror/recursive": {unknown, clients},
		"fanout/one-shot":  {clients, clients}, "fanout/persistent": {clients, clients},
		"mix/operations": {0, 0}, "sessions/connect": {0, 0}, "sessions/idle": {0, 0},
	}
}

// checkHerd checks that the notifications are those of one process, for which the form determines them.
func checkHerd(t *testing.T, p workloads.Plan, r *metrics.Record) {
	t.Helper()
	want, known := herds(int64(p.Clients))[p.Form.String()]
	if !known {
		return
	}
	if r.Herd.Foreign > 0 && p.Form.Recipe != "two-phase-commit" { // the removal of its rounds fires watches
		t.Errorf("%d of %d triggers are foreign", r.Herd.Foreign, r.Herd.Triggers)
	}
	if r.Herd.Largest != want.largest || r.Herd.Triggers == 0 != (want.largest == 0) {
		t.Errorf("the largest of %d fan-outs is %d, want %d", r.Herd.Triggers, r.Herd.Largest, want.largest)
	}
	// Before the first update and after the last, some watch that is not fired may be missing.
	if n := r.Whole.Notifications; want.perRound != unknown && (n > want.perRound*r.WholeRounds || n < want.perRound*(r.WholeRounds-1)) {
		t.Errorf("%d notifications in %d rounds, want %d in each", n, r.WholeRounds, want.perRound)
	}
}

// TestTimesAreWithinTheirError compares times of agents on the coordinator's clock with the truth, which is
// known since all clocks here are of one machine.
func TestTimesAreWithinTheirError(t *testing.T) {
	testenv.SkipIfShort(t)
	s := newStage(t, 2)
	for _, a := range s.agents {
		began := a.now()
		time.Sleep(100 * time.Millisecond) // the clocks exchange times meanwhile
		var from, to, truth time.Duration  // the truth lies between two readings of the agent's clock
		for range 1000 {
			before := a.now()
			at := s.fleet.clock.CoordinatorNow().SinceStart()
			if after := a.now(); to == 0 || after-before < to-from {
				from, to, truth = before, after, at
			}
		}
		line, err := timelineOf(a.offset, began, a.now())
		if err != nil {
			t.Fatal(err)
		}
		earliest, _ := line.bounds(from)
		_, latest := line.bounds(to)
		if truth < earliest || truth > latest {
			t.Errorf("%s: %v is between %v and %v of the agent's clock, which are %v to %v", a.Name, truth, from, to, earliest, latest)
		}
		if e := line.error(); e <= 0 || e > 50*time.Millisecond {
			t.Errorf("%s: times are wrong by up to %v", a.Name, e)
		}
		if off := line.linear()(from) - line.middle(from); off.Abs() > 2*line.error() {
			t.Errorf("%s: the line is %v off", a.Name, off)
		}
	}
}

// measure runs a plan on all agents, which must not fail.
func (s *stage) measure(t *testing.T, p workloads.Plan) (*metrics.Record, []Contribution) {
	t.Helper()
	r, parts, err := s.fleet.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r, parts
}

// running starts a run that lasts until it is disturbed, and returns when its window is open.
func (s *stage) running(t *testing.T, service drivers.Service, form string) (ended chan error) {
	t.Helper()
	p := planOf(t, service, form, 6)
	p.Duration = time.Minute
	ended = make(chan error, 1)
	go func() {
		_, _, err := s.fleet.Run(context.Background(), p)
		ended <- err
	}()
	s.awaitWindow(t)
	return ended
}

// awaitWindow returns when the agents know when the window of the first run opens.
func (s *stage) awaitWindow(t *testing.T) {
	t.Helper()
	var opens time.Duration
	if err := s.fleet.plane.GetJSON(t.Context(), site{Number: 1}.document(window), &opens); err != nil {
		t.Fatal(err)
	}
}

// TestTheControlPlaneLosesItsLeader kills the leader of an ensemble that is the control plane. It is no loss
// for the run.
func TestTheControlPlaneLosesItsLeader(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	ensemble := backendtest.Own(t, "etcd:?servers=3").(drivers.Ensemble)
	s := newStageOn(t, 2, func(*testing.T) drivers.Service { return kept{ensemble} })
	p := planOf(t, service, "lock/predecessor", 6)
	p.Duration = 3 * time.Second
	ended := make(chan error, 1)
	go func() {
		r, _, err := s.fleet.Run(context.Background(), p)
		if err == nil && (r.Duration < p.Duration || r.Safety.Violations > 0) {
			err = fmt.Errorf("it lasted %v, with %d violations", r.Duration, r.Safety.Violations)
		}
		ended <- err
	}()
	var opens time.Duration
	if err := s.fleet.plane.GetJSON(t.Context(), site{Number: 1}.document(window), &opens); err != nil {
		t.Fatal(err)
	}
	members := ensemble.Members()
	leader := slices.IndexFunc(members, func(m drivers.Member) bool {
		leads, err := m.Leads(t.Context())
		return err == nil && leads
	})
	if err := members[leader].Kill(); err != nil {
		t.Fatal(err)
	}
	defer members[leader].Restart(context.Background())
	if err := await.Value(t, "the run ends", ended); err != nil {
		t.Errorf("the run ended with %v", err)
	}
	nothingLeft(t, service)
}

// kept is a service that outlives those who close it.
type kept struct{ drivers.Service }

func (kept) Close() error { return nil }

func TestALostCoordinatorEndsItsAgents(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStage(t, 2)
	s.running(t, service, "lock/predecessor")
	s.fleet.plane.Close() // as if it had died
	for i, ended := range s.ended {
		if err := await.Value(t, "the agent ends", ended); !errors.Is(err, ErrCoordinatorLost) {
			t.Errorf("agent %d ended with %v, want %v", i+1, err, ErrCoordinatorLost)
		}
	}
	nothingLeft(t, service)
}

// TestAFailureOfOneAgentEndsTheRun has an agent that does not know the form.
func TestAFailureOfOneAgentEndsTheRun(t *testing.T) {
	service := backendtest.Own(t, "native:")
	s := newStage(t, 2)
	s.agents[1].Forms = nil
	_, _, err := s.fleet.Run(t.Context(), planOf(t, service, "lock/predecessor", 4))
	if want := "agent a2: form lock/predecessor is unknown here"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	nothingLeft(t, service)
	s.agents[1].Forms = catalog.Forms()
	if r, _, err := s.fleet.Run(t.Context(), planOf(t, service, "lock/predecessor", 4)); err != nil || r.Rounds == 0 {
		t.Errorf("the next run: %v", err)
	}
}

func TestAnInterruptedRunEndsOnAllAgents(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStage(t, 2)
	for _, form := range []string{"lock/predecessor", "barrier/watch", "config/watch", "queue/relist", "fanout/one-shot"} {
		ctx, cancel := context.WithCancel(t.Context())
		p := planOf(t, service, form, 4)
		p.Duration = time.Minute
		p.Progress = func(workloads.Progress) { cancel() } // the window is open
		r, parts, err := s.fleet.Run(ctx, p)
		if !errors.Is(err, workloads.ErrInterrupted) || r == nil || len(parts) != 2 || r.Duration > 30*time.Second {
			t.Fatalf("%s: got %+v of %d agents, %v, want what was measured until then, and %v", form, r, len(parts), err, workloads.ErrInterrupted)
		}
		if r.Safety.Violations > 0 || r.Disturbed {
			t.Errorf("%s: safety %+v, rounds were abandoned: %v", form, r.Safety, r.Disturbed)
		}
		nothingLeft(t, service)
	}
	s.fleet.Close()
	for i, ended := range s.ended {
		if err := await.Value(t, "the agent ends", ended); err != nil {
			t.Errorf("agent %d ended with %v", i+1, err)
		}
	}
}

func TestOtherVersionsDoNotJoin(t *testing.T) {
	s := newStage(t, 1)
	a := &Agent{Agent: control.Agent{Name: "old", Version: "0.1"}, Plane: s.connect(t)}
	defer a.Plane.Close()
	if err := a.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "the coordinator is stampede test, and this agent is 0.1") {
		t.Errorf("got %v", err)
	}
}

// TestTheServiceUnderTestIsNoControlPlane uses one etcd for both.
func TestTheServiceUnderTestIsNoControlPlane(t *testing.T) {
	s := newStageOn(t, 1, member(t))
	if _, _, err := s.fleet.Run(t.Context(), planOf(t, s.plane(t), "lock/predecessor", 2)); err == nil || !strings.Contains(err.Error(), "the control plane is the service under test") {
		t.Errorf("got %v", err)
	}
}

func TestWhatCannotBeDivided(t *testing.T) {
	service := backendtest.InProcess(t)
	for _, form := range catalog.Forms() {
		p := workloads.Plan{Form: form, Service: service}
		if err := Supports(p); err != nil {
			t.Errorf("%v: %v", form, err)
		}
	}
	p := planOf(t, service, "group/ring", 2)
	p.Open = openloop.Options{Rate: openloop.PerSecond(10), LateLimit: time.Second}
	if err := Supports(p); err == nil || !strings.Contains(err.Error(), "--late-limit") {
		t.Errorf("got %v", err)
	}
}

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		sessions int
		want     string
	}{
		{9, "[{a 0 3 {0 1}} {b 3 3 {1 2}} {c 6 3 {3 2}}]"}, {8, "[{a 0 2 {0 1}} {b 2 3 {1 2}} {c 5 3 {3 2}}]"}, {2, "[{b 0 1 {0 2}} {c 1 1 {2 3}}]"}, {0, "[]"},
	} {
		shares := divide(c.sessions, []string{"a", "b", "c"})
		divideBackground(shares, 5)
		if got := fmt.Sprint(shares); got != c.want {
			t.Errorf("%d sessions, and 5 beside them, are divided as %s, want %s", c.sessions, got, c.want)
		}
	}
}

// TestRunsOfAgentsInOtherShapes has runs with a rate of arrivals, a number of rounds, and groups.
func TestRunsOfAgentsInOtherShapes(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStage(t, 3)
	rate := func(text string, a openloop.Arrival) func(*workloads.Plan) {
		return func(p *workloads.Plan) {
			r, err := openloop.ParseRate(text)
			if err != nil {
				t.Fatal(err)
			}
			p.Open = openloop.Options{Rate: r, Arrival: a}
		}
	}
	for _, c := range []struct {
		form  string
		shape func(*workloads.Plan)
	}{
		{"lock/predecessor", rate("200", openloop.Constant)},
		{"lock/predecessor", rate("200", openloop.Poisson)},
		{"lock/predecessor", rate("100..300", openloop.Constant)},
		{"mix/operations", rate("2000", openloop.Poisson)},
		{"queue/cached-list", rate("200", openloop.Constant)},
		{"barrier/watch", rate("30", openloop.Constant)},
		{"double-barrier/ready", rate("20", openloop.Constant)},
		{"two-phase-commit/coordinator", rate("20", openloop.Poisson)},
		{"config/watch", rate("50", openloop.Constant)},
		{"group/ring", rate("50", openloop.Poisson)},
		{"fanout/one-shot", rate("50", openloop.Constant)},
		{"fanout/persistent", rate("50", openloop.Poisson)},
	} {
		t.Run(c.form+" at a rate", func(t *testing.T) {
			p := planOf(t, service, c.form, 8)
			p.Duration = time.Second
			c.shape(&p)
			checkArrivals(t, s, p)
		})
	}
	for _, form := range []string{"lock/one-node", "shared-lock/nearest", "barrier/watch", "double-barrier/ready", "group/children-watch", "queue/relist", "fanout/one-shot", "sessions/idle"} {
		t.Run(form+" in two groups", func(t *testing.T) {
			p := planOf(t, service, form, 8)
			p.Groups = 2
			r, _ := s.measure(t, p)
			checkRun(t, p, r)
			if r.Herd.Largest > 4 {
				t.Errorf("a write has woken %d clients of 4 in a group", r.Herd.Largest)
			}
		})
	}
	for _, rate := range []float64{0, 500} {
		t.Run(fmt.Sprintf("beside a background at %v/s", rate), func(t *testing.T) {
			p := planOf(t, service, "lock/predecessor", 8)
			p.Background = load.Background(5, rate, workloads.MixSettings{Reads: 0.5, Keys: 10, Size: 10})
			r, _ := s.measure(t, p)
			checkRun(t, p, r)
			b := r.Background
			if b == nil {
				t.Fatal("there is no background")
			}
			g, timed := b.Generator, b.Rounds
			if rate > 0 {
				timed = g.Completed // what was due in the window
			}
			if b.Rounds == 0 || timed != b.Mix.Reads+b.Mix.Writes || b.Safety.Violations > 0 || b.Safety.Checked == 0 || g.Unaccounted() != 0 || (g.Offered > 0) != (rate > 0) {
				t.Errorf("background: %d rounds, %+v, safety %+v, %+v", b.Rounds, b.Mix, b.Safety, g)
			}
			if rate == 0 && (b.Little == nil || b.Little.Most != 5) {
				t.Errorf("background: Little's law was checked for %+v, want 5 clients", b.Little)
			}
		})
	}
	t.Run("a mix with watchers, on a service with other nodes", func(t *testing.T) {
		p := planOf(t, service, "mix/operations", 8)
		p.Settings.Mix.Txns, p.Settings.Mix.TxnOps, p.Settings.Mix.SizeBy = 0.5, 2, draw.Uniform
		p.Settings.Mix.Watchers, p.Preload = 2, preload.Data{Nodes: 20, Watches: 30}
		r, parts := s.measure(t, p)
		checkRun(t, p, r)
		sessions := 0
		for _, one := range parts {
			sessions += one.Sessions
		}
		if sessions != 10 || r.Herd.Largest < 1 || r.Herd.Largest > 2*2 {
			t.Errorf("%d sessions, and a write has woken %d, want 10 and at most the 2 watchers of 2 nodes each", sessions, r.Herd.Largest)
		}
		if m := r.Mix; m.Transactions == 0 || m.Transactions >= m.Writes {
			t.Errorf("%+v; want about half of the writes as transactions", *m)
		}
	})
	t.Run("rounds", func(t *testing.T) {
		p := planOf(t, service, "lock/predecessor", 8)
		p.Rounds, p.Duration = 100, time.Minute
		r, _ := s.measure(t, p)
		if r.Rounds < 100 || r.Rounds > 200 || r.Duration > 30*time.Second {
			t.Errorf("%d rounds in %v, want about 100", r.Rounds, r.Duration)
		}
	})
	t.Run("least rounds", func(t *testing.T) {
		p := planOf(t, service, "lock/predecessor", 8)
		p.Settings.Hold, p.Duration, p.LeastRounds, p.DurationLimit = 20*time.Millisecond, 500*time.Millisecond, 50, 10*time.Second
		r, parts := s.measure(t, p)
		if r.Rounds < 50 || r.Duration < 2*p.Duration {
			t.Errorf("%d rounds in %v, want at least 50", r.Rounds, r.Duration)
		}
		// Each window ends a whole number of durations after it opened, or as late as its process was.
		windows := func(length time.Duration) int64 { return int64(length / p.Duration) }
		for _, one := range parts {
			if windows(one.Record.Duration) != windows(r.Duration) {
				t.Errorf("the window of an agent was extended to %v, another to %v", one.Record.Duration, r.Duration)
			}
		}
	})
	nothingLeft(t, service)
}

// checkArrivals runs the plan on the agents, and in this process: the same arrivals must be offered, and each of
// them must have an outcome.
func checkArrivals(t *testing.T, s *stage, p workloads.Plan) {
	t.Helper()
	r, _ := s.measure(t, p)
	checkRun(t, p, r)
	one, err := workloads.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	g := r.Generator
	if g.Offered != one.Generator.Offered || g.Offered == 0 || g.Completed+g.Failed+g.Skipped+g.Unfinished != g.Offered {
		t.Errorf("%d arrivals were offered, of which %d completed, %d failed, %d unfinished, %d skipped; one process offered %d",
			g.Offered, g.Completed, g.Failed, g.Unfinished, g.Skipped, one.Generator.Offered)
	}
	if g.Failed > 0 || r.Little != nil {
		t.Errorf("%d arrivals failed; the loop is judged as a closed one: %v", g.Failed, r.Little)
	}
}

// TestAFormsErrorOfOneAgentDoesNotHideAViolation has another program delete the node of a holder, so that two clients
// hold, and the first one fails to release. What all agents have measured until then proves the violation.
func TestAFormsErrorOfOneAgentDoesNotHideAViolation(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStage(t, 2)
	p := planOf(t, service, "lock/predecessor", 4)
	p.Settings.Hold, p.Duration, p.LeastRounds = time.Second, time.Minute, 0
	var once sync.Once
	p.Progress = func(workloads.Progress) { // the window is open
		once.Do(func() {
			if err := runtest.DeleteHolder(t.Context(), service, "/agents"); err != nil {
				t.Error(err)
			}
		})
	}
	r, parts, err := s.fleet.Run(t.Context(), p)
	if err != nil || r.Safety.Violations != 1 || len(parts) != 2 || r.Duration > 30*time.Second {
		t.Fatalf("%v: %+v of %d agents, want one violation", err, r, len(parts))
	}
	ended := func(d string) bool { return strings.HasPrefix(d, "the run ended early: agent a") }
	if !slices.ContainsFunc(r.Safety.Details, ended) {
		t.Errorf("details %q, want why the run ended", r.Safety.Details)
	}
	nothingLeft(t, service)
}
