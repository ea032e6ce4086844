package stats

import "math/rand/v2"

// Orders says for each pair whether its new side runs first. The order is drawn from the seed,
// independently for each pair, so noise of any period or memory falls on either side with the
// same probability, and [PairsP] is exact whatever the noise. A fixed order such as base, new,
// new, base resonates with noise of that period.
func Orders(seed uint64, pairs int) []bool {
	random := rand.New(rand.NewPCG(seed, 1))
	newFirst := make([]bool, pairs)
	for i := range newFirst {
		newFirst[i] = random.IntN(2) == 1
	}
	return newFirst
}
