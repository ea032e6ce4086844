package sweeps

import (
	"math/rand/v2"
	"time"
)

// A Level is one setting of everything that has an axis.
type Level struct {
	Clients, Groups int
	Hold            time.Duration
	Rate            float64 // arrivals a second; 0 for a closed loop
	Reads           float64 // the share of them in a mix; 0 where it is no axis
	Size            int     // of a mix's values, in bytes; 0 where it is no axis
}

// A Cell is one run: a form on a service, by its index among those that are
// swept, at a level.
type Cell struct {
	Subject int
	Level   Level
}

// Order is the order in which every subject is measured at every level, so many
// times: each repetition goes through all of them, in a random order of its own,
// so that what changes with time falls on all levels and forms alike.
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
