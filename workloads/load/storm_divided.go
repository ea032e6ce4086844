package load

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// Judge returns what was wrong after the storms, and how long each lasted: from the moment when the ordinary
// client began it until the last client was back.
func (w *stormWorkload) Judge(g divided.Gathered) divided.Findings {
	w.clients = g.Clients
	w.rounds = workloads.Rounds[stormRound]{Share: w.share, Judge: judgeStorm}
	f := divided.Findings{}
	safety := w.rounds.JudgeSteps(g.Steps, func(q *stormRound, _ check.Client, s check.TimedStep) {
		if s.Kind == check.Decided {
			q.wrong = s.Name
		}
	})
	f.Safety = &safety
	begun, back := map[int64]check.TimedStep{}, map[int64][]check.TimedStep{}
	for _, s := range g.Steps {
		switch {
		case s.Kind == check.Arrived && s.Name == begunPoint:
			begun[s.Turn] = s
		case s.Kind == check.Passed:
			back[s.Turn] = append(back[s.Turn], s)
		}
	}
	for turn, all := range back {
		if t := stormTime(begun[turn], all); len(all) == g.Clients && t.At >= g.Window.Begin && t.At <= g.Window.End {
			f.Times = append(f.Times, t)
		}
	}
	return f
}

// stormTime returns the time from the beginning of a storm until the last client was back.
func stormTime(begun check.TimedStep, back []check.TimedStep) check.Time {
	t := check.Time{Phase: overPhase}
	for _, s := range back {
		t.At, t.Error = max(t.At, s.Middle()), max(t.Error, s.Error()+begun.Error())
	}
	t.Service = max(t.At-begun.Middle(), time.Duration(0))
	t.Response = t.Service
	return t
}

// CountRounds counts the storms that were over.
func (w *stormWorkload) CountRounds(phases []metrics.Phase, _ int) (int64, bool) {
	return phases[1].Service.TotalCount(), true
}
