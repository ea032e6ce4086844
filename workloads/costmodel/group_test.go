package costmodel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// This file simulates groups: members join, look whenever they are woken, and leave.

// flock is a group.
type flock struct {
	*world
	look    func(f *flock, a *simClient)
	members []*simClient
	lasting []*simClient // those with a persistent watch on the whole group
}

// join creates the node of a new member, which has not looked yet.
func (f *flock) join() *simClient {
	f.changed(func() { f.next++; f.create(f.next) })
	a := &simClient{world: f.world, mine: f.next}
	f.members = append(f.members, a)
	return a
}

// leave removes the node of a member that has stopped following.
func (f *flock) leave(a *simClient) {
	is := func(other *simClient) bool { return other == a }
	f.members = slices.DeleteFunc(f.members, is)
	f.lasting = slices.DeleteFunc(f.lasting, is)
	f.changed(func() { f.remove(a.mine) })
}

// changed makes a change and notifies the members with a persistent watch.
func (f *flock) changed(change func()) {
	before := f.counts.Notifications
	change()
	f.counts.Notifications += int64(len(f.lasting))
	f.largest = max(f.largest, f.counts.Notifications-before)
}

// watchAll lists the members with a watch, and parks the simClient on it.
func (f *flock) watchAll(a *simClient) {
	f.list()
	a.waiting = &watch{owner: a}
	f.children = append(f.children, a.waiting)
}

// lookRing is one look of a ring's member: two reads, or one read if the member
// knows that it is the first.
func lookRing(f *flock, a *simClient) {
	if a.holds { // it knows that it is the first
		f.watchAll(a)
		return
	}
	line := f.list()
	i := slices.Index(line, a.mine)
	if i == 0 {
		a.holds = true
		f.watchAll(a)
		return
	}
	f.counts.Reads++
	f.counts.WatchedExists++
	a.waiting = f.watchNode(a, line[i-1])
}

func lookAll(f *flock, a *simClient) { f.watchAll(a) }

// lookOnce lists when the member joins, and never again.
func lookOnce(f *flock, a *simClient) {
	f.list()
	a.waiting = &watch{owner: a}
	f.lasting = append(f.lasting, a)
}

func flocks() map[string]func(*flock, *simClient) {
	return map[string]func(*flock, *simClient){
		"group/ring": lookRing, "group/recursive": lookOnce, "group/children-watch": lookAll,
	}
}

func newFlock(look func(*flock, *simClient)) *flock {
	w, _ := newWorld(nil, 0)
	return &flock{world: w, look: look}
}

// rest has every member look that is not parked.
func (f *flock) rest() {
	for _, a := range f.members {
		if a.waiting == nil {
			f.look(f, a)
		}
	}
}

// settle has n members join and then leave, one at a time in the same order.
func (f *flock) settle(n int64) {
	for range n {
		f.join()
		f.rest()
	}
	for len(f.members) > 0 {
		f.leave(f.members[0])
		f.rest()
	}
}

func TestGroupSettledEqualsSimulation(t *testing.T) {
	for name, look := range flocks() {
		model := modelOf(t, name)
		for _, n := range []int64{1, 2, 3, 5, 8, 16} {
			f := newFlock(look)
			f.settle(n)
			got := [...]int64{f.counts.Notifications, f.counts.Reads, f.counts.Writes, f.counts.FailedWrites, f.largest}
			if want := model.Settled(Params{Clients: n}); got != values(want) {
				t.Errorf("%s with %d: simulated %v, formulas %v", name, n, got, values(want))
			}
			checkIdentities(t, name, model, f.counts, 2*n)
		}
	}
}

// TestOneFailureInARing checks that a member that fails in the middle of a ring wakes only
// its neighbor and the first member. A failure at either end wakes one member.
func TestOneFailureInARing(t *testing.T) {
	const n = 8
	for place, want := range map[int][2]int64{0: {1, 2}, 3: {2, 3}, n - 1: {1, 1}} {
		f := newFlock(lookRing)
		for range n {
			f.join()
			f.rest()
		}
		before := f.counts
		gone := f.members[place]
		f.children = slices.DeleteFunc(f.children, func(w *watch) bool { return w.owner == gone }) // its session is lost, and so is its watch
		f.leave(gone)
		f.rest()
		cost := f.counts.Sub(before)
		if got := [2]int64{cost.Notifications, cost.Reads}; got != want {
			t.Errorf("the failure of member %d of %d: %d notifications and reads, want %d", place+1, n, got, want)
		}
	}
}

func TestGroupIdentitiesHoldUnderAnySchedule(t *testing.T) {
	for name, look := range flocks() {
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 0))
			f := newFlock(look)
			for range 200 {
				switch n := len(f.members); {
				case n == 0 || n < 7 && rng.IntN(4) == 0:
					f.join()
				case rng.IntN(4) == 0:
					f.leave(f.members[rng.IntN(n)])
				default:
					if a := f.members[rng.IntN(n)]; a.waiting == nil {
						look(f, a)
					}
				}
			}
			checkIdentities(t, name, modelOf(t, name), f.counts, f.counts.Writes)
		}
	}
}

func TestGroupIdentitiesFail(t *testing.T) {
	for name, look := range flocks() {
		f := newFlock(look)
		f.settle(3)
		wantFailing(t, name, f.counts, 6, 0, eachTimes(30, oneMore))
	}
}
