package sweeps

import (
	"math/rand/v2"
	"time"
)

// A Level is one setting of everything that can be an axis.
type Level struct {
	Clients, Groups int
	Hold            time.Duration
	Rate            float64 // arrivals per second; 0 for a closed loop
	Reads           float64 // the share of reads in a mix; 0 if it is not an axis
	Size            int     // of a mix's values, in bytes; 0 if it is not an axis
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
