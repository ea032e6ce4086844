package divided

import (
	"time"

	"github.com/stampede-bench/stampede/workloads/check"
)

// UntilAll returns the times of a phase that begins in each round when a client comes to a point, and ends when the
// last client has passed it: of the rounds whose Decided step has in its Value how many clients are of another
// process than that client.
func UntilAll(g Gathered, point, phase string) (times []check.Time) {
	begun, passed, elsewhere := map[int64]check.TimedStep{}, map[int64][]check.TimedStep{}, map[int64]bool{}
	for _, s := range g.Steps {
		switch {
		case s.Kind == check.Arrived && s.Name == point:
			begun[s.Turn] = s
		case s.Kind == check.Passed:
			passed[s.Turn] = append(passed[s.Turn], s)
		case s.Kind == check.Decided:
			elsewhere[s.Turn] = s.Value > 0
		}
	}
	for turn, all := range passed {
		t := untilLast(begun[turn], all, phase)
		if elsewhere[turn] && len(all) == g.Clients && g.Window.Contains(t.At) {
			times = append(times, t)
		}
	}
	return times
}

// untilLast returns the time from the beginning of a round until the last client has passed.
func untilLast(begun check.TimedStep, passed []check.TimedStep, phase string) check.Time {
	t := check.Time{Phase: phase}
	for _, s := range passed {
		t.At, t.Error = max(t.At, s.Middle()), max(t.Error, s.Error()+begun.Error())
	}
	t.Service = max(t.At-begun.Middle(), time.Duration(0))
	t.Response = t.Service
	return t
}
