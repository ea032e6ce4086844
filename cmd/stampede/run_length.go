package main

import (
	"math"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

const (
	// spare is the ratio of the observations that a run of a search aims at to those that its
	// figure needs: the next level may yield fewer.
	spare = 2
	// leastRounds is enough for the medians of all phases that have an observation in nearly every
	// round. A run lasts until that many rounds have ended, up to extendedBy times --duration, and
	// no longer than extendedTo.
	leastRounds = 3 * metrics.Beyond
	extendedBy  = 10
	extendedTo  = 30 * time.Second
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
func (l *runLength) set(f runFlags) runFlags {
	wanted := spare * l.need // observations
	rounds := int64(wanted)
	if l.perRound > 0 {
		rounds = int64(math.Ceil(float64(wanted) / l.perRound))
	}
	switch {
	case f.load.isOpen():
		f.duration = longer(f.duration, f.load.windowOf(rounds))
	case f.rounds > 0:
		f.rounds = max(f.rounds, rounds)
	case l.perS > 0:
		f.duration = longer(f.duration, time.Duration(float64(wanted)/l.perS*float64(time.Second)))
	}
	return f
}

// durationLimit returns how long a run may be extended while too few rounds have ended.
func (f *runFlags) durationLimit() time.Duration {
	return max(f.duration, min(extendedBy*f.duration, extendedTo))
}

// longer returns the duration asked for, or the needed one if that is longer, up to longestRun.
func longer(asked, needed time.Duration) time.Duration {
	return max(asked, min(needed, longestRun))
}
