package figures

import "github.com/stampede-bench/stampede/results"

// A Figure is one number of a run.
type Figure struct {
	Name   string // e.g. "acquire.response.p99"
	Unit   Unit
	Better Direction
	// Timed says that it depends on how fast the machine is and what else it
	// does: such a figure proves nothing in a run that was disturbed.
	Timed bool
	// About says in a few words what it is.
	About string

	of func(results.Run) (float64, bool)
}

// A Unit is what a figure's value counts.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"
	Bytes       Unit = "B"
	PerSecond   Unit = "/s"
	PerRound    Unit = "/round"
	Share       Unit = "share" // 0 to 1
	Number      Unit = ""      // how many
)

// A Direction is which of two values of a figure is the better one.
type Direction int

// The directions.
const (
	Less    Direction = iota // latencies, costs, violations
	More                     // throughput, fairness
	Neither                  // what says how much was done
)

// Of is the figure's value of the run. It is not known where the run has no such
// thing, or too few observations for it.
func (f Figure) Of(r results.Run) (value float64, known bool) { return f.of(r) }

// Format writes a value of the figure with its unit and three significant
// digits: "1.25 ms", "3.00", "870 /s", "99.0 %".
func (f Figure) Format(v float64) string { return results.Value(v, string(f.Unit)) }
