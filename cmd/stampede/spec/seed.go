package spec

import "math/rand/v2"

// DrawSeed draws the command's seed unless one is given.
func (f *Flags) DrawSeed() {
	if f.Seed == 0 {
		f.Seed = rand.Uint64N(1 << 32)
	}
}

// seedBits is the number of bits of an integer that every JSON reader preserves.
const seedBits = 53

// RunSeed returns the seed of a command's nth run, counted from 0. The command's seed and the run's
// place in the result determine it. Each run has its own seed, so that repetitions have different
// arrivals.
func RunSeed(command uint64, nth int) uint64 {
	return rand.NewPCG(command, uint64(nth)).Uint64() >> (64 - seedBits)
}
