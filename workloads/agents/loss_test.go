package agents

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/opening"
)

// An outcome is what a run returned.
type outcome struct {
	record *metrics.Record
	parts  []Contribution
	err    error
}

// start begins a run, and returns when its window is to open. told is closed when the coordinator knows of some rounds
// of the agent a2, and a second of all agents has been merged. Rounds that all agents do together are told of by one of them.
func (s *stage) start(t *testing.T, p workloads.Plan) (ended chan outcome, told chan struct{}) {
	t.Helper()
	ended, told = make(chan outcome, 1), make(chan struct{})
	together := p.Form.New(p.Settings).Together()
	known := 0 // how often the coordinator has asked a2 since it told of rounds
	p.Progress = func(now workloads.Progress) {
		var of state
		if _, err := s.fleet.plane.State(context.Background(), "a2", &of); err == nil && (of.Rounds > 0 || together && now.Rounds > 0) && now.Lap.Count > 0 {
			if known++; known == 2 {
				close(told)
			}
		}
	}
	go func() {
		r, parts, err := s.fleet.Run(context.Background(), p)
		ended <- outcome{r, parts, err}
	}()
	s.awaitWindow(t)
	return ended, told
}

// awaitTold waits until told is closed, which must be before the run ends.
func awaitTold(t *testing.T, told chan struct{}, ended chan outcome) {
	t.Helper()
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-told:
		case o := <-ended:
			t.Errorf("the run has ended, with %v, before the coordinator knew of two seconds of a2", o.err)
		case <-t.Context().Done():
		}
	}()
	if await.Value(t, "the coordinator knows of two seconds with rounds", over); t.Failed() {
		t.FailNow()
	}
}

// lossOf returns the loss of the agent a2.
func lossOf(parts []Contribution) *Loss {
	i := slices.IndexFunc(parts, func(c Contribution) bool { return c.Name == "a2" })
	return parts[i].Lost
}

// wantLoss fails the test unless a2 of three agents is marked as lost, and only that one.
func wantLoss(t *testing.T, o outcome) {
	t.Helper()
	if o.record == nil || len(o.parts) != 3 {
		t.Fatalf("got %+v of %d agents, %v, want a record of 3", o.record, len(o.parts), o.err)
	}
	for _, c := range o.parts {
		if lost := c.Lost != nil; lost != (c.Name == "a2") || lost == (c.Record != nil) {
			t.Errorf("agent %s: lost %+v, a record: %v", c.Name, c.Lost, c.Record != nil)
		}
	}
	loss := lossOf(o.parts)
	if loss == nil || loss.Rounds == 0 || loss.Heard == 0 || loss.Noticed < loss.Heard {
		t.Errorf("the loss is %+v, want rounds, and that it was noticed after the agent was heard", loss)
	}
	at := slices.IndexFunc(o.record.Doubts, func(w metrics.Warning) bool { return w.Code == metrics.AgentLost })
	if at < 0 || o.record.Doubts[at].Names[metrics.OfAgent] != "a2" || o.record.Doubts[at].Numbers["sessions"] != 2 {
		t.Errorf("the doubts are %+v, want that a2 was lost", o.record.Doubts)
	}
	r := o.record
	if r.Rounds == 0 || r.Safety.Checked == 0 || r.Safety.Violations > 0 || !r.Disturbed {
		t.Errorf("%d rounds, disturbed %v, safety %+v", r.Rounds, r.Disturbed, r.Safety)
	}
}

func TestALostAgentEndsTheRun(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStageOn(t, 3, member(t))
	p := planOf(t, service, "lock/predecessor", 6)
	p.Duration = time.Minute
	ended, told := s.start(t, p)
	awaitTold(t, told, ended)
	s.agents[1].Plane.Close() // as if it had died
	o := await.Value(t, "the run ends", ended)
	if !errors.Is(o.err, ErrAgentLost) || !strings.Contains(o.err.Error(), "a2") {
		t.Errorf("the run ended with %v, want that a2 is lost", o.err)
	}
	wantLoss(t, o)
	if o.record.Duration > 30*time.Second {
		t.Errorf("the run lasted %v", o.record.Duration)
	}
	if err := await.Value(t, "the agent ends", s.ended[1]); !errors.Is(err, ErrCutOff) {
		t.Errorf("the agent ended with %v, want %v", err, ErrCutOff)
	}
	nothingLeft(t, service)
}

// TestALostAgentEndsABarrier has clients that wait for those of the lost agent. What is missing could be taken for a
// violation, so there is no record.
func TestALostAgentEndsABarrier(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStageOn(t, 3, member(t))
	p := planOf(t, service, "barrier/watch", 6)
	p.Duration = time.Minute
	ended, _ := s.start(t, p)
	s.agents[1].Plane.Close()
	if o := await.Value(t, "the run ends", ended); !errors.Is(o.err, ErrAgentLost) || !strings.Contains(o.err.Error(), "a2") || o.record != nil {
		t.Errorf("got a record: %v, %v, want that a2 is lost", o.record != nil, o.err)
	}
	nothingLeft(t, service)
}

// TestARunContinueWithoutALostAgent also has a next run, which the agents that are left do.
func TestARunContinueWithoutALostAgent(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStageOn(t, 3, member(t))
	s.fleet.continues = true
	p := planOf(t, service, "lock/predecessor", 6)
	p.Duration = 10 * time.Second // the coordinator is told each second, which must have happened some times
	ended, told := s.start(t, p)
	awaitTold(t, told, ended)
	s.agents[1].Plane.Close()
	o := await.Value(t, "the run ends", ended)
	if o.err != nil {
		t.Errorf("the run ended with %v", o.err)
	}
	wantLoss(t, o)
	if o.record.Duration < p.Duration {
		t.Errorf("the run lasted %v, want %v", o.record.Duration, p.Duration)
	}
	if n := len(o.record.Fairness.Served); n != 4 {
		t.Errorf("%d clients were to be served, want the 4 of the agents that are left", n)
	}
	p.Duration = 300 * time.Millisecond
	r, parts, err := s.fleet.Run(t.Context(), p)
	if err != nil || len(parts) != 2 || len(r.Doubts) > 0 && r.Doubts[0].Code == metrics.AgentLost {
		t.Fatalf("the next run had %d agents, %v", len(parts), err)
	}
	if r.Rounds == 0 || r.Herd.Largest != 1 || r.Safety.Violations > 0 || r.Disturbed {
		t.Errorf("the next run had %d rounds, a fan-out of %d, safety %+v, disturbed %v", r.Rounds, r.Herd.Largest, r.Safety, r.Disturbed)
	}
	nothingLeft(t, service)
}

// TestAnAgentIsLostBeforeTheWindow has agents that wait for the clients of one that is not there any more.
func TestAnAgentIsLostBeforeTheWindow(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStageOn(t, 3, member(t))
	s.fleet.continues = true
	s.agents[1].Runs = func(string, int) { s.agents[1].Plane.Close() }
	r, parts, err := s.fleet.Run(t.Context(), planOf(t, service, "lock/predecessor", 6))
	if err != nil || len(parts) != 3 || lossOf(parts) == nil || lossOf(parts).Rounds != 0 || r.Rounds == 0 {
		t.Errorf("got %d agents, %v, want that a2 was lost before a round of it had ended", len(parts), err)
	}
	nothingLeft(t, service)
}

func TestNoAgentIsLeft(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStageOn(t, 2, member(t))
	s.fleet.continues = true
	p := planOf(t, service, "lock/predecessor", 4)
	p.Duration = time.Minute
	ended, _ := s.start(t, p)
	for _, a := range s.agents {
		a.Plane.Close()
	}
	if o := await.Value(t, "the run ends", ended); o.record != nil || !errors.Is(o.err, ErrAgentLost) {
		t.Errorf("got %+v, %v, want no record, and %v", o.record, o.err, ErrAgentLost)
	}
	if _, _, err := s.fleet.Run(t.Context(), p); !errors.Is(err, ErrAgentLost) || !strings.Contains(err.Error(), "no agent is left") {
		t.Errorf("the next run: %v", err)
	}
	nothingLeft(t, service)
}

// TestARunThatCannotBeginIsWithdrawn has a next run, whose number the agents know.
func TestARunThatCannotBeginIsWithdrawn(t *testing.T) {
	service := backendtest.Own(t, "native:")
	s := newStageOn(t, 2, member(t))
	p := planOf(t, service, "lock/predecessor", 4)
	p.Settings.Namespace = "/nobody/agents"
	if _, _, err := s.fleet.Run(t.Context(), p); !errors.Is(err, drivers.ErrNoNode) {
		t.Errorf("got %v, want that the namespace cannot be made", err)
	}
	r, parts, err := s.fleet.Run(t.Context(), planOf(t, service, "lock/predecessor", 4))
	if err != nil || len(parts) != 2 || r.Rounds == 0 {
		t.Fatalf("the next run had %d agents, %v", len(parts), err)
	}
	nothingLeft(t, service)
}

// TestAnAgentIsLostBeforeItKnowsTheRun has an agent that does not answer when the run is announced.
func TestAnAgentIsLostBeforeItKnowsTheRun(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStageOn(t, 2, member(t))
	s.agents[1].Plane.Close()
	await.Value(t, "the agent ends", s.ended[1])
	if _, _, err := s.fleet.Run(t.Context(), planOf(t, service, "lock/predecessor", 4)); !errors.Is(err, ErrAgentLost) {
		t.Errorf("got %v, want %v", err, ErrAgentLost)
	}
	nothingLeft(t, service)
}

// served returns a server in this process, and the service that it is to agents. Both end with the test.
func served(t *testing.T, o server.Options) (*server.Server, drivers.Service) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(o)
	go s.Serve(listener)
	t.Cleanup(s.Close)
	target, err := backends.Parse("native://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	service, err := target.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	return s, service
}

// TestAServiceThatDiesEndsTheRunOfAllAgents ends the service in the middle of a run. What the agents measured until then is
// the result, as of a run of one process, and nothing waits for a service that is gone.
func TestAServiceThatDiesEndsTheRunOfAllAgents(t *testing.T) {
	testenv.SkipIfShort(t)
	// A barrier has one session more, which opens it.
	for form, sessions := range map[string]float64{"lock/predecessor": 4, "mix/operations": 4, "barrier/watch": 5} {
		t.Run(form, func(t *testing.T) {
			dying, service := served(t, server.Options{MinTimeout: 1})
			s := newStageOn(t, 2, member(t))
			p := planOf(t, service, form, 4)
			p.Duration, p.SessionTimeout = time.Hour, time.Second
			ended, told := s.start(t, p)
			awaitTold(t, told, ended)
			dying.Close()
			o := await.Value(t, "the run ends", ended)
			if lost := new(workloads.ServiceLost); !errors.As(o.err, &lost) || !strings.Contains(o.err.Error(), "agent a") {
				t.Errorf("the run ended with %v, want that the service is gone", o.err)
			}
			if o.record == nil || len(o.parts) != 2 || o.record.Rounds == 0 || o.record.Safety.Violations > 0 || !o.record.Disturbed {
				t.Fatalf("got %+v of %d agents", o.record, len(o.parts))
			}
			if !slices.ContainsFunc(o.record.Doubts, func(w metrics.Warning) bool {
				return w.Code == metrics.ServiceLost && w.Numbers["all_sessions"] == sessions && w.Numbers["sessions"] >= 2
			}) {
				t.Errorf("the doubts are %+v, want that the service is gone, for two of %v sessions at least", o.record.Doubts, sessions)
			}
		})
	}
}

// TestAServiceThatOpensTooFewSessionsOfAllAgents has a service that accepts 9 connections of this machine: for one of the run, for
// one of each agent, and for 6 of 8 clients. The error counts the clients of both agents.
func TestAServiceThatOpensTooFewSessionsOfAllAgents(t *testing.T) {
	testenv.SkipIfShort(t)
	_, service := served(t, server.Options{MaxPerHost: 9})
	_, _, err := newStageOn(t, 2, member(t)).fleet.Run(t.Context(), planOf(t, service, "lock/predecessor", 8))
	var short opening.Shortage
	if !errors.As(err, &short) || short.Sessions != 8 || short.Open > 6 || short.Open == 0 {
		t.Errorf("the run ended with %v, want at most 6 of 8 sessions", err)
	}
}

// TestGatherGivesUp waits for two agents, of which one joins.
func TestGatherGivesUp(t *testing.T) {
	testenv.SkipIfShort(t)
	s := &stage{plane: member(t)}
	joined := make(chan struct{})
	a := &Agent{Agent: control.Agent{Name: "a1", Version: "test"}, Plane: s.connect(t), Joined: func() { close(joined) }}
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	seen := make(chan []string, 1)
	_, err := Gather(t.Context(), s.connect(t), Options{Agents: 2, Version: "test", Address: "127.0.0.1:0", Patience: 3 * time.Second,
		Present: func(names []string) {
			select {
			case <-joined:
				select {
				case seen <- names:
				default:
				}
			default:
			}
		}})
	if err == nil || err.Error() != "waited for 2 agents: 1 of them joined: a1, and no further one within 3s" {
		t.Errorf("got %v", err)
	}
	if names := await.Value(t, "the agents are named", seen); len(names) > 1 {
		t.Errorf("present: %v", names)
	}
	leave()
	await.Value(t, "the agent ends", ended)
	a.Plane.Close()
}
