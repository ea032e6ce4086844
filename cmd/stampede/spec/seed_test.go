package spec

import "testing"

// TestRunSeed checks that two runs of a command, and runs of two commands, have different seeds,
// and that a program that reads JSON numbers as doubles preserves each seed.
func TestRunSeed(t *testing.T) {
	seen := map[uint64]bool{}
	for command := range uint64(30) {
		for nth := range 100 {
			seed := RunSeed(command, nth)
			if seen[seed] || seed != uint64(float64(seed)) || seed != RunSeed(command, nth) {
				t.Fatalf("run %d of seed %d has seed %d", nth, command, seed)
			}
			seen[seed] = true
		}
	}
}
