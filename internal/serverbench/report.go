package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// A side measures its figures once, for one round.
type side func(context.Context) ([]float64, error)

// A figure holds the values of a quantity by side and round.
type figure [][]float64

// compareWith compares side 0 with another side.
func (f figure) compareWith(other int) comparison { return compare(f[0], f[other]) }

// interleave measures all sides in each round, in alternating order, after one round that does not
// count. All sides measure the same number of figures.
func interleave(ctx context.Context, rounds int, sides ...side) (figures []figure, err error) {
	for round := range rounds + 1 {
		for turn := range sides {
			i := turn
			if round%2 == 1 {
				i = len(sides) - 1 - turn
			}
			values, err := sides[i](ctx)
			if err != nil {
				return nil, err
			}
			for f, v := range values {
				if f == len(figures) {
					figures = append(figures, make(figure, len(sides)))
				}
				if round > 0 {
					figures[f][i] = append(figures[f][i], v)
				}
			}
		}
	}
	return figures, nil
}

// A comparison holds the figures of two sides, which are medians over the rounds, and their ratio.
type comparison struct{ left, right, ratio stats.Estimate }

// compare compares two sides that were measured in the same rounds. The value of the ratio is that
// of the two medians, so that it agrees with the figures beside it. Its interval is that of the
// ratios within the rounds, extended to the value: where the medians and the rounds disagree, it
// contains both.
func compare(left, right []float64) comparison {
	c := comparison{left: stats.Median(left), right: stats.Median(right)}
	v := c.left.Value / c.right.Value
	if c.ratio = (stats.Estimate{Value: v, Low: v, High: v}); len(left) == 1 {
		return c
	}
	logs := make([]float64, len(left))
	for i := range logs {
		logs[i] = math.Log(left[i] / right[i])
	}
	rounds := stats.Pairs(logs).Interval(stats.Confidence)
	c.ratio.Low, c.ratio.High = min(v, math.Exp(rounds.Low)), max(v, math.Exp(rounds.High))
	return c
}

// A goal is the range in which the ratio should be, or the left figure. The zero goal is none.
type goal struct {
	words     string
	left      bool // the left figure
	low, high float64
}

func ratioAtLeast(bound float64) goal {
	return goal{ratioWords("≥", bound), false, bound, math.Inf(1)}
}

func ratioAtMost(bound float64) goal { return goal{ratioWords("≤", bound), false, 0, bound} }

func ratioWords(sign string, bound float64) string {
	return "ratio " + sign + " " + strconv.FormatFloat(bound, 'g', 3, 64)
}

func leftBelow(bound float64, unit string) goal {
	return goal{"< " + units.Value(bound, unit), true, 0, math.Nextafter(bound, 0)}
}

func leftAtMost(bound float64, unit string) goal {
	return goal{"≤ " + units.Value(bound, unit), true, 0, bound}
}

func exactly(bound float64) goal { return goal{"= " + units.Value(bound, ""), true, bound, bound} }

// A table names the sides that its rows compare.
type table int

const (
	toZooKeeper table = iota
	toFloor
	toGoZooKeeper
	toLoop
)

// tables returns the names of the sides of each table.
func tables() [][2]string {
	return [][2]string{{"native", "ZooKeeper"}, {"native", "floor"}, {"lean client", "go-zookeeper"}, {"mix", "bare loop"}}
}

// A row is one line of a table.
type row struct {
	table table
	what  string
	comparison
	unit string // of both figures, as units.Value takes it
	goal goal
}

// The verdicts. A missed goal is in capitals so that it is noticed.
const (
	met          = "yes"
	missed       = "NO"
	inconclusive = "inconclusive"
	noGoal       = "–"
)

// judged returns the estimate to which the goal applies.
func (r row) judged() stats.Estimate {
	if r.goal.left {
		return r.left
	}
	return r.ratio
}

// verdict says whether the whole interval meets the goal.
func (r row) verdict() string {
	e := r.judged()
	switch {
	case r.goal == goal{}:
		return noGoal
	case e.Low >= r.goal.low && e.High <= r.goal.high:
		return met
	case e.High < r.goal.low || e.Low > r.goal.high:
		return missed
	}
	return inconclusive
}

// A report holds all results.
type report struct {
	server string  // the server that native was compared with
	busy   float64 // load average before the start, NaN where it is not available
	scale  scale
	rows   []row
}

func (r report) write(w io.Writer) error {
	var b bytes.Buffer
	host := results.ThisHost()
	each := "one server each"
	if r.scale.ensembles {
		each = "three servers each"
	}
	fmt.Fprintf(&b, "native and %s · %s, fsync · %.4g × %s · load average %s before\n\n",
		r.server, each, host.Cores, cmp.Or(host.CPU, "unknown processor"), units.Rate(r.busy))
	for _, line := range r.findings() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for t, sides := range tables() {
		var lines document.Table
		for _, head := range []string{"", sides[0], sides[1], "ratio", "goal", "met"} {
			lines.Columns = append(lines.Columns, document.Column{Head: head, Left: true})
		}
		for _, row := range r.rows {
			if row.table == table(t) {
				lines.Rows = append(lines.Rows, []string{row.what, units.Value(row.left.Value, row.unit),
					units.Value(row.right.Value, row.unit), withInterval(row.ratio), cmp.Or(row.goal.words, noGoal), row.verdict()})
			}
		}
		if lines.Shown() {
			fmt.Fprintln(&b)
			if err := render.WriteTable(&b, lines, render.Options{}); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(&b, "\n  figures: medians of %d interleaved rounds (%d of watched writes)", r.scale.rounds, r.scale.changes)
	fmt.Fprint(&b, `; those without an interval were measured once
  ratio: left to right, of the figures beside it, with a 95 % interval of the ratios within the rounds that is extended to it
  met: whether all of the interval meets the goal; inconclusive if only a part of it does
`)
	fmt.Fprintf(&b, "  operations per second: %d connections with %d requests in flight on each", r.scale.connections, r.scale.inFlight)
	if r.scale.ensembles {
		fmt.Fprintln(&b, ", spread over all members")
	} else {
		fmt.Fprintf(&b, `; ZooKeeper's JVM: %s
  floor: a server that sends frames of the same size, syncs the same requests, and does nothing else
  bare loop: the lean client without stampede's engine; on etcd its own clientv3
`, heap)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// findings returns the number of goals that are met, and the others.
func (r report) findings() []string {
	count := map[string]int{}
	var others []string
	for _, row := range r.rows {
		verdict, e := row.verdict(), row.judged()
		count[verdict]++
		sides := tables()[row.table]
		line := fmt.Sprintf("%s: %s %s, %s %s, ratio %s, goal %s", row.what, sides[0], units.Value(row.left.Value, row.unit),
			sides[1], units.Value(row.right.Value, row.unit), units.Rate(row.ratio.Value), row.goal.words)
		switch verdict {
		case missed:
			others = append(others, "missed: "+line)
		case inconclusive:
			others = append(others, fmt.Sprintf("inconclusive: %s: only a part of the interval from %s to %s meets it",
				line, units.Rate(e.Low), units.Rate(e.High)))
		}
	}
	return append([]string{fmt.Sprintf("%d of %d goals are met.", count[met], len(r.rows)-count[noGoal])}, others...)
}

// withInterval formats a ratio with its interval, if it was measured more than once.
func withInterval(e stats.Estimate) string {
	if e.Low == e.High || math.IsNaN(e.Value) {
		return units.Rate(e.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", units.Rate(e.Value), units.Rate(e.Low), units.Rate(e.High))
}
