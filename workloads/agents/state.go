package agents

import (
	"context"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/workloads"
)

// A state is the progress of a part of a run.
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

// keptSeconds is the number of seconds in a state. The coordinator misses none if it reads one of every four states.
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
	s.Elapsed, s.Rounds, s.Errors, s.CPUCores, s.Phase = now.Elapsed, now.Rounds, now.Errors, now.CPUCores, now.Lap.Phase
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
func (p *part) writeStates(ctx context.Context, w *stateWriter) (end func()) {
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
