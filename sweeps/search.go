package sweeps

import "math"

// A Search looks for the highest level of a rising grid that holds.
type Search struct {
	Grid  []float64
	Times int // a level is tried to confirm it
	// Try measures a level once.
	Try func(level float64) (holds bool, err error)

	trials map[int]Trials
}

// Trials are how many times a level was tried, and met what it had to.
type Trials struct{ Met, Of int }

// Found is the answer of a search.
type Found struct {
	Level float64 // the highest that held every time; 0 if the lowest does not
	At    Trials
	Next  float64 // the level after it, which did not hold every time; 0 if there is none
	After Trials
}

// Highest goes up from the lowest level by doubling until one does not hold, halves
// what is between on the geometric scale, and confirms the answer: so many trials
// of it that all hold, and as many of the next level of which one does not, with
// which they end. Where that shows that luck had a part it moves on by single
// levels.
func (s *Search) Highest() (Found, error) {
	s.trials = map[int]Trials{}
	holds, fails, err := s.bracket()
	for err == nil && fails-holds > 1 {
		middle := (holds + fails) / 2
		var held bool
		if held, err = s.try(middle); held {
			holds = middle
		} else {
			fails = middle
		}
	}
	if err != nil {
		return Found{}, err
	}
	return s.confirm(holds)
}

// bracket returns a level that held, -1 if none did, and one above it that did
// not, the grid's length if all did.
func (s *Search) bracket() (holds, fails int, err error) {
	holds = -1
	for i := 0; ; i = s.double(i) {
		held, err := s.try(i)
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

// double is the first level that is twice the i-th or more, or the last.
func (s *Search) double(i int) int {
	j := i + 1
	for j < len(s.Grid)-1 && s.Grid[j] < 2*s.Grid[i]*(1-1e-9) {
		j++
	}
	return min(j, len(s.Grid)-1)
}

func (s *Search) confirm(holds int) (Found, error) {
	for {
		next := holds + 1
		if err := s.repeat(holds); err != nil {
			return Found{}, err
		}
		if holds >= 0 && !s.always(holds) {
			holds--
			continue
		}
		if err := s.repeat(next); err != nil {
			return Found{}, err
		}
		if next < len(s.Grid) && s.always(next) {
			holds = next
			continue
		}
		return s.found(holds), nil
	}
}

// repeat tries a level of the grid as often as it takes to confirm it, or until
// that is out of the question.
func (s *Search) repeat(i int) error {
	if i < 0 || i >= len(s.Grid) {
		return nil
	}
	for s.always(i) && s.trials[i].Of < s.Times {
		if _, err := s.try(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Search) always(i int) bool { return s.trials[i].Met == s.trials[i].Of }

func (s *Search) try(i int) (bool, error) {
	held, err := s.Try(s.Grid[i])
	t := s.trials[i]
	t.Of++
	if held {
		t.Met++
	}
	s.trials[i] = t
	return held, err
}

func (s *Search) found(holds int) (f Found) {
	if holds >= 0 {
		f.Level, f.At = s.Grid[holds], s.trials[holds]
	}
	if next := holds + 1; next < len(s.Grid) {
		f.Next, f.After = s.Grid[next], s.trials[next]
	}
	return f
}

// Most is about how many runs a search takes.
func (s *Search) Most() int {
	span := s.Grid[len(s.Grid)-1] / s.Grid[0]
	step := float64(len(s.Grid)) / max(1, math.Log2(span))
	return int(math.Log2(span)+math.Log2(max(2, step))) + 2*s.Times
}
