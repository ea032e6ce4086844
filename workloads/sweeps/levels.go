package sweeps

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// A Kind is the type of an axis's values.
type Kind struct {
	example string
	parse   func(string) (float64, error)
	unit    float64 // every value is a multiple of it; 0 for any value
	step    float64 // default difference of a range's values; 0: each value doubles the one before
}

// Whole returns the kind of whole numbers that are multiples of unit, starting at unit.
func Whole(unit int) Kind {
	return Kind{"a number such as 64, levels such as 2,8,32 or a range such as 2..256", func(s string) (float64, error) {
		n, err := strconv.Atoi(s)
		return float64(n), err
	}, float64(unit), 0}
}

// Rates returns the kind of positive numbers per second.
func Rates() Kind {
	return Kind{"arrivals per second such as 500, levels such as 100,200,400 or a range such as 100..6400", func(s string) (float64, error) {
		return strconv.ParseFloat(strings.TrimSuffix(s, "/s"), 64)
	}, 0, 0}
}

// Durations returns the kind of durations, in nanoseconds.
func Durations() Kind {
	return Kind{"a duration such as 1ms, levels such as 0,1ms,10ms or a range such as 1ms..64ms", func(s string) (float64, error) {
		d, err := time.ParseDuration(s)
		return float64(d), err
	}, 1, 0}
}

// Sizes returns the kind of sizes in bytes, written with or without a unit.
func Sizes() Kind {
	return Kind{"bytes such as 1k, levels such as 0,100,1KiB or a range such as 100..100k", func(s string) (float64, error) {
		n, err := humanize.ParseBytes(s)
		return float64(n), err
	}, 1, 0}
}

// Shares returns the kind of shares between 0 and 1. A range of shares may begin at 0, and its
// levels are evenly spaced.
func Shares() Kind {
	return Kind{"a share such as 0.9, levels such as 0,0.5,1 or a range such as 0..1", func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err == nil && v > 1 {
			err = strconv.ErrRange
		}
		return v, err
	}, 0, 0.25}
}

// Levels parses the levels of an axis: "64", "2,8,32", or a range such as "2..256". A range has n
// levels from one end to the other, evenly spaced on the kind's scale. With n 0, each level doubles
// the one before; shares go in steps of 0.25.
func (k Kind) Levels(text string, n int) (levels []float64, err error) {
	low, high, isRange := strings.Cut(text, "..")
	words := strings.Split(text, ",")
	if isRange {
		words = []string{low, high}
	}
	for _, w := range words {
		v, err := k.parse(w)
		if err != nil || v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q: want %s", text, k.example)
		}
		levels = append(levels, v)
	}
	if isRange {
		if levels, err = k.span(levels[0], levels[1], n); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	slices.Sort(levels)
	return slices.Compact(levels), nil
}

// span returns the levels of a range on the kind's scale.
func (k Kind) span(low, high float64, n int) ([]float64, error) {
	switch {
	case k.step > 0 && low < high:
		return k.evenly(low, high, n), nil
	case k.step > 0:
		return nil, errors.New("a range must go from a share to a greater one")
	case 0 < low && low < high:
		return k.levelsBetween(low, high, n), nil
	}
	return nil, errors.New("a range must go from a positive number to a greater one")
}

// evenly returns the levels of a range on a linear scale, including its ends.
func (k Kind) evenly(low, high float64, n int) []float64 {
	step := k.step
	if n > 1 {
		step = (high - low) / float64(n-1)
	}
	levels := []float64{low}
	for v := low + step; v < high-step/2; v += step {
		levels = append(levels, k.round(v))
	}
	return append(levels, high)
}

// levelsBetween returns the levels of a range on a logarithmic scale, including its ends.
func (k Kind) levelsBetween(low, high float64, n int) []float64 {
	ratio := 2.
	if n > 1 {
		ratio = math.Pow(high/low, 1/float64(n-1))
	}
	levels := []float64{low}
	for v := low * ratio; v < high/math.Sqrt(ratio); v *= ratio {
		levels = append(levels, k.round(v))
	}
	return append(levels, high)
}

// Grid returns a geometric scale from low to high. The ratio of adjacent levels is about step, such
// as 1.05.
func (k Kind) Grid(low, high, step float64) []float64 {
	n := int(math.Ceil(math.Log(high/low)/math.Log(step))) + 1
	grid := k.levelsBetween(low, high, max(n, 2))
	slices.Sort(grid)
	return slices.Compact(grid)
}

// round rounds a value to a multiple of the unit, or to three significant digits.
func (k Kind) round(v float64) float64 {
	if k.unit == 0 {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64) // its own output always parses
		return rounded
	}
	return max(k.unit, math.Round(v/k.unit)*k.unit)
}
