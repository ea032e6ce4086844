package charts

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results/units"
)

// An axis is the horizontal or vertical axis of a panel.
type axis struct {
	label    string // what the axis shows, with the unit
	log      bool
	low      float64 // the range shown
	high     float64
	ticks    []tick
	gridless bool
}

// A tick is a value that an axis marks.
type tick struct {
	value float64
	label string
}

// shown returns the ticks that the range includes.
func (a axis) shown() []tick {
	return slices.DeleteFunc(slices.Clone(a.ticks), func(t tick) bool { return a.share(t.value) < -1e-9 || a.share(t.value) > 1+1e-9 })
}

// share returns where on the axis a value is, from 0 at the lowest to 1 at the highest.
func (a axis) share(value float64) float64 {
	if a.log {
		return math.Log(value/a.low) / math.Log(a.high/a.low)
	}
	return (value - a.low) / (a.high - a.low)
}

// fitted returns the horizontal axis without the labels for which there is no room on the given length.
func (a axis) fitted(length float64) axis {
	labels := lettering{size: small}
	end := -length
	a.ticks = slices.Clone(a.ticks)
	slices.SortFunc(a.ticks, func(a, b tick) int { return cmp.Compare(a.value, b.value) })
	for i, t := range a.ticks {
		half := labels.width(t.label) / 2
		if at := length * a.share(t.value); at-half < end+4 {
			a.ticks[i].label = ""
		} else {
			end = at + half
		}
	}
	return a
}

// topped returns a logarithmic axis with a label above all values.
func topped(label string, values []float64, write func(float64) string) axis {
	a := logarithmic(label, values, write)
	if !a.log {
		return a
	}
	top := roundUp(slices.Max(values))
	a.high = max(a.high, top)
	crowded := func(t tick) bool { return t.value >= top || math.Log(top/t.value) < math.Log(a.high/a.low)/14 }
	a.ticks = append(slices.DeleteFunc(a.ticks, crowded), tick{value: top, label: write(top)})
	return a
}

// roundUp rounds up to 1, 2, 3 or 5 times a power of ten.
func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 3, 5} {
		if v <= m*power*1.0001 {
			return m * power
		}
	}
	return 10 * power
}

// logarithmic returns a logarithmic axis over the values with labels at round numbers, and a linear one if they are not all
// positive: a logarithmic one has no place for zero.
func logarithmic(label string, values []float64, write func(float64) string) axis {
	if slices.Min(values) <= 0 {
		return linear(label, values, write)
	}
	a := axis{label: label, log: true, low: slices.Min(values), high: slices.Max(values)}
	if a.high < 2*a.low { // leave some room around a flat line
		a.low, a.high = a.low/2, a.high*2
	}
	a.low, a.high = a.low/1.15, a.high*1.15
	for _, marks := range [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}} {
		a.ticks = decades(a.low, a.high, marks, write)
		if len(a.ticks) >= 3 {
			break
		}
	}
	return a
}

// decades returns ticks at the powers of ten within a range, times each of the marks.
func decades(low, high float64, marks []float64, write func(float64) string) (ticks []tick) {
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for _, m := range marks {
			if v := m * math.Pow(10, power); low <= v && v <= high {
				ticks = append(ticks, tick{value: v, label: write(v)})
			}
		}
	}
	return ticks
}

// linear returns a linear axis over the values and zero.
func linear(label string, values []float64, write func(float64) string) axis {
	a := axis{label: label, low: min(0, slices.Min(values)), high: max(0, slices.Max(values))}
	if a.low == a.high {
		a.high = 1
	}
	step := niceStep((a.high - a.low) / 5)
	a.low, a.high = step*math.Floor(a.low/step+1e-9), step*math.Ceil(a.high/step-1e-9)
	for i := math.Round(a.low / step); i*step <= a.high+step/2; i++ {
		a.ticks = append(a.ticks, tick{value: i * step, label: write(i * step)})
	}
	return a
}

// niceStep rounds a step up to 1, 2 or 5 times a power of ten.
func niceStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5} {
		if step <= m*power*1.0001 {
			return m * power
		}
	}
	return 10 * power
}

// exactly returns a logarithmic axis with a label at each of the levels, unless there are too many to
// read. The levels fill it: they were chosen, so that a narrow range is no flat line.
func exactly(label string, levels []float64, write func(float64) string) axis {
	a := logarithmic(label, levels, write)
	if !a.log {
		return a
	}
	levels = slices.Compact(slices.Sorted(slices.Values(levels)))
	if low, high := levels[0], levels[len(levels)-1]; low < high {
		margin := math.Min(1.15, math.Pow(high/low, 0.07))
		a.low, a.high = low/margin, high*margin
	}
	if len(levels) > 10 {
		return a
	}
	a.ticks = nil
	for _, v := range levels {
		a.ticks = append(a.ticks, tick{value: v, label: write(v)})
	}
	return a
}

// number formats the label of a tick: "0.5", "2 000".
func number(v float64) string {
	v = math.Round(v*1e9) / 1e9
	if v == math.Trunc(v) {
		return units.Count(int64(v))
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), "-", "−", 1)
}

// clock formats a duration, given in nanoseconds, as short as possible: "100 µs".
func clock(ns float64) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if math.Abs(ns) >= float64(u.size)*0.9999 {
			return number(math.Round(ns/float64(u.size)*1e3)/1e3) + " " + u.name
		}
	}
	if ns == 0 {
		return "0"
	}
	return number(math.Round(ns)) + " ns"
}

// valuesOf returns a value of each point of the lines.
func valuesOf(all []line, of func(point) float64) (values []float64) {
	for _, l := range all {
		for _, p := range l.at {
			values = append(values, of(p))
		}
	}
	return values
}
