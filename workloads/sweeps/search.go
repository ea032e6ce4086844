package sweeps

import (
	"math"
	"math/rand/v2"
	"time"
)

// A Search looks for the highest level of an ascending grid at which runs meet an objective.
type Search struct {
	Grid  []float64
	Times int // runs that confirm a level, at least 2
	// Try measures a level once.
	Try func(level float64) (Trial, error)

	tallies map[int]*tally
}

// Trials counts the decided runs at a level, and those of them that met the objective.
type Trials struct{ Met, Of int }

// Found is the answer of a search.
type Found struct {
	Level      float64 // the highest confirmed level; 0 if there is none
	At         Trials
	Confidence float64 // the probability that the next run at Level meets the objective, 0 to 1
	Next       float64 // the next higher level, which was not confirmed; 0 if there is none
	After      Trials
	Why        string // why Next was not confirmed
	// Undecided says that the runs at Next do not show whether it holds, so that the answer may be
	// higher than Level.
	Undecided bool
}

// Highest goes up from the lowest level by doubling until a level does not hold, and bisects
// between that level and the one below. It confirms the answer with fresh runs, since those of the
// search were selected for having met the objective. If they do not confirm it, Highest goes down
// to a level that they do confirm.
func (s *Search) Highest() (Found, error) {
	s.tallies = map[int]*tally{}
	for i := range s.Grid {
		s.tallies[i] = &tally{}
	}
	holds, fails, err := s.bracket()
	if err == nil {
		holds, err = bisect(holds, fails, s.holds)
	}
	if err == nil {
		holds, err = s.descend(holds)
	}
	if err != nil {
		return Found{}, err
	}
	return s.found(holds), nil
}

// bisect finds the highest level that passes the test, between a level that is known to hold, or
// -1, and one that is known not to, or the grid's length.
func bisect(holds, fails int, test func(int) (bool, error)) (int, error) {
	for fails-holds > 1 {
		middle := (holds + fails) / 2
		held, err := test(middle)
		switch {
		case err != nil:
			return 0, err
		case held:
			holds = middle
		default:
			fails = middle
		}
	}
	return holds, nil
}

// bracket returns a level that holds, -1 if none does, and a higher one that does not, the grid's
// length if all do.
func (s *Search) bracket() (holds, fails int, err error) {
	holds = -1
	for i := 0; ; i = s.double(i) {
		held, err := s.holds(i)
		switch {
		case err != nil:
			return 0, 0, err
		case !held:
			return holds, i, nil
		case i == len(s.Grid)-1:
			return i, len(s.Grid), nil
		}
		holds = i
	}
}

// double returns the first level that is at least twice the i-th, or the last.
func (s *Search) double(i int) int {
	j := i + 1
	for j < len(s.Grid)-1 && s.Grid[j] < 2*s.Grid[i]*(1-1e-9) {
		j++
	}
	return min(j, len(s.Grid)-1)
}

// descend finds the highest confirmed level, starting at a level that seems to hold: it goes down by
// growing steps, then bisects.
func (s *Search) descend(seems int) (int, error) {
	fails := seems + 1
	for step := 1; fails > 0; step *= 2 {
		i := max(fails-step, 0)
		confirmed, err := s.confirm(i)
		if err != nil {
			return 0, err
		}
		if confirmed {
			return bisect(i, fails, s.confirm)
		}
		fails = i
	}
	return -1, nil
}

func (s *Search) found(holds int) (f Found) {
	if holds >= 0 {
		t := s.tallies[holds]
		f.Level, f.At, f.Confidence = s.Grid[holds], t.Trials, t.confidence
	}
	if next := holds + 1; next < len(s.Grid) {
		t := s.tallies[next]
		f.Next, f.After = s.Grid[next], t.Trials
		f.Why, f.Undecided = t.reason(), t.open(holds < 0)
	}
	return f
}

// Most estimates the number of runs that a search takes.
func (s *Search) Most() int {
	span := s.Grid[len(s.Grid)-1] / s.Grid[0]
	step := float64(len(s.Grid)) / max(1, math.Log2(span))
	return int(math.Log2(span)+1.5*math.Log2(max(2, step))) + 3*s.Times
}

// A Level is one setting of everything that can be an axis.
type Level struct {
	Clients, Groups int
	Hold            time.Duration
	SessionTimeout  time.Duration // 0 if it is not an axis
	Rate            float64       // arrivals per second; 0 for a closed loop
	Reads           float64       // the share of reads in a mix; 0 if it is not an axis
	Size            int           // of a mix's values, in bytes; 0 if it is not an axis
}

// A Cell is one run: a form on a service, by its index among the sweep's subjects, at a level.
type Cell struct {
	Subject int
	Level   Level
}

// Order returns the order in which every subject is measured at every level, with the given number
// of repetitions. Each repetition goes through all cells in its own random order, so that changes
// over time affect all levels and forms alike.
func Order(levels []Level, subjects, repeat int, seed uint64) (cells []Cell) {
	random := rand.New(rand.NewPCG(seed, 0))
	for range repeat {
		from := len(cells)
		for _, l := range levels {
			for s := range subjects {
				cells = append(cells, Cell{s, l})
			}
		}
		block := cells[from:]
		random.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
	}
	return cells
}
