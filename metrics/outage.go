package metrics

import (
	"slices"
	"time"
)

// An Effect is the measurable effect of a fault on the clients.
type Effect string

const (
	// Outage: a gap between grants began at the fault and was longer than an ordinary gap can
	// be: see outageFactor.
	Outage Effect = "outage"
	// Slowdown: no such gap, but in the second after the fault there were fewer than half as
	// many grants as in the slowest second before it, and at least two seconds before it were
	// observed.
	Slowdown Effect = "slowdown"
	// NoEffect: the data show neither, compared with the same run before the fault.
	NoEffect Effect = "none"
	// Unclear: there is no basis for a judgement, because too little happened before the fault
	// or an outage was in progress when it came.
	Unclear Effect = "unclear"
)

// A gap is a time without a grant. An open gap had not ended at the end of the observation.
type gap struct {
	from, to time.Duration
	open     bool
}

func (g gap) length() time.Duration { return g.to - g.from }

// lengthAfter returns the length of the part of the gap after t.
func (g gap) lengthAfter(t time.Duration) time.Duration { return g.to - max(g.from, t) }

// An ordinary summarizes the gaps before a fault. The gap at the fault is judged by it.
type ordinary struct {
	gaps    int
	longest time.Duration
	elapsed time.Duration // length of the gap in progress when the fault came
}

// An outage is a gap longer than outageFactor times the longest ordinary gap. If fewer than
// fewGaps / outageFactor gaps were seen, the factor is larger in proportion, because the
// longest of a few gaps says little about how long an ordinary gap can be.
const (
	outageFactor = 3
	fewGaps      = 200
)

// least returns the longest gap that is not yet an outage, or 0 if no gap was seen.
func (o ordinary) least() time.Duration {
	if o.gaps == 0 {
		return 0
	}
	return time.Duration(max(outageFactor, fewGaps/float64(o.gaps)) * float64(max(o.longest, o.elapsed)))
}

// judges reports whether o is a basis for a judgement: gaps were seen, and no outage was in
// progress.
func (o ordinary) judges() bool {
	return o.gaps > 0 && ordinary{gaps: o.gaps, longest: o.longest}.least() >= o.elapsed
}

// add counts the gaps before a fault that no earlier fault explains. explained is in order of
// time.
func (o *ordinary) add(moments []time.Duration, fault time.Duration, explained []gap) {
	before := append([]time.Duration{0}, upTo(moments, fault)...) // the beginning of the window counts as a grant
	o.elapsed = max(o.elapsed, fault-before[len(before)-1])
	for _, e := range explained {
		i, _ := slices.BinarySearch(before, e.from)
		o.count(before[:i])
		i, _ = slices.BinarySearch(before, e.to)
		before = before[i:]
	}
	o.count(before)
}

func (o *ordinary) count(moments []time.Duration) {
	for i := 1; i < len(moments); i++ {
		o.gaps++
		o.longest = max(o.longest, moments[i]-moments[i-1])
	}
}

// gapAt returns the gap that contains the moment at.
func gapAt(moments []time.Duration, at, until time.Duration) gap {
	g := gap{to: until, open: true}
	i, _ := slices.BinarySearch(moments, at+1)
	if i > 0 {
		g.from = moments[i-1]
	}
	if i < len(moments) && moments[i] < until {
		g.to, g.open = moments[i], false
	}
	return g
}

// gapOf returns the longest of the gaps that a fault can explain: the gap in progress when its
// injection begins; those that begin before the injection is complete and the operations in
// progress have ended, for which settle allows; and those in which a client was notified that
// its session broke, or was connected again. A busy machine may note the last grant long after the notification, so
// only the gap before the reconnect is sure to be the whole outage.
func gapOf(moments []time.Duration, f fault, settle, until time.Duration, disconnections []time.Duration) gap {
	longest := gapAt(moments, f.At, until)
	try := func(at time.Duration) {
		if g := gapAt(moments, at, until); g.lengthAfter(f.At) > longest.lengthAfter(f.At) {
			longest = g
		}
	}
	i, _ := slices.BinarySearch(moments, f.At)
	for _, m := range upTo(moments[i:], min(f.done+settle, until)) {
		try(m)
	}
	for _, at := range disconnections {
		if at >= f.At && at < until {
			try(at)
		}
	}
	return longest
}
