package agents

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/workloads"
)

// A state is how far a part of a run is.
type state struct {
	Run            int           // its number
	Elapsed        time.Duration // of the window
	Rounds, Errors int64
	CPUCores       float64
	Phase          string   // the form's first, which the seconds are about
	Seconds        []second // the latest that are over
}

// A second is one second of the window.
type second struct {
	Number int    // from 0
	Times  []byte // the phase's response times, as HdrHistogram encodes them; nil if there are none
}

// toldSeconds is how many seconds a state has. The coordinator misses none if it sees every fourth state.
const toldSeconds = 4

// A teller tells the coordinator the state of a part of a run.
type teller struct {
	mu      sync.Mutex
	state   state
	fresh   bool                    // the coordinator does not know the state yet
	current *hdrhistogram.Histogram // the response times of the second in progress
	number  int                     // of that second
}

// add takes note of the progress. Its lap belongs to the second that has the middle of it.
func (t *teller) add(now workloads.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.close(int((t.state.Elapsed + now.Elapsed) / 2 / time.Second))
	switch {
	case now.Lap.Times == nil:
	case t.current == nil:
		t.current = now.Lap.Times.Clone()
	default:
		t.current.Merge(now.Lap.Times)
	}
	t.close(int(now.Elapsed / time.Second))
	s := &t.state
	s.Elapsed, s.Rounds, s.Errors, s.CPUCores, s.Phase = now.Elapsed, now.Rounds, now.Errors, now.CPUCores, now.Lap.Phase
	t.fresh = true
}

// close ends all seconds before the given one.
func (t *teller) close(before int) {
	for ; t.number < before; t.number++ {
		s := second{Number: t.number}
		if t.current != nil && t.current.TotalCount() > 0 {
			s.Times, _ = t.current.Encode(hdrhistogram.V2CompressedEncodingCookieBase) // into memory, which cannot fail
		}
		t.current = nil
		t.state.Seconds = append(t.state.Seconds, s)
		t.state.Seconds = t.state.Seconds[max(0, len(t.state.Seconds)-toldSeconds):]
	}
}

// latest returns the state, and false if it was returned before.
func (t *teller) latest() (state, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := t.fresh
	t.fresh = false
	s := t.state
	s.Seconds = append([]second(nil), s.Seconds...)
	return s, fresh
}

// tellEvery is the time between two states that an agent tells.
const tellEvery = 500 * time.Millisecond

// tell tells the coordinator the states, until end is called.
func (p *part) tell(ctx context.Context, t *teller) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			workloads.Sleep(ctx, tellEvery)
			if s, fresh := t.latest(); fresh {
				_ = p.agent.Plane.Tell(ctx, p.agent.Name, s) // the result does not depend on it
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
