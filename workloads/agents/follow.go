package agents

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/merge"
)

// A follower merges the states of a run's agents.
type follower struct {
	states map[string]state // the latest, by agent
	next   int              // the second to merge next
	lap    metrics.Lap      // of the second that was merged last
}

func newFollower(first string) *follower {
	return &follower{states: map[string]state{}, lap: metrics.Lap{Phase: first}}
}

// patience is how long after its end a second is merged without the agents that have not reported theirs.
const patience = time.Second

// merge returns the progress of these agents together, one for each second that has ended since the last
// call, or one if none has. elapsed is the window's age on the coordinator's clock.
func (f *follower) merge(elapsed time.Duration, agents []string) (all []workloads.Progress) {
	now := workloads.Progress{Measuring: true, Elapsed: elapsed}
	for i, name := range agents {
		s := f.states[name]
		if i == 0 || s.Unanswered < now.Unanswered { // while rounds end in one, the service answers
			now.Unanswered = s.Unanswered
		}
		now.Rounds, now.Errors, now.CPUCores = now.Rounds+s.Rounds, now.Errors+s.Errors, now.CPUCores+s.CPUCores
	}
	for f.complete(elapsed, agents) {
		f.lap = f.second(agents)
		f.next++
		now.Lap = f.lap
		all = append(all, now)
	}
	if now.Lap = f.lap; len(all) == 0 {
		all = append(all, now)
	}
	return all
}

// longest returns the longest age of the window that an agent has reported.
func (f *follower) longest() (age time.Duration) {
	for _, s := range f.states {
		age = max(age, s.Elapsed)
	}
	return age
}

// complete reports whether all agents have reported the next second, or have had time to.
func (f *follower) complete(elapsed time.Duration, agents []string) bool {
	end := time.Duration(f.next+1) * time.Second
	for _, name := range agents {
		if f.states[name].Elapsed < end {
			return elapsed >= end+patience
		}
	}
	return elapsed >= end
}

// second merges the next second of the agents.
func (f *follower) second(agents []string) metrics.Lap {
	lap := metrics.Lap{Phase: f.lap.Phase}
	for _, name := range agents {
		for _, s := range f.states[name].Seconds {
			if s.Number != f.next || s.Times == nil {
				continue
			}
			h, err := hdrhistogram.Decode(s.Times)
			if err != nil {
				continue // it is only shown, and an agent of this version reports none
			}
			if sum, err := merge.Histograms(lap.Times, h); err == nil {
				lap.Times, lap.Phase = sum, f.states[name].Phase
			}
		}
	}
	if lap.Times == nil {
		return lap
	}
	at := func(percentile float64) time.Duration {
		v, _ := metrics.Percentile(lap.Times, percentile)
		return time.Duration(v)
	}
	lap.Count, lap.P50, lap.P90, lap.P99 = lap.Times.TotalCount(), at(50), at(90), at(99)
	return lap
}

// followEvery is the time between two reports of a run's progress.
const followEvery = 500 * time.Millisecond

// follow reports the progress of all agents together, until the context ends.
func (r *running) follow(ctx context.Context) {
	for {
		workloads.Sleep(ctx, followEvery)
		if ctx.Err() != nil {
			return
		}
		for _, now := range r.progress(ctx) {
			if r.plan.Progress != nil {
				r.plan.Progress(now)
			}
		}
	}
}

// progress asks all agents for their states, and merges those of the agents that are not lost.
func (r *running) progress(ctx context.Context) []workloads.Progress {
	for _, s := range r.work.Shares {
		var of state
		if found, err := r.fleet.plane.State(ctx, s.Agent, &of); err == nil && found && of.Run == r.work.Number {
			r.heard(s.Agent, of)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.follower.merge(max(r.fleet.clock.CoordinatorNow().SinceStart()-r.opens, 0), r.present())
	for i := range all {
		all[i].Elapsed = min(all[i].Elapsed, max(r.plan.Duration, r.follower.longest())) // the window has ended, and the run has not
	}
	return all
}

// A state is the progress of a part of a run.
type state struct {
	Run            int           // its number
	Elapsed        time.Duration // of the window
	Rounds, Errors int64
	CPUCores       float64
	Unanswered     time.Duration // see workloads.Progress
	Phase          string        // the form's first, which the seconds are about
	Seconds        []second      // the latest that are over
}

// A second is one second of the window.
type second struct {
	Number int    // from 0
	Times  []byte // the phase's response times, as HdrHistogram encodes them; nil if there are none
}

// keptSeconds is the number of seconds in a state. The coordinator misses none if it reads one of every
// four states.
const keptSeconds = 4

// A stateWriter collects the state of a part of a run for the coordinator.
type stateWriter struct {
	mu      sync.Mutex
	state   state
	fresh   bool                    // the coordinator does not know the state yet
	current *hdrhistogram.Histogram // the response times of the second in progress
	number  int                     // of that second
}

// add adds the progress. Its lap belongs to the second that contains the middle of the lap.
func (w *stateWriter) add(now workloads.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.close(int((w.state.Elapsed + now.Elapsed) / 2 / time.Second))
	switch {
	case now.Lap.Times == nil:
	case w.current == nil:
		w.current = now.Lap.Times.Clone()
	default:
		w.current.Merge(now.Lap.Times)
	}
	w.close(int(now.Elapsed / time.Second))
	s := &w.state
	s.Elapsed, s.Rounds, s.Errors, s.CPUCores, s.Unanswered, s.Phase = now.Elapsed, now.Rounds, now.Errors, now.CPUCores, now.Unanswered, now.Lap.Phase
	w.fresh = true
}

// close ends all seconds before the given one.
func (w *stateWriter) close(before int) {
	for ; w.number < before; w.number++ {
		s := second{Number: w.number}
		if w.current != nil && w.current.TotalCount() > 0 {
			s.Times, _ = w.current.Encode(hdrhistogram.V2CompressedEncodingCookieBase) // into memory, which cannot fail
		}
		w.current = nil
		w.state.Seconds = append(w.state.Seconds, s)
		w.state.Seconds = w.state.Seconds[max(0, len(w.state.Seconds)-keptSeconds):]
	}
}

// latest returns the state, and false if it was returned before.
func (w *stateWriter) latest() (state, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := w.fresh
	w.fresh = false
	s := w.state
	s.Seconds = append([]second(nil), s.Seconds...)
	return s, fresh
}

// writeEvery is the time between two states that an agent writes.
const writeEvery = 500 * time.Millisecond

// writeStates writes the states for the coordinator until end is called.
func (p *agentRun) writeStates(ctx context.Context, w *stateWriter) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			workloads.Sleep(ctx, writeEvery)
			if s, fresh := w.latest(); fresh {
				_ = p.agent.Plane.SetState(ctx, p.agent.Name, s) // the result does not depend on it
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
