package main

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results/units"
)

// A goal is the wanted result of a comparison.
type goal struct {
	words string
	met   func(comparison) bool
}

func ratioAtLeast(bound float64) goal {
	return goal{words("ratio ≥", bound, ""), func(c comparison) bool { return c.ratio >= bound }}
}

func ratioAtMost(bound float64) goal {
	return goal{words("ratio ≤", bound, ""), func(c comparison) bool { return c.ratio <= bound }}
}

func leftBelow(bound float64, unit string) goal {
	return goal{words("<", bound, unit), func(c comparison) bool { return c.left < bound }}
}

func leftAtMost(bound float64, unit string) goal {
	return goal{words("≤", bound, unit), func(c comparison) bool { return c.left <= bound }}
}

func exactly(bound float64) goal {
	return goal{words("=", bound, ""), func(c comparison) bool { return c.left == bound }}
}

// none waits for a comparison without a goal.
var none = goal{words: "–"}

func words(sign string, bound float64, unit string) string {
	return strings.TrimSpace(sign + " " + strconv.FormatFloat(bound, 'g', 3, 64) + " " + unit)
}

// The formats of figures. NaN is a figure that was not measured.

func whole(v float64) string {
	if math.IsNaN(v) {
		return units.Absent
	}
	return units.Count(int64(math.Round(v)))
}

func perSecond(v float64) string {
	if math.IsNaN(v) {
		return units.Absent
	}
	return units.Rate(v) + "/s"
}

func count(v float64) string     { return units.Rate(v) }
func mebibytes(v float64) string { return units.Rate(v) + " MiB" }

func duration(v float64) string {
	return units.Duration(time.Duration(v * float64(time.Second)))
}
