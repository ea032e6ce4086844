package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// leastRuns is the smallest number of unpaired runs of each side that a [Contrast] can be judged by.
// With fewer, the runs say next to nothing about how strongly they depend on each other.
const leastRuns = 5

// Enough reports whether so many unpaired runs of two sides can show a difference in one of the figures that are
// judged together. If they cannot, not even sides that do not overlap are unlikely enough.
func Enough(base, other, figures int) bool {
	return min(base, other) >= leastRuns && float64(max(figures, 1))*2*inversions(base, other)[0] <= 1-Confidence
}

// FewestRuns returns the smallest number of unpaired runs of each side that is [Enough].
func FewestRuns(figures int) int {
	n := leastRuns
	for !Enough(n, n, figures) {
		n++
	}
	return n
}

// A Contrast is what runs of two sides show of the difference between the sides if they were not done
// in pairs. Two tests judge it, since each is right where the other can be wrong: [Models] if runs depend on those
// before them and their noise is about normal, and [RankSum] if they do not, whatever the distribution of their
// noise. A difference is shown if both show it, and the interval contains those of both.
type Contrast struct {
	models Models
	ranks  RankSum
}

// NewContrast returns the contrast of values in the order of their time, of which some are of the other
// side. Each side must have at least two values.
func NewContrast(values []float64, other []bool) Contrast {
	return Contrast{NewModels(values, other), NewRankSum(values, other)}
}

// Interval returns the difference of the other side with its interval.
func (c Contrast) Interval(confidence float64) Estimate {
	low, high, reached := c.ranks.interval(confidence)
	return Estimate{Value: infinite(c.models.Difference()), Low: infinite(min(low, c.models.quantile((1-confidence)/2))),
		High: infinite(max(high, c.models.quantile((1+confidence)/2))), Confidence: min(confidence, reached)}
}

// P returns the probability of a difference at least as large, after the given size has been added to it,
// if there is none: the larger one of both tests.
func (c Contrast) P(added float64) float64 { return max(c.models.P(added), c.ranks.P(added)) }

// Redraw returns the contrast of as many runs, in the same order, with the same noise and without a
// difference.
func (c Contrast) Redraw(random *rand.Rand, _, sign float64) Sample {
	return NewContrast(c.models.redraw(random, sign), c.models.other)
}

// First returns the contrast itself: saved runs are judged once.
func (c Contrast) First(float64) Sample { return c }

// Models test for a difference between two sides whose noise has memory. Runs on one machine depend on the
// runs before them: the machine stays slow or fast for a while. If all runs of one side follow all runs of the
// other, a test that takes them for independent calls this a difference. Models therefore are several models of
// the noise, from independent values to values that hardly change from run to run. Each is fitted, and weighed
// by how well it explains the runs.
//
// Consecutive runs of one side are a block. Blocks are taken for independent of each other, although they
// follow each other: this does not claim to know what happened between them, and allows for more
// noise than there is if the sides alternate.
type Models struct {
	other []bool
	fits  []fit
	free  float64   // degrees of freedom
	shape []float64 // deviations from the mean of the side, in standard deviations, in ascending order
}

// A noiseModel says which share of the variance of the noise has memory, and what part of that carries
// over from one run to the next.
type noiseModel struct{ share, carried float64 }

// A fit is the difference by one model, its standard error, and the standard deviation of the noise.
type fit struct {
	noiseModel
	weight, difference, err, sd float64
}

// noiseModels returns the models, each as probable as the others before the runs are known. They are
// denser where what carries over matters most. Up to 94 % carries over: a larger share could not be told
// from a change that stays.
func noiseModels() []noiseModel {
	all := []noiseModel{{1, 0}}
	for _, share := range []float64{0.5, 0.75, 1} {
		for _, carried := range []float64{0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94} {
			all = append(all, noiseModel{share, carried})
		}
	}
	return all
}

// NewModels fits the models to values in the order of their time, of which some are of the other
// side. Each side must have at least two values.
func NewModels(values []float64, other []bool) Models {
	finite := make([]float64, len(values))
	for i, v := range values {
		finite[i] = min(max(v, -far), far) - min(max(values[0], -far), far) // so that rounding is no difference
	}
	c := Models{other: other, free: float64(len(values) - 2), shape: shapeOf(finite, other)}
	finite = Clip(finite, other)
	var logs []float64
	for _, m := range noiseModels() {
		f, log := m.fit(finite, other)
		c.fits, logs = append(c.fits, f), append(logs, log)
	}
	most, total := slices.Max(logs), 0.0
	for i := range c.fits {
		c.fits[i].weight = math.Exp(logs[i] - most)
		total += c.fits[i].weight
	}
	for i := range c.fits {
		c.fits[i].weight /= total
	}
	return c
}

// outlying is how many standard deviations a value may be from the median of its side. A value further
// away counts as if it were that far: a single disturbed run is no difference.
const outlying = 3

// fewOutliers is the largest share of the values that can be outliers. If more of them are far away, they are a second
// level of the noise, as that of a slower machine: without it, what chance gives more of to one side would look like a
// difference that the noise cannot make.
const fewOutliers = 0.1

// Clip returns the values with each outlier moved to the nearest value that is none. Values of which many are far
// away have no outliers.
func Clip(values []float64, other []bool) []float64 {
	var sides [2][]float64
	for i, v := range values {
		sides[side(other[i])] = append(sides[side(other[i])], v)
	}
	var middles [2]float64
	for s := range sides {
		middles[s] = median(slices.Sorted(slices.Values(sides[s])))
	}
	deviations := make([]float64, len(values))
	for i, v := range values {
		deviations[i] = math.Abs(v - middles[side(other[i])])
	}
	n := float64(len(values))
	slices.Sort(deviations)
	limit := outlying * 1.4826 * median(deviations) * n / (n - 2)
	beyond := len(values) - sort.Search(len(values), func(i int) bool { return deviations[i] > limit })
	if limit == 0 || float64(beyond) > fewOutliers*n { // if the limit is 0, most values are equal, and the others are not noise
		return values
	}
	clipped := make([]float64, len(values))
	for i, v := range values {
		m := middles[side(other[i])]
		clipped[i] = min(max(v, m-limit), m+limit)
	}
	return clipped
}

func side(other bool) int {
	if other {
		return 1
	}
	return 0
}

// leastError is the smallest standard error that counts: a smaller one comes from rounding.
const leastError = 1e-12

// fit fits a level to each side, by generalized least squares. It also returns the logarithm of the model's
// likelihood, up to a constant: the restricted one, which does not favour models that mistake noise for a
// difference.
func (m noiseModel) fit(values []float64, other []bool) (fit, float64) {
	var weights, sums [2]float64
	var squares, logs float64
	product := 1.0 // of the variances, whose logarithms are added up in logs
	// The filter predicts how much the part with memory adds to a level of 1 and to the value. variance is
	// that of the prediction.
	var level, value, variance float64
	for i, v := range values {
		if i == 0 || other[i] != other[i-1] {
			level, value, variance = 0, 0, m.share
		}
		total := variance + 1 - m.share
		w := 1 / total
		l, y, gain := 1-level, v-value, variance*w
		level, value = m.carried*(level+gain*l), m.carried*(value+gain*y)
		variance = m.carried*m.carried*variance*(1-gain) + m.share*(1-m.carried*m.carried)
		if product *= total; product < 1e-200 {
			logs, product = logs+math.Log(product), 1
		}
		s := side(other[i])
		weights[s], sums[s], squares = weights[s]+l*l*w, sums[s]+l*y*w, squares+y*y*w
	}
	free := float64(len(values) - 2)
	squares -= sums[0]*sums[0]/weights[0] + sums[1]*sums[1]/weights[1]
	squares = max(squares, free*leastError*leastError)
	f := fit{noiseModel: m, difference: sums[1]/weights[1] - sums[0]/weights[0], sd: math.Sqrt(squares / free)}
	f.err = max(f.sd*math.Sqrt(1/weights[0]+1/weights[1]), leastError)
	return f, -(logs + math.Log(product*weights[0]*weights[1]) + free*math.Log(squares)) / 2
}

// negligible is the weight of a model below which it is left out.
const negligible = 1e-6

// probabilityBelow returns the probability that the difference is less than x.
func (c Models) probabilityBelow(x float64) (p float64) {
	t := student(c.free)
	for _, f := range c.fits {
		if f.weight > negligible {
			p += f.weight * t.cumulative((x-f.difference)/f.err)
		}
	}
	return p
}

// Difference returns the difference of the other side.
func (c Models) Difference() (difference float64) {
	for _, f := range c.fits {
		difference += f.weight * f.difference
	}
	return difference
}

// quantile returns the value below which the difference is with the given probability.
func (c Models) quantile(p float64) float64 {
	t := student(c.free).quantile(p)
	low, high := math.Inf(1), math.Inf(-1) // those of the single models
	for _, f := range c.fits {
		low, high = min(low, f.difference+t*f.err), max(high, f.difference+t*f.err)
	}
	for width := (high - low) * 1e-3; high-low > width && high-low > leastError; {
		if middle := (low + high) / 2; c.probabilityBelow(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// P returns the probability of a difference at least as large, after the given size has been added to it,
// if there is none.
func (c Models) P(added float64) float64 {
	below := c.probabilityBelow(-added)
	return min(1, 2*min(below, 1-below))
}

// shapeOf returns the deviations of the values from the means of their sides, in standard deviations and in ascending order.
func shapeOf(values []float64, other []bool) []float64 {
	var sums, numbers [2]float64
	for i, v := range values {
		sums[side(other[i])], numbers[side(other[i])] = sums[side(other[i])]+v, numbers[side(other[i])]+1
	}
	shape, squares := make([]float64, len(values)), 0.0
	for i, v := range values {
		shape[i] = v - sums[side(other[i])]/numbers[side(other[i])]
		squares += shape[i] * shape[i]
	}
	sd := max(math.Sqrt(squares/float64(len(values))), leastError)
	for i := range shape {
		shape[i] /= sd
	}
	slices.Sort(shape)
	return shape
}

// shaped returns the value that stands where a normal one does, in the distribution of the deviations: that of values on two
// levels has two levels too.
func (c Models) shaped(normal float64) float64 {
	last := float64(len(c.shape) - 1)
	at := min(max(math.Erfc(-normal/math.Sqrt2)/2*(last+1)-0.5, 0), last)
	i := int(min(at, last-1))
	return c.shape[i] + (at-float64(i))*(c.shape[i+1]-c.shape[i])
}

// redraw returns as many values, in the same order, with the same noise and without a difference.
func (c Models) redraw(random *rand.Rand, sign float64) []float64 {
	drawn := c.fits[len(c.fits)-1]
	for at, i := random.Float64(), 0; i < len(c.fits); i++ {
		if at -= c.fits[i].weight; at < 0 {
			drawn = c.fits[i]
			break
		}
	}
	values := make([]float64, len(c.other))
	var memory float64
	for i := range values {
		fresh := 1 - drawn.carried*drawn.carried
		if i == 0 || c.other[i] != c.other[i-1] {
			memory, fresh = 0, 1
		}
		memory = drawn.carried*memory + math.Sqrt(drawn.share*fresh)*random.NormFloat64()
		values[i] = sign * drawn.sd * c.shaped(memory+math.Sqrt(1-drawn.share)*random.NormFloat64())
	}
	return values
}
