package metric

import (
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A Metric is one number of a run.
type Metric struct {
	Name   string // e.g. "acquire.response.p99"
	Unit   Unit
	Better Direction
	// Timed says that the metric depends on the speed of the machine and on its other load. Such a
	// metric proves nothing in a disturbed run.
	Timed bool
	// About describes the metric in a few words.
	About string

	of func(results.Run) (float64, bool)
}

// A Unit is the unit of a metric's values.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"
	Bytes       Unit = "B"
	PerSecond   Unit = "/s"
	PerRound    Unit = "/round"
	Share       Unit = "share" // 0 to 1
	Number      Unit = ""      // a count or a ratio
)

// A Direction says which of two values of a metric is better.
type Direction int

// The directions.
const (
	Less    Direction = iota // latencies, costs, violations
	More                     // throughput, fairness
	Neither                  // amounts of work, which are neither good nor bad
)

// Of returns the metric's value for the run. The value is not known if the run has no such
// measurement, or too few observations of it.
func (f Metric) Of(r results.Run) (value float64, known bool) { return f.of(r) }

// Format formats a value of the metric with its unit and three significant digits: "1.25 ms", "3.00",
// "870 /s", "99.0 %".
func (f Metric) Format(v float64) string { return units.Value(v, string(f.Unit)) }
