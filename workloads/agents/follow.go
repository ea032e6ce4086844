package agents

import (
	"context"
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
	for _, name := range agents {
		s := f.states[name]
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
	all := r.follower.merge(max(r.fleet.clock.CoordinatorNow().Since()-r.opens, 0), r.present())
	for i := range all {
		all[i].Elapsed = min(all[i].Elapsed, max(r.plan.Duration, r.follower.longest())) // the window has ended, and the run has not
	}
	return all
}
