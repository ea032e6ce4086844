package observe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/client"
)

// An effect adds up the changes that woke sessions at the same path patterns. A transaction or the end of a
// session can do so at many, and the removal of a node at the node and the one above it. A place with several
// of the patterns has one change for all of them.
type effect struct {
	at          []*pattern
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

// affect adds a change to which no further notification belongs.
func (a *Analysis) affect(c *change) {
	slices.SortFunc(c.by, func(x, y share) int { return cmp.Compare(x.pattern.number, y.pattern.number) })
	n := len(c.by)
	if n == 1 || n <= client.MostPlaces && len(a.effects) < maxEffects && a.shapes < maxShapes {
		c.effects = []*effect{a.effectAt(c.by)}
		return
	}
	a.all.beyond.Early++
	for i := range c.by {
		c.effects = append(c.effects, a.effectAt(c.by[i:i+1]))
	}
}

// effectAt adds a change that woke the sessions.
func (a *Analysis) effectAt(by []share) *effect {
	var at []*pattern
	var numbers []int
	var woken []client.Set
	for _, s := range by {
		at, numbers, woken = append(at, s.pattern), append(numbers, s.pattern.number), append(woken, s.woken)
	}
	k := fmt.Sprint(numbers)
	e := a.effects[k]
	if e == nil {
		e = &effect{at: at}
		a.effects[k] = e
		for _, p := range at {
			p.effects = append(p.effects, e)
		}
	}
	before := e.fanout.Shapes()
	if e.fanout.Add(woken); len(at) > 1 {
		a.shapes += e.fanout.Shapes() - before
	}
	return e
}

// effectsOf returns the effects at any of the patterns.
func effectsOf(of []*pattern) map[*effect]bool {
	all := map[*effect]bool{}
	for _, p := range of {
		for _, e := range p.effects {
			all[e] = true
		}
	}
	return all
}

// fanoutOf returns how many sessions each change woke at any of the patterns.
func fanoutOf(of ...*pattern) metrics.Tally {
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
