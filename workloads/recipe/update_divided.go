package recipe

import (
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
)

// judgeUpdates adds to what the processes found by themselves the updates that were seen before they were
// made.
func judgeUpdates(g workloads.Gathered) workloads.Findings {
	return workloads.Findings{Added: check.JudgeUpdates(g.Steps)}
}

// Judge judges whether clients saw updates before they were made.
func (w *configWorkload) Judge(g workloads.Gathered) workloads.Findings { return judgeUpdates(g) }

// Judge judges whether clients saw updates before they were made.
func (w *namesWorkload) Judge(g workloads.Gathered) workloads.Findings { return judgeUpdates(g) }

// Judge finds nothing: each process knows all members.
func (w *groupWorkload) Judge(workloads.Gathered) workloads.Findings { return workloads.Findings{} }

// CountRounds counts the updates.
func (w *configWorkload) CountRounds(phases []metrics.Phase, _ int) (int64, bool) {
	return phases[1].Service.TotalCount(), true
}

// CountRounds counts the updates.
func (w *namesWorkload) CountRounds(phases []metrics.Phase, _ int) (int64, bool) {
	return phases[2].Service.TotalCount(), true
}

// CountRounds counts the changes of membership.
func (w *groupWorkload) CountRounds(phases []metrics.Phase, _ int) (int64, bool) {
	return phases[1].Service.TotalCount(), true
}

// Taker returns the client that makes an update.
func (w *configWorkload) Taker(int64) int { return 0 }

// Taker returns the client that makes an update.
func (w *namesWorkload) Taker(int64) int { return 0 }

// Taker returns the client whose membership changes.
func (w *groupWorkload) Taker(turn int64) int {
	who, _ := w.changes(turn)
	return who
}
