package draw_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stampede-bench/stampede/workloads/draw"
)

// drawn returns how often each size was chosen in many draws.
func drawn(by draw.Distribution, most int) map[int]float64 {
	const draws = 100_000
	next, share := by.Sizes(most, rand.New(rand.NewPCG(1, 2))), map[int]float64{}
	for range draws {
		share[next()] += 1. / draws
	}
	return share
}

// TestSizes compares the shares of sizes with the probabilities that define each distribution.
func TestSizes(t *testing.T) {
	zipf, sum := map[int]float64{}, 0.
	for k := 1; k <= 10; k++ {
		zipf[k] = math.Pow(float64(k), -1.1)
		sum += zipf[k]
	}
	for k := range zipf {
		zipf[k] /= sum
	}
	uniform := map[int]float64{}
	for k := 1; k <= 10; k++ {
		uniform[k] = 0.1
	}
	for by, want := range map[draw.Distribution]map[int]float64{
		"":             {10: 1},
		draw.Constant:  {10: 1},
		draw.Uniform:   uniform,
		draw.Zipfian:   zipf,
		"4=3,10=1,0=4": {4: 3. / 8, 10: 1. / 8, 0: 1. / 2},
	} {
		got := drawn(by, 10)
		for size, share := range want {
			if math.Abs(got[size]-share) > 0.01 {
				t.Errorf("%q: %.3f of the values have size %d, want %.3f", by, got[size], size, share)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q: %d sizes, want %d", by, len(got), len(want))
		}
	}
	if got := drawn(draw.Zipfian, 0); got[0] < 0.999 {
		t.Errorf("values of at most 0 bytes: %v", got)
	}
}

func TestHistogram(t *testing.T) {
	size := func(text string) (int, error) {
		if text == "1k" {
			return 1000, nil
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			err = errors.New("want bytes")
		}
		return n, err
	}
	by, most, err := draw.Histogram("100=90,1k=9.50", size)
	if by != "100=90,1000=9.5" || most != 1000 || err != nil {
		t.Errorf("%q, at most %d, %v", by, most, err)
	}
	for text, want := range map[string]string{
		"x=1":       "x=1: want bytes",
		"100=1,":    ": want bytes",
		"100":       "100: want SIZE=WEIGHT with a weight above 0, such as 1k=9",
		"100=0":     "100=0: want SIZE=WEIGHT with a weight above 0, such as 1k=9",
		"5=1,5=NaN": "5=NaN: want SIZE=WEIGHT with a weight above 0, such as 1k=9",
	} {
		if _, _, err := draw.Histogram(text, size); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
