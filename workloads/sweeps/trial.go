package sweeps

import (
	"fmt"

	"github.com/stampede-bench/stampede/results/stats"
)

// An Outcome is the result of one run at a level.
type Outcome int

// The outcomes.
const (
	Undecided Outcome = iota // the run is too short, or it measured the load generator
	Met
	Missed
)

// A Trial is one run at a level.
type Trial struct {
	Outcome Outcome
	// Slack is the distance of the figure from its limit, on a scale on which runs scatter evenly;
	// it is negative if the limit is exceeded. It is known if the run is decided.
	Slack float64
	Why   string // why it did not meet the objective
}

// searchRuns is the most runs that a search spends to see whether a level holds: one bad run does
// not rule a level out.
const searchRuns = 3

// A tally holds the measurements of a level.
type tally struct {
	Trials
	undecided  int
	confidence float64 // of the confirmation; 0 without one
	why        string  // why a run missed the objective
	whyNot     string  // why a run was undecided
}

func (t *tally) missed() int { return t.Of - t.Met }

// open reports whether the level may still hold: more of its runs were undecided than missed the
// objective, or it is the lowest level and none missed it.
func (t *tally) open(lowest bool) bool {
	return t.undecided > t.missed() || lowest && t.missed() == 0
}

// reason says why the level was not confirmed.
func (t *tally) reason() string {
	switch {
	case t.undecided > t.missed():
		return t.whyNot
	case t.missed() > 0:
		return t.why
	}
	return fmt.Sprintf("the runs vary: the next one meets the objective with a probability of only %.0f %%", 100*t.confidence)
}

// try measures a level of the grid once.
func (s *Search) try(i int) (Trial, error) {
	trial, err := s.Try(s.Grid[i])
	if err != nil {
		return Trial{}, err
	}
	t := s.tallies[i]
	switch trial.Outcome {
	case Undecided:
		t.undecided, t.whyNot = t.undecided+1, trial.Why
	case Met:
		t.Met, t.Of = t.Met+1, t.Of+1
	case Missed:
		t.Of, t.why = t.Of+1, trial.Why
	}
	return trial, nil
}

// holds reports whether a level seems to hold: its first decided run met the objective, or two of
// three did.
func (s *Search) holds(i int) (bool, error) {
	t := s.tallies[i]
	for range searchRuns {
		if _, err := s.try(i); err != nil {
			return false, err
		}
		switch {
		case t.Met > t.missed():
			return true, nil
		case t.missed() == 2 || t.undecided == 2:
			return false, nil
		}
	}
	return false, nil
}

// confirm reports whether a level holds: fresh runs all meet the objective, and scatter so little
// that the next one meets it too with a probability of at least [stats.Confidence].
func (s *Search) confirm(i int) (bool, error) {
	t := s.tallies[i]
	var slacks []float64
	for undecided := 0; len(slacks) < s.Times; {
		trial, err := s.try(i)
		if err != nil {
			return false, err
		}
		switch trial.Outcome {
		case Missed:
			return false, nil
		case Met:
			slacks = append(slacks, trial.Slack)
		case Undecided:
			if undecided++; undecided == searchRuns {
				return false, nil
			}
		}
	}
	t.confidence = stats.Next(slacks)
	return t.confidence >= stats.Confidence, nil
}
