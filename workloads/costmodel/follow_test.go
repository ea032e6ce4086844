package costmodel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// This file simulates recipes in which all clients follow a value that one of them
// changes.

// script is one run: the followed value, its version, and the clients that follow it.
type script struct {
	world   *world
	updates int64
	lasting []*simClient // clients with a persistent watch
	version int64        // of the followed value
}

// follower is what one client does. It returns when it has seen the last version.
type follower func(s *script, a *simClient, op func())

// set changes the followed value.
func (s *script) set() {
	s.version++
	s.world.counts.Writes++
	s.world.fire(s.node())
	for _, a := range s.lasting {
		a.waiting = nil
	}
	n := int64(len(s.lasting))
	s.world.counts.Notifications += n
	s.world.largest = max(s.world.largest, n)
}

func (s *script) node() int { return 1 }

// read reads the followed value, with a watch if watched.
func (s *script) read(a *simClient, watched bool) (version int64, w *watch) {
	s.world.counts.Reads++
	if watched {
		s.world.counts.WatchedGets++
		w = s.world.watchNode(a, s.node())
	}
	return s.version, w
}

func followWatch(s *script, a *simClient, op func()) {
	for {
		op()
		version, changed := s.read(a, true)
		if version == s.updates {
			return
		}
		a.await(op, changed)
	}
}

func followPersistent(s *script, a *simClient, op func()) {
	s.lasting = append(s.lasting, a)
	for {
		op()
		version, _ := s.read(a, false)
		if version == s.updates {
			return
		}
		if version == s.version {
			a.waiting = &watch{}
		}
	}
}

func followPoll(s *script, a *simClient, op func()) {
	for {
		op()
		if version, _ := s.read(a, false); version == s.updates {
			return
		}
		a.paused = true
	}
}

func followers() map[string]follower {
	return map[string]follower{
		"config/watch":      followWatch,
		"config/persistent": followPersistent,
		"config/poll":       followPoll,
	}
}

// begin creates n clients; none takes a step yet.
func begin(follow follower, n, updates int64) (*script, []*simClient) {
	w, _ := newWorld(nil, 0)
	s := &script{world: w, updates: updates}
	simClients := make([]*simClient, n)
	for i := range simClients {
		simClients[i] = w.enrol(func(a *simClient, op func()) { follow(s, a, op) })
	}
	return s, simClients
}

// settle has all clients arrive and then makes the updates, one at a time.
func (s *script) settle(simClients []*simClient, polls int64) {
	for i := range simClients {
		rest(simClients[:i+1])
	}
	for range s.updates {
		for range polls - 1 {
			tick(simClients)
		}
		s.set()
		tick(simClients)
	}
}

func TestFollowingSettledEqualsSimulation(t *testing.T) {
	for name, follow := range followers() {
		model := modelOf(t, name)
		for _, n := range []int64{1, 2, 3, 5, 8, 16} {
			for _, u := range []int64{1, 2, 7} {
				for _, q := range []int64{1, 3} {
					p := Params{Clients: n, Updates: u, Polls: q}
					s, simClients := begin(follow, n, u)
					s.settle(simClients, q)
					c := s.world.counts
					got := [...]int64{c.Notifications, c.Reads, c.Writes, c.FailedWrites, s.world.largest}
					if want := model.Settled(p); got != values(want) {
						t.Errorf("%s with %+v: simulated %v, formulas %v", name, p, got, values(want))
					}
					checkIdentities(t, name, model, c, u)
				}
			}
		}
	}
}

// TestFollowingIdentitiesHoldUnderAnySchedule checks that the identities hold even if some clients
// miss a change before the next one.
func TestFollowingIdentitiesHoldUnderAnySchedule(t *testing.T) {
	for name, follow := range followers() {
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 0))
			s, simClients := begin(follow, 7, 20)
			for len(simClients) > 0 {
				i := rng.IntN(len(simClients) + 1)
				if i == len(simClients) {
					if s.version < s.updates {
						s.set()
					}
					continue
				}
				a := simClients[i]
				a.paused = false
				if a.runnable() {
					a.program(a)
				}
				if a.holds {
					simClients = slices.Delete(simClients, i, i+1)
				}
			}
			checkIdentities(t, name, modelOf(t, name), s.world.counts, s.updates)
		}
	}
}

func TestFollowingIdentitiesFail(t *testing.T) {
	oneMore := append(oneMore, func(c *metrics.Counts) { c.WatchedGets++ })
	for name, follow := range followers() {
		s, simClients := begin(follow, 3, 1)
		s.settle(simClients, 1)
		wantFailing(t, name, s.world.counts, s.updates, 0, eachTimes(10, oneMore))
	}
}
