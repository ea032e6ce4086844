package main

import (
	"math"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
)

const (
	// spare is the ratio of the observations that a run of a search aims at to those that its
	// figure needs: the next level may yield fewer.
	spare = 2
	// longestRun bounds how far a search extends a run.
	longestRun = 5 * time.Minute
)

// A runLength computes how long the runs of a search must be for their figure to be known. It
// learns from each run, since only a run shows how many observations a round yields (not every
// round has an observation of every phase) and how many rounds a closed loop does in a second.
type runLength struct {
	need     int64   // observations
	perRound float64 // observations; 0 before the first run
	perS     float64 // observations a second; 0 before the first run
}

// learn records how many observations a run had.
func (l *runLength) learn(r results.Run, observations int64) {
	if observations > 0 {
		l.perRound = float64(observations) / float64(max(r.Rounds, 1))
		l.perS = float64(observations) / r.DurationNS.Seconds()
	}
}

// set returns the flags with a run that is long enough.
func (l *runLength) set(f spec.Flags) spec.Flags {
	wanted := spare * l.need // observations
	rounds := int64(wanted)
	if l.perRound > 0 {
		rounds = int64(math.Ceil(float64(wanted) / l.perRound))
	}
	switch {
	case f.Load.IsOpen():
		f.Run.Duration = longer(f.Run.Duration, f.Load.WindowOf(rounds))
	case f.Run.Rounds > 0:
		f.Run.Rounds = max(f.Run.Rounds, rounds)
	case l.perS > 0:
		f.Run.Duration = longer(f.Run.Duration, time.Duration(float64(wanted)/l.perS*float64(time.Second)))
	}
	return f
}

// longer returns the duration asked for, or the needed one if that is longer, up to longestRun.
func longer(asked, needed time.Duration) time.Duration {
	return max(asked, min(needed, longestRun))
}
