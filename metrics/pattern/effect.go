package pattern

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/client"
)

// An Effect adds up the changes that woke sessions at the same path patterns. A transaction or the end of a
// session can do so at many, and the removal of a node at the node and the one above it. A place with several
// of the patterns has one change for all of them.
type Effect struct {
	at          []*Pattern
	fanout      client.Fanout
	reads, lost int64 // until the sessions were at rest
	settle      metrics.CoarseHistogram
}

// Of changes at several patterns at most maxEffects sets of patterns and maxShapes shapes are kept. The others,
// and those at too many patterns, count at each pattern by itself.
const (
	maxEffects = 1 << 10
	maxShapes  = 1 << 14
)

// Affect adds a change to which no further notification belongs, and returns the effects that it was added to. If apart,
// it counts at each pattern by itself.
func (t *Table) Affect(by []Share) (of []*Effect, apart bool) {
	slices.SortFunc(by, func(x, y Share) int { return cmp.Compare(x.Pattern.number, y.Pattern.number) })
	n := len(by)
	if n == 1 || n <= client.MostPlaces && len(t.effects) < maxEffects && t.shapes < maxShapes {
		return []*Effect{t.effectAt(by)}, false
	}
	for i := range by {
		of = append(of, t.effectAt(by[i:i+1]))
	}
	return of, true
}

// effectAt adds a change that woke the sessions.
func (t *Table) effectAt(by []Share) *Effect {
	var at []*Pattern
	var numbers []int
	var woken []client.Set
	for _, s := range by {
		at, numbers, woken = append(at, s.Pattern), append(numbers, s.Pattern.number), append(woken, s.Woken)
	}
	k := fmt.Sprint(numbers)
	e := t.effects[k]
	if e == nil {
		e = &Effect{at: at}
		t.effects[k] = e
		for _, p := range at {
			p.effects = append(p.effects, e)
		}
	}
	before := e.fanout.Shapes()
	if e.fanout.Add(woken); len(at) > 1 {
		t.shapes += e.fanout.Shapes() - before
	}
	return e
}

// Rested adds what came of a change when all sessions that it woke were at rest: how many reads they made and how many
// writes failed, and how long that took.
func (e *Effect) Rested(reads, lost int64, settled time.Duration) {
	e.reads, e.lost = e.reads+reads, e.lost+lost
	e.settle.Add(settled)
}

// effectsOf returns the effects at any of the patterns.
func effectsOf(of []*Pattern) map[*Effect]bool {
	all := map[*Effect]bool{}
	for _, p := range of {
		for _, e := range p.effects {
			all[e] = true
		}
	}
	return all
}

// fanoutOf returns how many sessions each change woke at any of the patterns.
func fanoutOf(of ...*Pattern) metrics.Tally {
	fanout := metrics.Tally{}
	for e := range effectsOf(of) {
		places := uint64(0)
		for i, p := range e.at {
			if slices.Contains(of, p) {
				places |= 1 << i
			}
		}
		e.fanout.AddTo(fanout, places)
	}
	return fanout
}

// A Share is the part of a change's notifications that named paths of one pattern.
type Share struct {
	Pattern *Pattern
	Woken   client.Set
}
