package resulttest

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
)

// JudgePaths judges [Observation] by thresholds on paths, as they are written.
func JudgePaths(t testing.TB, thresholds ...string) ([]results.Gate, results.Verdict) {
	t.Helper()
	var all []gate.PathThreshold
	for _, text := range thresholds {
		one, err := gate.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return gate.JudgePaths(all, Observation())
}
