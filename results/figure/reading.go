package figure

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// A Reading is what a run says about a figure: the value that was measured, and between which two values
// the true one lies. [Figure.Read] makes it, and all decisions about runs judge by it: thresholds,
// objectives, baselines, comparisons and histories.
//
//	exact            Low, Value and High are equal
//	at least         High is infinite
//	at most          Low is 0, or infinitely low where a figure can be negative
//	within a margin  Low and High are both near Value
//	either way       Low and High are both infinite
//	infinite         Value is infinite: a percentile that is the time of an arrival which was never served
//	not known        Unknown says why, and nothing else is set
type Reading struct {
	Value     float64
	Low, High float64
	Unknown   string

	lowBy, highBy string // the doubts that widen the reading the most, below and above
}

// Exactly returns the reading of a value that is not in doubt.
func Exactly(v float64) Reading { return Reading{Value: v, Low: v, High: v} }

// Doubted returns the reading of a value whose true one can be anywhere on the sides of the bias.
func Doubted(v float64, b Bias, why string) Reading {
	r := Exactly(v)
	r.doubt(b, why)
	return r
}

// Known reports whether there is a value, which may be infinite.
func (r Reading) Known() bool { return r.Unknown == "" }

// Infinite reports whether the measured value is infinite.
func (r Reading) Infinite() bool { return math.IsInf(r.Value, 1) }

// widen extends the reading to the values from low to high, because of a doubt.
func (r *Reading) widen(low, high float64, why string) {
	why = cmp.Or(why, "doubtful") // "" is no doubt
	if low < r.Low {
		r.Low, r.lowBy = low, why
	}
	if high > r.High {
		r.High, r.highBy = high, why
	}
}

// doubt extends the reading without limit on the sides of the bias, because of a doubt.
func (r *Reading) doubt(b Bias, why string) {
	if b&Lower != 0 {
		r.widen(math.Inf(-1), r.Value, why)
	}
	if b&Higher != 0 {
		r.widen(r.Value, math.Inf(1), why)
	}
}

// bound limits the reading to what the figure can be.
func (r *Reading) bound(least, most float64) {
	if r.High > most {
		r.High = max(most, r.Value)
	}
	if r.High == r.Value {
		r.highBy = ""
	}
	if r.Low < least {
		r.Low = min(least, r.Value)
	}
	if r.Low == r.Value {
		r.lowBy = ""
	}
}

// Times returns the reading of a multiple of the figure.
func (r Reading) Times(factor float64) Reading {
	r.Value, r.Low, r.High = factor*r.Value, factor*r.Low, factor*r.High
	return r
}

// Named returns the reading of something else, whose name stands before the reasons.
func (r Reading) Named(what string) Reading {
	for _, why := range []*string{&r.Unknown, &r.lowBy, &r.highBy} {
		if *why != "" {
			*why = what + ": " + *why
		}
	}
	return r
}

// negligible is the width of a reading, as a share of its value, that no comparison of several runs
// notices: it is a fifth of the smallest change that they look for by default.
const negligible = 0.01

// Doubtful returns the doubt for which the value cannot stand for the true one among those of other runs, ""
// if there is none.
func (r Reading) Doubtful() string {
	room := negligible * math.Abs(r.Value)
	if r.Infinite() {
		room = 0
	}
	switch {
	case r.Value-r.Low > room:
		return r.lowBy
	case r.High-r.Value > room:
		return r.highBy
	}
	return ""
}

// Judge reports whether a value meets the condition, and the doubt because of which the true values could
// decide otherwise, "" if none could: a time of 100 ms that may be 3 ms too long is above a limit of 50 ms
// for certain. Both values are known.
func (o Op) Judge(measured, limit Reading) (holds bool, doubt string) {
	holds = o.Holds(measured.Value, limit.Value)
	below := o == Below || o == AtMost
	switch {
	case o == Equals && holds:
		return true, cmp.Or(measured.lowBy, measured.highBy, limit.lowBy, limit.highBy)
	case o == Equals && measured.Value < limit.Value:
		return false, unless(measured.High < limit.Low, measured.highBy, limit.lowBy)
	case o == Equals:
		return false, unless(measured.Low > limit.High, measured.lowBy, limit.highBy)
	case below == holds: // the value lies below the limit
		return holds, unless(o.Holds(measured.High, limit.Low) == holds, measured.highBy, limit.lowBy)
	}
	return holds, unless(o.Holds(measured.Low, limit.High) == holds, measured.lowBy, limit.highBy)
}

func unless(certain bool, doubts ...string) string {
	if certain {
		return ""
	}
	return cmp.Or(doubts...)
}

// Read returns what the run says about the figure.
func (f Figure) Read(r results.Run) Reading {
	v, known := f.RunValue(r)
	lost := f.lostOf(r)
	switch {
	case known:
	case lost.endless(lost.all):
		v = math.Inf(1)
	default:
		return Reading{Unknown: f.unknown(lost)}
	}
	is := Exactly(v)
	for _, d := range r.Doubts {
		f.doubt(&is, r, d)
	}
	least, most := 0., math.Inf(1)
	if strings.HasPrefix(f.Name, fromAcknowledgement) { // the one kind of figure that can be negative
		least = math.Inf(-1)
	}
	if f.Unit == Share {
		most = 1
	}
	is.bound(least, most)
	return is
}

// unknown says why the run has no value.
func (f Figure) unknown(l lost) string {
	if l.percentile > 0 || strings.HasPrefix(f.Name[strings.LastIndex(f.Name, ".")+1:], "p") {
		return "too few observations"
	}
	return "the run has no such figure"
}

// lost are the arrivals of an open loop that were not served and so count as infinitely late in a percentile of
// response times. The percentile is 0 for other figures.
type lost struct {
	all, skipped, served int64
	percentile           float64
	of                   *results.Distribution // nil if nothing was served
	share                float64               // of the arrivals that have this time: not every operation is a read
}

// lostOf returns the lost arrivals that count in the figure. Where some arrivals were served, but none with a time of
// the phase, it is not known if it was to happen at all.
func (f Figure) lostOf(r results.Run) lost {
	phase, percentile, _ := strings.Cut(f.Name, ".response.p")
	n, err := strconv.ParseFloat(percentile, 64)
	if err != nil {
		return lost{}
	}
	for ; n >= 100; n /= 10 { // p999 is the 99.9th
	}
	l := lost{all: r.Generator.Lost(), skipped: r.Generator.Skipped, percentile: n, share: 1}
	of, completed, ratio := r.Latency[phase], r.Generator.Completed, r.ReadRatio
	if b, ok := strings.CutPrefix(phase, backgroundPrefix); ok && r.Background != nil {
		phase, of, completed, ratio = b, r.Background.Latency[b], r.Background.Completed, &r.Background.ReadRatio
		l.all, l.skipped = r.Background.Lost(), r.Background.Skipped
	}
	if ratio != nil {
		l.share = 1 - ratio.Asked
		if phase == "read" || phase == "list" {
			l.share = ratio.Asked
		}
	}
	l.of, l.served = of.Response, of.Count
	switch {
	case l.of == nil && (completed > 0 || l.share <= 0) || l.of != nil && l.of.Lost == 0:
		return lost{}
	case l.of != nil:
		l.all = l.of.Lost
		l.share = min(l.share, float64(l.served)/float64(max(completed, l.served)))
	}
	return l
}

// backgroundPrefix begins the names of the figures of the background load.
const backgroundPrefix = "background."

// spread is how many standard deviations chance may be off.
const spread = 6

// least returns how many of n lost arrivals have the time for certain. Skipped ones are drawn like the others; those
// that failed or did not end may have done so because of what they were.
func (l lost) least(n float64) int64 {
	if l.share < 1 {
		n = min(n, float64(l.skipped))
		n = max(n*l.share-spread*math.Sqrt(n*l.share*(1-l.share)), 0)
	}
	return int64(n)
}

// endless reports whether the percentile is the time of one of n lost arrivals even if all others had been served.
func (l lost) endless(n int64) bool {
	return metrics.Endless(l.served+l.all-n, n, l.percentile)
}

// counting returns the percentile if n of the lost arrivals count and the others had no such time, 0 if that is not
// known any more.
func (l lost) counting(n int64) float64 {
	if metrics.Endless(l.served, n, l.percentile) {
		return math.Inf(1)
	}
	v, _ := l.of.WithLost(l.percentile, n)
	return float64(v)
}

// responseOf returns the figure of a percentile of the response times of a phase.
func responseOf(phase string, percentile float64) Figure {
	return Figure{Name: phase + ".response.p" + strconv.FormatFloat(percentile, 'f', -1, 64)}
}

// LostOf returns how many of the run's arrivals count as infinitely late in percentiles of the response times of a phase.
func LostOf(phase string, r results.Run) int64 { return responseOf(phase, 50).lostOf(r).all }

// Endless reports whether a percentile of the response times of a phase is the time of an arrival that was never served.
func Endless(phase string, percentile float64, r results.Run) bool {
	lost := responseOf(phase, percentile).lostOf(r)
	return lost.endless(lost.all)
}

// CountsLost reports whether the figure is a percentile of times in which the run's lost arrivals count as
// infinitely late.
func (f Figure) CountsLost(r results.Run) bool { return f.lostOf(r).all > 0 }
