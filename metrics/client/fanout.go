package client

import (
	"fmt"

	"github.com/stampede-bench/stampede/metrics"
)

// MostPlaces is how many places a [Fanout] can tell apart.
const MostPlaces = 64

// A Fanout counts changes by the sessions that each woke at some of at most [MostPlaces] places, so that what a
// change woke at several of them is known, too. The zero value is empty.
type Fanout struct{ shapes map[string]*shape }

// A shape is the sessions that changes woke: how many at which places, with a bit for each place.
type shape struct {
	changes int64
	woken   map[uint64]int64
}

// Add adds a change that woke the sessions, a set for each place.
func (f *Fanout) Add(at []Set) {
	bits, woken := map[*Session]uint64{}, map[uint64]int64{}
	for i, s := range at {
		for one := range s.units() {
			bits[one] |= 1 << i
		}
	}
	for _, places := range bits {
		woken[places]++
	}
	k := fmt.Sprint(woken)
	if f.shapes == nil {
		f.shapes = map[string]*shape{}
	}
	if f.shapes[k] == nil {
		f.shapes[k] = &shape{woken: woken}
	}
	f.shapes[k].changes++
}

// Shapes returns how many entries it takes: changes that woke as many sessions at the same places share one.
func (f *Fanout) Shapes() int { return len(f.shapes) }

// AddTo adds to the tally how many sessions each change woke at any of the places whose bits are set.
func (f *Fanout) AddTo(t metrics.Tally, places uint64) {
	for _, s := range f.shapes {
		n := int64(0)
		for at, sessions := range s.woken {
			if at&places != 0 {
				n += sessions
			}
		}
		t[n] += s.changes
	}
}
