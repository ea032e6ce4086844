package levels

import (
	"cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// A Ratio is how many times one value of a figure another one is.
type Ratio struct {
	results.Estimate // as measured

	// Least and Most are between which values the true ratio lies: the ends of the interval, if it has enough
	// confidence, and what the doubts about the runs leave.
	Least, Most float64
	// Doubt is why no more is certain than that, "" if the doubts leave no room.
	Doubt string
}

// RatioWithin returns the ratio with what the doubts about the runs leave of it. The runs over are those of its
// numerator, the runs under those of its denominator. Whatever is said of two measured times or rates judges by it.
func RatioWithin(e results.Estimate, f figure.Figure, over, under []results.Run) Ratio {
	r := Ratio{Estimate: e, Least: e.Value, Most: e.Value}
	if e.Confidence >= stats.Confidence {
		r.Least, r.Most = e.Low, e.High
	}
	shorter, longer, why := room(f, over)
	least, most, because := room(f, under)
	r.Least, r.Most, r.Doubt = r.Least*shorter/most, r.Most*longer/least, cmp.Or(why, because)
	return r
}

// Undecided reports whether the interval of the ratio includes 1 and a difference that would be named.
func (r Ratio) Undecided() bool {
	return r.Confidence >= stats.Confidence && r.Low <= 1 && 1 <= r.High && (r.Low <= 0.95 || r.High >= 1.05)
}

// room returns by which factors the true figures of the runs can be lower and higher than the measured ones, and why.
func room(f figure.Figure, runs []results.Run) (least, most float64, why string) {
	least, most = 1, 1
	for _, r := range runs {
		is := f.Read(r)
		doubt := is.Doubtful()
		switch {
		case doubt == "" || is.Value <= 0:
			continue
		case is.Infinite():
			least = 0
		default:
			least, most = min(least, max(is.Low, 0)/is.Value), max(most, is.High/is.Value)
		}
		why = cmp.Or(why, doubt)
	}
	return least, most, why
}

// Doubt returns why the figure of one of the runs may not be what was measured, "" if there is no reason.
func Doubt(f figure.Figure, runs []results.Run) string {
	_, _, why := room(f, runs)
	return why
}

// Speed is the figure of throughput.
func Speed() figure.Figure { return figure.Known(nil, "rounds_per_s")[0] }

// TimeOf returns the figure of a percentile of a phase, or "background." and a phase, of the run: of the response time
// if it was measured, as [results.Run.Times] has it. Of a percentile that has no figure it returns the median, which doubts
// can change the most in proportion.
func TimeOf(r results.Run, phase, percentile string) figure.Figure {
	times := phase + ".response."
	if _, measured := figure.Known([]string{phase}, times+"min")[0].RunValue(r); !measured {
		times = phase + ".service."
	}
	f, err := figure.Parse(times+percentile, []string{phase})
	if err != nil {
		f = figure.Known([]string{phase}, times+"p50")[0]
	}
	return f
}
