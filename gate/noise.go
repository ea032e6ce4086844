package gate

import (
	"fmt"
	"math"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// A Noise tells by which share a figure of two runs that are the same differs on
// this machine, and how that is known; 0 where it is not.
type Noise func(r results.Run, figure string) (share float64, known string)

// Excuse makes inconclusive what is worse than the baseline allows by no more than
// what the machine makes of no difference. It is for figures that depend on the
// machine: a count has no excuse.
func Excuse(gates []results.Gate, runs []results.Run, noise Noise) {
	for i := range gates {
		g := &gates[i]
		if g.Verdict != results.Regression || g.Run < 0 {
			continue
		}
		f, err := figures.Parse(g.Figure, runs[g.Run].Phases)
		if err != nil || !f.Timed || *g.Measured <= 0 || *g.Limit <= 0 {
			continue
		}
		share, known := noise(runs[g.Run], g.Figure)
		if beyond := math.Expm1(math.Abs(math.Log(*g.Measured / *g.Limit))); beyond <= share {
			g.Verdict = results.Inconclusive
			g.Why = fmt.Sprintf("beyond by %s, which may be noise: %s", figures.Figure{Unit: figures.Share}.Format(beyond), known)
		}
	}
}
