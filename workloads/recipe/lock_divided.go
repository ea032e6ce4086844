package recipe

import (
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// Judge returns the safety, the fairness and the hand-offs, of which each process saw only those among its
// own clients.
func (w *lockWorkload) Judge(g divided.Gathered) divided.Findings {
	judged := check.JudgeSteps(g.Steps, g.Window)
	f := divided.Findings{Safety: &judged.Safety, Fair: true, Inversions: judged.Inversions, LongestWait: judged.LongestWait}
	for _, h := range judged.Handoffs {
		f.Times = append(f.Times, check.Time{Phase: w.terms.handoff, Service: h, Response: h, Error: judged.Error})
	}
	return f
}

// CountRounds returns false: each round is in one process.
func (w *lockWorkload) CountRounds([]metrics.Phase, int) (int64, bool) { return 0, false }
