package recovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A schedule has clients retry after pauses.
type schedule struct {
	clients   int
	rounds    int
	processes int                                           // that the clients are in
	pause     func(round int) time.Duration                 // the mean
	vary      func(*rand.Rand, time.Duration) time.Duration // a pause by its mean
	noise     time.Duration                                 // by which each attempt is late
}

// attempts returns the attempts in the order of their times, and how many sessions each client has.
func (s schedule) attempts(random *rand.Rand) ([]attempt, func(*origin) int) {
	origins := make([]*origin, s.processes)
	for i := range origins {
		origins[i] = &origin{}
	}
	var all []attempt
	for c := range s.clients {
		at := time.Unix(0, 0)
		for r := range s.rounds {
			late := time.Duration(0)
			if s.noise > 0 {
				late = time.Duration(random.Int64N(int64(s.noise)))
			}
			all = append(all, attempt{at: at.Add(late), origin: origins[c%s.processes], server: "s"})
			at = at.Add(s.vary(random, s.pause(r)))
		}
	}
	slices.SortStableFunc(all, func(x, y attempt) int { return x.at.Compare(y.at) })
	per := (s.clients + s.processes - 1) / s.processes
	return all, func(*origin) int { return per }
}

// evenly varies a pause evenly over a range of half of it.
func evenly(random *rand.Rand, mean time.Duration) time.Duration {
	return mean*3/4 + time.Duration(random.Int64N(int64(mean)/2))
}

// wholly varies a pause evenly from nothing to twice of it.
func wholly(random *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(random.Int64N(2 * int64(mean)))
}

func exactly(_ *rand.Rand, mean time.Duration) time.Duration { return mean }

func constant(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// doubling returns pauses that double up to a second and a half.
func doubling(round int) time.Duration { return min(100*ms<<min(round, 10), 1600*ms) }

// TestClientsThatVaryTheirPausesAreNotInStep draws 10,000 schedules of each kind. The bound is one in 1,000, as the
// comment at stepOf derives it; the counts are exact, since the seeds are given.
func TestClientsThatVaryTheirPausesAreNotInStep(t *testing.T) {
	const seeds, bound = 10_000, 10
	for _, c := range []struct {
		name string
		schedule
		wrong int
	}{
		{"two clients", schedule{clients: 2, rounds: 5, processes: 2, pause: constant(time.Second), vary: evenly}, 0},
		{"two clients of a process", schedule{clients: 2, rounds: 5, processes: 1, pause: constant(time.Second), vary: evenly}, 0},
		{"short pauses", schedule{clients: 2, rounds: 5, processes: 2, pause: constant(65 * ms), vary: evenly}, 0},
		{"pauses as short as a slot permits", schedule{clients: 2, rounds: 5, processes: 2, pause: constant(650 * ms), vary: evenly}, 0},
		{"long pauses", schedule{clients: 2, rounds: 5, processes: 2, pause: constant(3300 * ms), vary: evenly}, 0},
		{"three clients", schedule{clients: 3, rounds: 8, processes: 1, pause: constant(time.Second), vary: evenly}, 0},
		{"six clients", schedule{clients: 6, rounds: 8, processes: 1, pause: constant(time.Second), vary: evenly}, 0},
		{"many clients", schedule{clients: 20, rounds: 5, processes: 4, pause: constant(time.Second), vary: evenly}, 0},
		{"growing pauses", schedule{clients: 2, rounds: 7, processes: 2, pause: doubling, vary: evenly}, 0},
		{"growing pauses of six", schedule{clients: 6, rounds: 8, processes: 1, pause: doubling, vary: evenly}, 0},
		{"full jitter", schedule{clients: 4, rounds: 8, processes: 1, pause: constant(time.Second), vary: wholly}, 0},
		{"growing pauses with full jitter", schedule{clients: 6, rounds: 8, processes: 1, pause: doubling, vary: wholly}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wrong := 0
			for seed := range uint64(seeds) {
				if s := stepOf(c.attempts(rand.New(rand.NewPCG(seed, 7)))); s != nil {
					wrong++
				}
			}
			if wrong != c.wrong || wrong > bound {
				t.Errorf("%d of %d schedules are called in step, want %d and at most %d", wrong, seeds, c.wrong, bound)
			}
		})
	}
}

// TestClientsInStepAreFound varies each attempt by some milliseconds.
func TestClientsInStepAreFound(t *testing.T) {
	for _, c := range []schedule{
		{clients: 2, rounds: 5, processes: 2, pause: constant(time.Second), vary: exactly, noise: 15 * ms},
		{clients: 2, rounds: 5, processes: 1, pause: constant(time.Second), vary: exactly, noise: 15 * ms},
		{clients: 6, rounds: 5, processes: 1, pause: constant(500 * ms), vary: exactly, noise: 9 * ms},
		{clients: 6, rounds: 20, processes: 6, pause: constant(200 * ms), vary: exactly, noise: 4 * ms},
		{clients: 64, rounds: 5, processes: 4, pause: constant(4 * time.Second), vary: exactly, noise: 90 * ms},
		{clients: 6, rounds: 8, processes: 2, pause: doubling, vary: exactly, noise: 9 * ms},
	} {
		name := fmt.Sprintf("%d clients after %s", c.clients, c.pause(3))
		for seed := range uint64(1_000) {
			s := stepOf(c.attempts(rand.New(rand.NewPCG(seed, 8))))
			if s == nil || s.Clients != int64(c.clients) || s.Rounds != int64(c.rounds-1) {
				t.Fatalf("%s, seed %d: got %+v, want %d clients and %d rounds", name, seed, s, c.clients, c.rounds-1)
			}
			if c.pause(0) == c.pause(3) && (s.Period-c.pause(0)).Abs() > c.noise {
				t.Fatalf("%s, seed %d: the period is %s", name, seed, s.Period)
			}
		}
	}
}

// TestOneClientIsNotInStepWithItself has one client try two servers one right after the other, again and again.
func TestOneClientIsNotInStepWithItself(t *testing.T) {
	o := &origin{}
	var all []attempt
	for r := range 20 {
		at := time.Unix(int64(r), 0)
		all = append(all, attempt{at: at, origin: o, server: "s1"}, attempt{at: at.Add(ms), origin: o, server: "s2"})
	}
	for _, sessions := range []int{1, 2} {
		if s := stepOf(all, func(*origin) int { return sessions }); s != nil {
			t.Errorf("with %d sessions it is called in step: %+v", sessions, s)
		}
	}
}
