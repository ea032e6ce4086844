package draw

import "math/rand/v2"

// A Distribution says how keys or sizes are chosen: by its name, or for sizes also by a histogram of them, as
// [Histogram] returns it.
type Distribution string

const (
	// Constant always chooses the largest size.
	Constant Distribution = "constant"
	// Uniform chooses every key, or every size up to the largest, with the same probability.
	Uniform Distribution = "uniform"
	// Zipfian chooses the k-th key, or the size k, with a probability proportional to 1/k^1.1, so that a few keys
	// are hot, and most values small.
	Zipfian Distribution = "zipfian"
)

// OfKeys returns the distributions of keys.
func OfKeys() []string { return []string{string(Uniform), string(Zipfian)} }

// Keys returns a function that chooses one of n keys. The zero Distribution is Uniform.
func (by Distribution) Keys(n int, random *rand.Rand) func() int {
	if by != Zipfian {
		return func() int { return random.IntN(n) }
	}
	return zipfian(n, random)
}

// zipfExponent must be above 1.
const zipfExponent = 1.1

// zipfian returns a function that chooses one of n numbers from 0, of which small ones are frequent.
func zipfian(n int, random *rand.Rand) func() int {
	z := rand.NewZipf(random, zipfExponent, 1, uint64(n-1))
	return func() int { return int(z.Uint64()) }
}
