package recipe

import (
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
)

// An exclusiveWorkload is a lock that one client holds at a time. Its clients can be in several
// processes.
type exclusiveWorkload struct{ *lockWorkload }

// Judge replaces the safety, the fairness and the hand-offs, of which each process saw only those among
// its own clients.
func (w exclusiveWorkload) Judge(r *metrics.Record, steps []check.TimedStep, window check.Window) {
	judged := check.JudgeSteps(steps, window)
	r.Safety = judged.Safety
	if r.Fairness != nil {
		r.Fairness.Inversions, r.Fairness.LongestWait = judged.Inversions, judged.LongestWait
	}
	for i, p := range r.Phases {
		if p.Name != w.terms.handoff {
			continue
		}
		handoffs := metrics.NewLatency(p.Name)
		for _, h := range judged.Handoffs {
			handoffs.Record(h, h)
		}
		r.Phases[i] = handoffs.Phase()
		r.Phases[i].Error = judged.Error
	}
}
