package check

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Ordered returns the steps of several processes in an order in which a checker can take them, as if they
// came from one process. A step that announces something is as early as the error of the clocks allows,
// and one that observes something as late. So a checker that finds an observation before its announcement
// finds a fault that no error of the clocks explains. The steps of each kind of one client stay in order.
func Ordered(steps []TimedStep) []TimedStep {
	announced := map[int]time.Duration{} // by client: the earliest announcement of those that follow
	times := make([]time.Duration, len(steps))
	for i, s := range slices.Backward(steps) {
		if !s.Kind.announces() {
			continue
		}
		next, known := announced[s.Client]
		if !known {
			next = math.MaxInt64
		}
		times[i] = min(s.Earliest, next)
		announced[s.Client] = times[i]
	}
	observed := map[int]time.Duration{} // by client: the latest observation so far
	for i, s := range steps {
		if s.Kind.announces() {
			continue
		}
		if before, known := observed[s.Client]; known {
			times[i] = max(s.Latest, before)
		} else {
			times[i] = s.Latest
		}
		observed[s.Client] = times[i]
	}
	return sorted(steps, times)
}

// inOrder sorts the steps by a time, and keeps the order of those of one client.
func inOrder(steps []TimedStep, at func(TimedStep) time.Duration) []TimedStep {
	times := make([]time.Duration, len(steps))
	latest := map[int]time.Duration{}
	for i, s := range steps {
		times[i] = at(s)
		if before, known := latest[s.Client]; known {
			times[i] = max(times[i], before)
		}
		latest[s.Client] = times[i]
	}
	return sorted(steps, times)
}

// sorted returns the steps by their times. Of two at one time, the announcement comes first.
func sorted(steps []TimedStep, times []time.Duration) []TimedStep {
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	observes := func(i int) int {
		if steps[i].Kind.announces() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(observes(a), observes(b)))
	})
	all := make([]TimedStep, len(steps))
	for i, from := range order {
		all[i] = steps[from]
	}
	return all
}

// OfGroup returns the steps of one instance.
func OfGroup(steps []TimedStep, group int) (of []TimedStep) {
	for _, s := range steps {
		if s.Group == group {
			of = append(of, s)
		}
	}
	return of
}

// A Replayed is a client whose steps were recorded by another process.
type Replayed int

// Number returns the client's number in messages, from 1.
func (r Replayed) Number() int { return int(r) + 1 }

// Disturbances returns 0: the steps say when a session was disturbed.
func (r Replayed) Disturbances() int64 { return 0 }
