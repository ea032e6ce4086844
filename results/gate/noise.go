package gate

import (
	"fmt"
	"math"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// A Noise returns by which share a figure differs between two runs with the same setting on this
// machine, and where that number comes from. The share is 0 if it is unknown.
type Noise func(r results.Run, figure string) (share float64, known string)

// Excuse makes a regression against the baseline inconclusive if the figure exceeds its limit by no
// more than the noise floor. It applies only to figures that depend on the machine, not to counts.
func Excuse(gates []results.Gate, runs []results.Run, noise Noise) {
	for i := range gates {
		g := &gates[i]
		if g.Verdict != results.Regression || g.Run < 0 {
			continue
		}
		f, err := figure.Parse(g.Figure, runs[g.Run].Phases)
		if err != nil || !f.Timed() || *g.Measured <= 0 || *g.Limit <= 0 {
			continue
		}
		share, known := noise(runs[g.Run], g.Figure)
		if beyond := math.Expm1(math.Abs(math.Log(*g.Measured / *g.Limit))); beyond <= share {
			g.Verdict = results.Inconclusive
			g.Why = fmt.Sprintf("beyond by %s, which may be noise: %s", figure.Figure{Unit: figure.Share}.Format(beyond), known)
		}
	}
}
