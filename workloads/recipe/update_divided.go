package recipe

import (
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// judgeUpdates adds to what the processes found by themselves the updates that were seen before they were
// made.
func judgeUpdates(g divided.Gathered) divided.Findings {
	return divided.Findings{Added: check.JudgeUpdates(g.Steps)}
}

// Judge judges whether clients saw updates before they were made.
func (w *configWorkload) Judge(g divided.Gathered) divided.Findings { return judgeUpdates(g) }

// Judge judges whether clients saw updates before they were made.
func (w *namesWorkload) Judge(g divided.Gathered) divided.Findings { return judgeUpdates(g) }

// Judge finds nothing: each process knows all members.
func (w *groupWorkload) Judge(divided.Gathered) divided.Findings { return divided.Findings{} }

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
