package metrics

import (
	"slices"
	"time"
)

// An Effect is what a fault measurably did to the clients.
type Effect string

const (
	// Outage: a gap between grants began at the fault and was longer than any ordinary one.
	Outage Effect = "outage"
	// Slowdown: no such gap, but in the second after the fault fewer than half as
	// many grants came as in the slowest of at least two seconds before it.
	Slowdown Effect = "slowdown"
	// NoEffect: neither could be told from what the same run did before the fault.
	NoEffect Effect = "none"
	// Unclear: there is nothing to judge by, since too little happened before the
	// fault or an outage was in progress when it came.
	Unclear Effect = "unclear"
)

// A gap is a time in which no grant came. One that is open had not ended when the
// observation did.
type gap struct {
	from, to time.Duration
	open     bool
}

func (g gap) length() time.Duration { return g.to - g.from }

// after is the part of the gap that lies after a moment.
func (g gap) after(t time.Duration) time.Duration { return g.to - max(g.from, t) }

// An ordinary is the gaps before a fault, by which the gap at the fault is judged.
type ordinary struct {
	gaps    int
	longest time.Duration
	elapsed time.Duration // of the gap during which the fault came
}

// An outage is a gap of more than outageFactor times the longest ordinary one. Where
// fewer than fewGaps / outageFactor were seen it must be longer still, in proportion:
// the longest of a few says little of how long an ordinary gap can be.
const (
	outageFactor = 3
	fewGaps      = 200
)

// least is the longest gap that is not yet an outage; 0 if no gap was seen.
func (o ordinary) least() time.Duration {
	if o.gaps == 0 {
		return 0
	}
	return time.Duration(max(outageFactor, fewGaps/float64(o.gaps)) * float64(max(o.longest, o.elapsed)))
}

// judges tells whether a gap can be judged by it: gaps were seen, and there was no
// outage in progress.
func (o ordinary) judges() bool {
	return o.gaps > 0 && ordinary{gaps: o.gaps, longest: o.longest}.least() >= o.elapsed
}

// add counts the gaps before a fault that no earlier fault explains. What is explained
// is in order.
func (o *ordinary) add(moments []time.Duration, fault time.Duration, explained []gap) {
	before := append([]time.Duration{0}, upTo(moments, fault)...) // the window's beginning is as good as a grant
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

// gapAt is the gap that a moment falls in.
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

// gapOf returns the longest of the gaps that a fault can explain: the gap that contains
// the fault; those that begin before the operations in progress have ended, which takes
// settle; and those in which a client was notified that its session broke, or was
// connected again. A busy machine may note the last grant long after the notification,
// so only the gap before the reconnect is sure to be the whole outage.
func gapOf(moments []time.Duration, f fault, settle, until time.Duration, disconnections []time.Duration) gap {
	longest := gapAt(moments, f.At, until)
	try := func(at time.Duration) {
		if g := gapAt(moments, at, until); g.after(f.At) > longest.after(f.At) {
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
