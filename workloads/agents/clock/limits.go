package clock

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// PPM is a relative difference of the rates of two clocks, in parts per million.
type PPM float64

// times returns by how much clocks drift apart in d at most, rounded up.
func (p PPM) times(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(p) * 1e-6 * math.Abs(float64(d))))
}

// perTime returns the drift that changes the offset by change in d.
func perTime(change, d time.Duration) PPM { return PPM(float64(change) / float64(d) * 1e6) }

// A limit says that the offset at a moment was at most, or at least, so large.
type limit struct {
	at        Moment
	offset    time.Duration // the coordinator's clock minus the agent's
	roundTrip time.Duration // of the exchange it is from
}

// limits are the limits from one side. None of them implies another, so at any moment one of the two
// nearest is the strictest: a limit that is farther away, and stricter there, would imply the nearer one.
type limits struct {
	side  time.Duration // 1: the offset is at most so large; -1: at least
	drift PPM
	all   []limit // in order of their moments
}

// maxLimits is the number of limits that are kept of each side, 3 MB of them. At ten exchanges per
// second it is reached after four hours. From then on the moments that are kept are farther apart.
const maxLimits = 1 << 17

// at returns the strictest limit on the offset at the moment. There must be a limit.
func (l *limits) at(m Moment) limit {
	i := l.search(m)
	near := l.all[max(i-1, 0):min(i+1, len(l.all))]
	return slices.MinFunc(near, func(a, b limit) int { return cmp.Compare(l.slack(a, m), l.slack(b, m)) })
}

// offset returns the strictest limit on the offset at the moment. There must be a limit.
func (l *limits) offset(m Moment) time.Duration { return l.side * l.slack(l.at(m), m) }

// slack returns what the limit says about another moment: lower is stricter, on both sides.
func (l *limits) slack(from limit, m Moment) time.Duration {
	return l.side*from.offset + l.drift.times(m.Sub(from.at))
}

// search returns how many limits are of moments before m.
func (l *limits) search(m Moment) int {
	i, _ := slices.BinarySearchFunc(l.all, m, func(a limit, m Moment) int { return cmp.Compare(a.at.since, m.since) })
	return i
}

// add adds a limit, unless others imply it, and removes those that it implies.
func (l *limits) add(n limit) {
	i := l.search(n.at)
	if len(l.all) > 0 && l.offset(n.at)*l.side <= n.offset*l.side {
		return
	}
	implied := func(other limit) bool { return l.slack(n, other.at) <= l.side*other.offset }
	from, to := i, i
	for from > 0 && implied(l.all[from-1]) {
		from--
	}
	for to < len(l.all) && implied(l.all[to]) {
		to++
	}
	l.all = slices.Replace(l.all, from, to, n)
	if len(l.all) > maxLimits {
		l.thin()
	}
}

// thin keeps one of every two neighbours, that of the smaller round trip.
func (l *limits) thin() {
	kept := l.all[:0]
	for pair := range slices.Chunk(l.all, 2) {
		kept = append(kept, slices.MinFunc(pair, func(a, b limit) int { return cmp.Compare(a.roundTrip, b.roundTrip) }))
	}
	l.all = kept
}
