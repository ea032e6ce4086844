package draw

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// OfSizes returns the distributions of sizes that have a name.
func OfSizes() []string { return []string{string(Constant), string(Uniform), string(Zipfian)} }

// Sizes returns a function that chooses the size of a value, of at most the given number of bytes. The zero
// Distribution is Constant.
func (by Distribution) Sizes(most int, random *rand.Rand) func() int {
	switch {
	case by == "", by == Constant, most == 0:
		return func() int { return most }
	case by == Uniform:
		return func() int { return 1 + random.IntN(most) }
	case by == Zipfian:
		k := zipfian(most, random)
		return func() int { return 1 + k() }
	}
	all, _, _ := buckets(string(by), strconv.Atoi)
	return func() int {
		at := random.Float64() * all[len(all)-1].upTo
		for _, b := range all {
			if at < b.upTo {
				return b.size
			}
		}
		return all[len(all)-1].size
	}
}

// IsHistogram reports whether the text has the form of a histogram.
func IsHistogram(text string) bool { return strings.Contains(text, "=") }

// Histogram parses a histogram of sizes, "SIZE=WEIGHT,…", and returns it with the sizes in bytes, and the
// largest of them. size parses a size. Weights are relative: their sum does not matter.
func Histogram(text string, size func(string) (int, error)) (by Distribution, most int, err error) {
	all, weights, err := buckets(text, size)
	if err != nil {
		return "", 0, err
	}
	var words []string
	for i, b := range all {
		words, most = append(words, fmt.Sprintf("%d=%s", b.size, weights[i])), max(most, b.size)
	}
	return Distribution(strings.Join(words, ",")), most, nil
}

// A bucket is a size of a histogram, with the sum of the weights up to its own.
type bucket struct {
	size int
	upTo float64
}

func buckets(text string, size func(string) (int, error)) (all []bucket, weights []string, err error) {
	sum := 0.
	for word := range strings.SplitSeq(text, ",") {
		name, weight, _ := strings.Cut(word, "=")
		n, err := size(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", word, err)
		}
		w, err := strconv.ParseFloat(weight, 64)
		if err != nil || !(w > 0 && w <= 1e9) {
			return nil, nil, fmt.Errorf("%s: want SIZE=WEIGHT with a weight above 0, such as 1k=9", word)
		}
		sum += w
		all, weights = append(all, bucket{n, sum}), append(weights, strconv.FormatFloat(w, 'f', -1, 64))
	}
	return all, weights, nil
}
