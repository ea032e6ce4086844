package main

import (
	"math"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

const (
	// spare is how many times the observations that a figure takes a run of a search
	// should have: the next level may have fewer.
	spare = 2
	// leastRounds are enough for the medians of all phases, which have an observation for
	// nearly every round. A run lasts until they have ended, up to extendedBy times
	// --duration, and no longer than extendedTo.
	leastRounds = 3 * metrics.Beyond
	extendedBy  = 10
	extendedTo  = 30 * time.Second
	// longestRun bounds how long a search makes a run by itself.
	longestRun = 5 * time.Minute
)

// A runLength is how long the runs of a search must be for its figure to be known. It
// learns from each run: not every round has an observation of every phase, and how
// many rounds a closed loop does in a second only a run tells.
type runLength struct {
	need     int64   // observations
	perRound float64 // observations; 0 before the first run
	perS     float64 // observations a second; 0 before the first run
}

// learn takes note of how many observations a run had.
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

// durationLimit is how long a run may be measured until enough rounds have ended.
func (f *runFlags) durationLimit() time.Duration {
	return max(f.duration, min(extendedBy*f.duration, extendedTo))
}

// longer is the duration asked for, or a longer one that is needed, up to longestRun.
func longer(asked, needed time.Duration) time.Duration {
	return max(asked, min(needed, longestRun))
}
