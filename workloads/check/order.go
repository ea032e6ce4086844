package check

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A TimedStep is a step with the bounds of its time on a clock that all processes of the run share.
type TimedStep struct {
	Step
	Earliest, Latest time.Duration
}

// Middle is the estimate of the step's time.
func (s TimedStep) Middle() time.Duration { return s.Earliest + (s.Latest-s.Earliest)/2 }

// Error is how far Middle can be wrong.
func (s TimedStep) Error() time.Duration { return (s.Latest - s.Earliest + 1) / 2 }

// A Window is the measured part of a run, on the same clock.
type Window struct{ Begin, End time.Duration }

// Contains reports whether the time is in the window: from its opening until before its end, as in
// metrics.Window.
func (w Window) Contains(t time.Duration) bool { return t >= w.Begin && t < w.End }

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

// InOrder returns the steps in the order of the middles of their times. The steps of one client stay in
// order, also where the estimate of its process's clock goes back between two of them.
func InOrder(steps []TimedStep) []TimedStep {
	times := make([]time.Duration, len(steps))
	latest := map[int]time.Duration{}
	for i, s := range steps {
		times[i] = s.Middle()
		if before, known := latest[s.Client]; known {
			times[i] = max(times[i], before+1) // at one time the announcement would come first
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

// FairnessOf returns how the clients of an instance waited in the window, by their steps.
func FairnessOf(steps []TimedStep, clients int, w Window) metrics.Fairness {
	origin, window := time.Now(), metrics.NewWindow()
	window.Open(origin.Add(w.Begin))
	window.Close(origin.Add(w.End))
	q := metrics.NewQueue(clients, window)
	for _, s := range InOrder(steps) {
		at := origin.Add(s.Middle())
		switch s.Kind {
		case Asked:
			q.Asked(s.Client, at, s.Shared)
		case Taking:
			q.Asked(s.Client, at, false)
		case Granted, Took, Ended:
			q.Granted(s.Client, at)
		case GaveUp:
			q.GaveUp(s.Client, at)
		}
	}
	return q.Fairness(origin.Add(w.End))
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

// A Time is how long something took that began in one process and ended in another.
type Time struct {
	Phase             string
	Service, Response time.Duration
	At                time.Duration // when it ended
	Error             time.Duration // how far it can be wrong, by the error of the clocks
}

// A beginning is a phase of a turn, or of an item.
type beginning struct {
	phase string
	turn  int64
}

// TimesOf returns the times that ended in the window: those of Reached steps from the step Began of their
// phase and turn. In an open loop times of turns that were due in the window may end later.
func TimesOf(steps []TimedStep, w Window, open bool) (all []Time) {
	began := map[beginning]TimedStep{}
	for _, s := range steps {
		if key := (beginning{s.Name, s.Turn}); s.Kind == Began && began[key].Kind == 0 {
			began[key] = s
		}
	}
	for _, s := range steps {
		if s.Kind != Reached {
			continue
		}
		t, due, known := s.reached(began[beginning{s.Name, s.Turn}])
		if known && s.Middle() >= w.Begin && (s.Middle() <= w.End || open && due <= w.End) {
			all = append(all, t)
		}
	}
	return all
}

// reached returns the time since a beginning, and when that was due. It is unknown if the step came before
// it: what the client saw was something else then.
func (s TimedStep) reached(began TimedStep) (t Time, due time.Duration, known bool) {
	took, wrong := s.Middle()-began.Middle(), s.Error()+began.Error()
	if began.Kind == 0 || took < -wrong {
		return t, 0, false
	}
	took = max(took, 0)
	return Time{s.Name, took, took + began.Lag, s.Middle(), wrong}, began.Middle() - began.Lag, true
}
